use core::fmt::{self, Write};

/// UTF-16LE text in a borrowed buffer, without its NUL.
///
/// Text that is no UTF-16 shows replacement characters: an instance name is not worth losing its host's values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct WideStr<'a> {
    // INVARIANT: an even number of bytes, no NUL among the code units.
    bytes: &'a [u8],
}

impl<'a> WideStr<'a> {
    /// The text at the beginning of `bytes` that ends before a NUL. What follows the NUL is not looked at.
    #[must_use]
    pub fn until_nul(bytes: &'a [u8]) -> Option<Self> {
        // Four units at a time; names that end are padded to that.
        let (chunks, rest) = bytes.as_chunks::<8>();
        for (index, chunk) in chunks.iter().enumerate() {
            if let Some(units) = nul_in(u64::from_le_bytes(*chunk)) {
                return Some(Self { bytes: &bytes[..index * 8 + units * 2] });
            }
        }
        let units = rest.chunks_exact(2).position(|unit| unit == [0, 0])?;
        Some(Self { bytes: &bytes[..chunks.len() * 8 + units * 2] })
    }

    /// The text at the beginning of `bytes` that ends before a NUL, or all of them where there is none.
    #[must_use]
    pub fn until_nul_or_end(bytes: &'a [u8]) -> Self {
        Self::until_nul(bytes).unwrap_or(Self { bytes: &bytes[..bytes.len() / 2 * 2] })
    }

    /// The bytes as they are on the wire: what to compare and to hash.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    pub fn chars(self) -> impl Iterator<Item = char> + 'a {
        let units = self.bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

impl PartialEq<str> for WideStr<'_> {
    fn eq(&self, other: &str) -> bool {
        self.chars().eq(other.chars())
    }
}

impl fmt::Display for WideStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|character| f.write_char(character))
    }
}

impl fmt::Debug for WideStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// How many of four units come before the first one that is zero.
fn nul_in(units: u64) -> Option<usize> {
    const ONES: u64 = 0x0001_0001_0001_0001;
    // A unit borrows from its highest bit where it is zero; those above it may do so, too, for its sake.
    let borrowed = units.wrapping_sub(ONES) & !units & ONES << 15;
    let bits = usize::try_from(borrowed.trailing_zeros()).unwrap_or(usize::MAX);
    (borrowed != 0).then_some(bits / 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_before_its_first_nul_wherever_that_is() {
        for length in 0..10_u16 {
            for end in 0..length {
                let unit = |at: u16| if at == end || at > end + 1 { 0 } else { 0x8000 >> (at % 16) };
                let bytes: Vec<u8> = (0..length).map(unit).flat_map(u16::to_le_bytes).collect();
                let expected = &bytes[..usize::from(end) * 2];
                assert_eq!(WideStr::until_nul(&bytes).map(WideStr::as_bytes), Some(expected), "{bytes:?}");
                assert_eq!(WideStr::until_nul(expected), None);
            }
        }
    }
}
