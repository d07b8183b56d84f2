use core::{fmt, slice};

use wire::{Decode, DecodeError, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use crate::pcq::wire::{checked_size, padded, size_field};

/// [MS-PCQ] 2.2.4.9 `_PERF_COUNTER_DATA` and the value that follows it.
///
/// The width is `dwDataSize`, even if the counter's type says otherwise.
#[doc(alias = "PERF_COUNTER_DATA")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawValue<'a> {
    U32(u32),
    U64(u64),
    /// Another width: text, or empty.
    Other(&'a [u8]),
}

/// What a value of four or eight bytes takes with the usual padding.
pub(crate) type NumberSlot = [u8; RawValue::FIXED_PART_SIZE + 8];

impl<'a> RawValue<'a> {
    /// Bytes on the wire before the value.
    pub const FIXED_PART_SIZE: usize = 4 /* dwDataSize */ + 4 /* dwSize */;
    pub(crate) const NAME: &'static str = "PERF_COUNTER_DATA";

    /// The value as a number, where it is one.
    #[must_use]
    pub const fn to_u64(self) -> Option<u64> {
        match self {
            Self::U32(value) => Some(value as u64),
            Self::U64(value) => Some(value),
            Self::Other(_) => None,
        }
    }

    /// What documents call `dwDataSize`.
    #[must_use]
    pub const fn data_size(self) -> usize {
        match self {
            Self::U32(_) => 4,
            Self::U64(_) => 8,
            Self::Other(bytes) => bytes.len(),
        }
    }

    /// Whether there are values of four or eight bytes in all `slots`, with the usual padding.
    #[inline]
    pub(crate) fn are_numbers(slots: &[NumberSlot]) -> bool {
        // Both sizes as one number: of four bytes, and the same with 4 more. What is more than the former is
        // collected without a branch, so that several slots are looked at in one instruction.
        let four_bytes = u64_at_start(&[4, 0, 0, 0, 16, 0, 0, 0]);
        let more = slots.iter().fold(0, |more, slot| more | u64_at_start(slot).wrapping_sub(four_bytes));
        more & !4 == 0
    }

    /// The value in a slot that [`RawValue::are_numbers`] saw.
    #[inline]
    pub(crate) fn from_number(slot: &NumberSlot) -> Self {
        let [data_size, _, _, _, _, _, _, _, value @ ..] = *slot;
        let value = u64::from_le_bytes(value);
        if data_size == 8 { Self::U64(value) } else { Self::U32(low_half(value)) }
    }

    /// Reads a value of four or eight bytes with the usual padding in one piece.
    #[inline]
    fn decode_number(src: &mut ReadCursor<'a>) -> Option<Self> {
        let slot: &NumberSlot = src.remaining().first_chunk()?;
        if !Self::are_numbers(slice::from_ref(slot)) {
            return None;
        }
        src.read_slice(slot.len());
        Some(Self::from_number(slot))
    }

    const fn from_bytes(bytes: &'a [u8]) -> Self {
        match *bytes {
            [a, b, c, d] => Self::U32(u32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => Self::U64(u64::from_le_bytes([a, b, c, d, e, f, g, h])),
            _ => Self::Other(bytes),
        }
    }
}

impl Encode for RawValue<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(size_field(Self::NAME, "dwDataSize", self.data_size())?);
        dst.write_u32(size_field(Self::NAME, "dwSize", self.size())?);
        match *self {
            Self::U32(value) => dst.write_u32(value),
            Self::U64(value) => dst.write_u64(value),
            Self::Other(bytes) => dst.write_slice(bytes),
        }
        dst.write_zeros(self.size() - Self::FIXED_PART_SIZE - self.data_size());
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        padded(Self::FIXED_PART_SIZE + self.data_size())
    }
}

impl<'de> Decode<'de> for RawValue<'de> {
    #[inline]
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        if let Some(value) = Self::decode_number(src) {
            return Ok(value);
        }
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let (start, available) = (src.pos(), src.len());
        let data_size = usize::try_from(src.read_u32()).unwrap_or(usize::MAX);
        let size_at = src.pos();
        let field = (Self::NAME, "dwSize");
        let size = checked_size(field, size_at, src.read_u32(), Self::FIXED_PART_SIZE, available)?;
        let room = src.read_slice(size - Self::FIXED_PART_SIZE);
        match room.get(..data_size) {
            Some(value) => Ok(Self::from_bytes(value)),
            None => {
                Err(DecodeError::not_enough_bytes(Self::NAME, "dwDataSize", start, room.len(), data_size))
            }
        }
    }
}

impl fmt::Display for RawValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::U32(value) => write!(f, "{value}"),
            Self::U64(value) => write!(f, "{value}"),
            Self::Other(bytes) => write!(f, "{} bytes", bytes.len()),
        }
    }
}

fn u64_at_start(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

#[expect(clippy::cast_possible_truncation, reason = "the upper half is padding")]
const fn low_half(value: u64) -> u32 {
    value as u32
}
