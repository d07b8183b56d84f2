use core::fmt;

/// UTF-16 that is none: an odd number of bytes, or a lone surrogate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Utf16Error {
    /// The bytes are not a whole number of code units.
    OddLength,
    /// A surrogate without its partner.
    LoneSurrogate,
}

impl fmt::Display for Utf16Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OddLength => "text has an odd number of bytes",
            Self::LoneSurrogate => "text has a lone surrogate",
        })
    }
}

impl std::error::Error for Utf16Error {}

/// Reads UTF-16LE text; a NUL is a character like others.
///
/// # Errors
/// Where the bytes are no UTF-16.
pub fn decode_utf16(bytes: &[u8]) -> Result<String, Utf16Error> {
    if !bytes.len().is_multiple_of(2) {
        return Err(Utf16Error::OddLength);
    }
    // Nearly all names are ASCII, so one byte of text for two on the wire is the right guess.
    let mut text = String::with_capacity(bytes.len() / 2);
    let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    for character in char::decode_utf16(units) {
        text.push(character.map_err(|_| Utf16Error::LoneSurrogate)?);
    }
    Ok(text)
}

/// Writes `text` as UTF-16LE, without a terminator.
#[must_use]
pub fn encode_utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// How many bytes [`encode_utf16`] makes of `text`.
#[must_use]
pub fn utf16_len_bytes(text: &str) -> usize {
    text.encode_utf16().count() * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_no_utf16_is_refused_with_its_reason() {
        assert_eq!(decode_utf16(b"a"), Err(Utf16Error::OddLength));
        assert_eq!(decode_utf16(b"\x00\xd8a\0"), Err(Utf16Error::LoneSurrogate));
    }

    #[test]
    fn characters_beyond_the_first_plane_take_two_units() {
        let text = "Größe \u{1f5a5}";
        assert_eq!(utf16_len_bytes(text), encode_utf16(text).len());
        assert_eq!(decode_utf16(&encode_utf16(text)).as_deref(), Ok(text));
    }
}
