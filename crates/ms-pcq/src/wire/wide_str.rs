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
        let units = bytes.chunks_exact(2).position(|unit| unit == [0, 0])?;
        Some(Self { bytes: &bytes[..units * 2] })
    }

    /// The bytes as they are on the wire: what to compare and to hash.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// The characters.
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
