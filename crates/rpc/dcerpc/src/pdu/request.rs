use core::fmt;

use wire::{DecodeResult, Encode, EncodeResult, Guid, ReadCursor, WriteCursor, ensure_size};

use super::PfcFlags;
use crate::ContextId;

/// C706 12.6.4.9 `rpcconn_request_hdr_t`, without the common header and the stub data
///
/// One fragment of a call.
#[doc(alias = "rpcconn_request_hdr_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Stub data from here to the end of the call; no more than a hint.
    pub alloc_hint: u32,
    pub context_id: ContextId,
    pub opnum: u16,
    /// The object, where the header's flags say that there is one.
    pub object: Option<Guid>,
}

impl Request {
    const FIXED_PART_SIZE: usize = 4 /* alloc_hint */ + 2 /* p_cont_id */ + 2 /* opnum */;
    const NAME: &'static str = "rpcconn_request_hdr_t";

    /// The flag of the common header that says whether there is an object.
    #[must_use]
    pub const fn flags(&self) -> PfcFlags {
        if self.object.is_some() { PfcFlags::OBJECT_UUID } else { PfcFlags(0) }
    }

    /// Reads the fragment's own header; the flags are those of the common header.
    ///
    /// # Errors
    /// When bytes are missing.
    pub fn decode(src: &mut ReadCursor<'_>, flags: PfcFlags) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let alloc_hint = src.read_u32();
        let context_id = src.read_u16();
        let opnum = src.read_u16();
        let object = if flags.contains(PfcFlags::OBJECT_UUID) {
            ensure_size!(in: src, name: Self::NAME, field: "object", size: Guid::FIXED_PART_SIZE);
            Some(Guid::from_bytes(src.read_array()))
        } else {
            None
        };
        Ok(Self { alloc_hint, context_id, opnum, object })
    }
}

impl Encode for Request {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.alloc_hint);
        dst.write_u16(self.context_id);
        dst.write_u16(self.opnum);
        self.object.iter().try_for_each(|object| object.encode(dst))
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE + self.object.map_or(0, |_| Guid::FIXED_PART_SIZE)
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation {} on context {}", self.opnum, self.context_id)
    }
}
