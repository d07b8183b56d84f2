//! Counters whose value is a text (`PERF_COUNTER_TEXT`).

use counters::pcq::wire::RawValue;

/// The bytes of a text, whatever its width: a short one is as wide as a number.
pub(crate) enum TextBytes<'a> {
    Dword([u8; 4]),
    Large([u8; 8]),
    /// As many as there are.
    Variable(&'a [u8]),
}

impl<'a> TextBytes<'a> {
    /// The bytes of this value.
    pub(crate) const fn of(value: &RawValue<'a>) -> Self {
        match *value {
            RawValue::U32(value) => Self::Dword(value.to_le_bytes()),
            RawValue::U64(value) => Self::Large(value.to_le_bytes()),
            RawValue::Other(bytes) => Self::Variable(bytes),
        }
    }

    pub(crate) const fn as_slice(&self) -> &[u8] {
        match self {
            Self::Dword(bytes) => bytes,
            Self::Large(bytes) => bytes,
            Self::Variable(bytes) => bytes,
        }
    }
}

/// UTF-16LE up to a NUL or the end; what is no UTF-16 shows replacement characters.
pub(crate) fn decode(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    char::decode_utf16(units.take_while(|unit| *unit != 0))
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_as_short_as_a_number_is_a_text() {
        let value = RawValue::U32(u32::from_le_bytes(*b"o\0k\0"));
        assert_eq!(decode(TextBytes::of(&value).as_slice()), "ok");
    }

    #[test]
    fn a_text_ends_at_its_nul_and_survives_what_is_no_text() {
        assert_eq!(decode(b"a\0\0\0b\0"), "a");
        assert_eq!(decode(b"\x00\xd8a\0z"), "\u{fffd}a");
    }
}
