use core::fmt;
use core::str::FromStr;

use crate::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

/// [MS-DTYP] 2.3.4 `GUID`, also written UUID.
///
/// The first three fields are little-endian on the wire, the last eight bytes are as they are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[doc(alias = "UUID")]
pub struct Guid {
    /// Bytes 0 to 3.
    pub data1: u32,
    /// Bytes 4 and 5.
    pub data2: u16,
    /// Bytes 6 and 7.
    pub data3: u16,
    /// Bytes 8 to 15.
    pub data4: [u8; 8],
}

impl Guid {
    pub const NULL: Self = Self::from_u128(0);
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* Data1 */ + 2 /* Data2 */ + 2 /* Data3 */ + 8 /* Data4 */;
    const NAME: &'static str = "GUID";

    /// The GUID whose text form, read as one hexadecimal number, is `value`.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "each part is cut out of the number by its shift")]
    pub const fn from_u128(value: u128) -> Self {
        Self {
            data1: (value >> 96) as u32,
            data2: (value >> 80) as u16,
            data3: (value >> 64) as u16,
            data4: (value as u64).to_be_bytes(),
        }
    }

    /// The number that [`Guid::from_u128`] takes.
    #[must_use]
    pub const fn to_u128(self) -> u128 {
        (self.data1 as u128) << 96
            | (self.data2 as u128) << 80
            | (self.data3 as u128) << 64
            | u64::from_be_bytes(self.data4) as u128
    }

    /// The bytes as they go on the wire.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        let a = self.data1.to_le_bytes();
        let b = self.data2.to_le_bytes();
        let c = self.data3.to_le_bytes();
        let d = self.data4;
        [a[0], a[1], a[2], a[3], b[0], b[1], c[0], c[1], d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]]
    }

    /// From the bytes as they come from the wire.
    #[must_use]
    pub const fn from_bytes(b: [u8; 16]) -> Self {
        Self {
            data1: u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            data2: u16::from_le_bytes([b[4], b[5]]),
            data3: u16::from_le_bytes([b[6], b[7]]),
            data4: [b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]],
        }
    }
}

impl Encode for Guid {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_slice(&self.to_bytes());
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for Guid {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self::from_bytes(src.read_array()))
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tail = u64::from_be_bytes(self.data4);
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            self.data1,
            self.data2,
            self.data3,
            tail >> 48,
            tail & 0xffff_ffff_ffff
        )
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that is no GUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a GUID is 32 hexadecimal digits in groups of 8-4-4-4-12, with or without braces")]
pub struct ParseGuidError;

impl FromStr for Guid {
    type Err = ParseGuidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bare = match text.strip_prefix('{') {
            Some(rest) => rest.strip_suffix('}').ok_or(ParseGuidError)?,
            None => text,
        };
        let bytes = bare.as_bytes();
        if bytes.len() != 36 {
            return Err(ParseGuidError);
        }
        let mut value = 0_u128;
        for (index, &byte) in bytes.iter().enumerate() {
            if matches!(index, 8 | 13 | 18 | 23) {
                if byte != b'-' {
                    return Err(ParseGuidError);
                }
            } else {
                let digit = char::from(byte).to_digit(16).ok_or(ParseGuidError)?;
                value = value << 4 | u128::from(digit);
            }
        }
        Ok(Self::from_u128(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The bytes are those of the EnumerateCounterSet answer that impacket decoded to this text.
    #[test]
    fn the_wire_form_is_mixed_endian() {
        let guid: Guid = "b4fc721a-0378-476f-89ba-a5a79f810b36".parse().unwrap();
        let wire =
            [0x1a, 0x72, 0xfc, 0xb4, 0x78, 0x03, 0x6f, 0x47, 0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36];
        assert_eq!(guid.to_bytes(), wire);
        assert_eq!(crate::decode::<Guid>(&wire), Ok(guid));
        assert_eq!(guid.to_string(), "b4fc721a-0378-476f-89ba-a5a79f810b36");
        assert_eq!(Guid::from_u128(guid.to_u128()), guid);
    }

    #[test]
    fn braces_are_taken_in_pairs_only() {
        assert!("{b4fc721a-0378-476f-89ba-a5a79f810b36}".parse::<Guid>().is_ok());
        assert_eq!("{b4fc721a-0378-476f-89ba-a5a79f810b36".parse::<Guid>(), Err(ParseGuidError));
        assert_eq!("b4fc721a-0378-476f-89ba-a5a79f810b3g".parse::<Guid>(), Err(ParseGuidError));
    }
}
