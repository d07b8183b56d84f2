use core::fmt;

use wire::{Decode, DecodeError, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use crate::pcq::types::CounterId;
use crate::pcq::wire::{Padding, padded, size_field};

/// [MS-PCQ] 2.2.4.11 `_PERF_MULTI_COUNTERS` and the ids that follow it: which counters the values are of, in
/// their order.
///
/// The document and perflib.h leave open whether an odd number of ids is padded to 8 and whether `dwSize` counts the
/// padding. What follows begins where `dwSize` says, or after padding that it does not count:
/// [`Layout`](crate::pcq::wire::Layout) decides. What is written here counts the padding.
#[doc(alias = "PERF_MULTI_COUNTERS")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MultiCounters<'a> {
    // INVARIANT: a whole number of ids.
    ids: &'a [u8],
}

impl<'a> MultiCounters<'a> {
    /// Bytes on the wire before the ids.
    pub const FIXED_PART_SIZE: usize = 4 /* dwSize */ + 4 /* dwCounters */;
    pub(crate) const NAME: &'static str = "PERF_MULTI_COUNTERS";
    const ID_SIZE: usize = 4;

    /// How many counters there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.ids.len() / Self::ID_SIZE
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.ids.is_empty()
    }

    /// The ids, in the order of the values.
    pub fn ids(self) -> impl ExactSizeIterator<Item = CounterId> + Clone + 'a {
        let id = |bytes: &[u8]| CounterId(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        self.ids.chunks_exact(Self::ID_SIZE).map(id)
    }

    /// Writes the structure for `ids` with as much of the padding as `padding` says, and of which bytes.
    pub(crate) fn encode_ids(
        ids: &[CounterId],
        (padding, padding_byte): (Padding, u8),
        dst: &mut WriteCursor<'_>,
    ) -> EncodeResult<()> {
        let exact = Self::FIXED_PART_SIZE + ids.len() * Self::ID_SIZE;
        let size = if padding == Padding::Counted { padded(exact) } else { exact };
        dst.write_u32(size_field(Self::NAME, "dwSize", size)?);
        dst.write_u32(size_field(Self::NAME, "dwCounters", ids.len())?);
        ids.iter().for_each(|id| dst.write_u32(id.0));
        if padding != Padding::None {
            (exact..padded(exact)).for_each(|_| dst.write_u8(padding_byte));
        }
        Ok(())
    }
}

impl Encode for MultiCounters<'_> {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(size_field(Self::NAME, "dwSize", self.size())?);
        dst.write_u32(size_field(Self::NAME, "dwCounters", self.len())?);
        dst.write_slice(self.ids);
        dst.write_zeros(self.size() - Self::FIXED_PART_SIZE - self.ids.len());
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        padded(Self::FIXED_PART_SIZE + self.ids.len())
    }
}

impl<'de> Decode<'de> for MultiCounters<'de> {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let (start, available) = (src.pos(), src.len());
        let size = usize::try_from(src.read_u32()).unwrap_or(usize::MAX);
        let count = usize::try_from(src.read_u32()).unwrap_or(usize::MAX);
        if size < Self::FIXED_PART_SIZE {
            let reason = "is smaller than the structure";
            return Err(DecodeError::invalid_field(Self::NAME, "dwSize", start, reason));
        }
        if size > available {
            return Err(DecodeError::not_enough_bytes(Self::NAME, "dwSize", start, available, size));
        }
        let ids_size = count.saturating_mul(Self::ID_SIZE);
        let room = size - Self::FIXED_PART_SIZE;
        if ids_size > room {
            return Err(DecodeError::not_enough_bytes(Self::NAME, "dwCounters", start + 4, room, ids_size));
        }
        let ids = &src.read_slice(room)[..ids_size];
        Ok(Self { ids })
    }
}

impl fmt::Display for MultiCounters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} counters", self.len())
    }
}
