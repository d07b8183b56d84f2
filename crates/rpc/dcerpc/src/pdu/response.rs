use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use crate::ContextId;

/// C706 12.6.4.10 `rpcconn_response_hdr_t`, without the common header and the stub data
///
/// One fragment of an answer.
#[doc(alias = "rpcconn_response_hdr_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// Stub data from here to the end of the answer; no more than a hint.
    pub alloc_hint: u32,
    /// The call's presentation context.
    pub context_id: ContextId,
    /// Cancels that the server received.
    pub cancel_count: u8,
}

impl Response {
    const FIXED_PART_SIZE: usize =
        4 /* alloc_hint */ + 2 /* p_cont_id */ + 1 /* cancel_count */ + 1 /* reserved */;
    const NAME: &'static str = "rpcconn_response_hdr_t";
}

impl Encode for Response {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.alloc_hint);
        dst.write_u16(self.context_id);
        dst.write_u8(self.cancel_count);
        dst.write_u8(0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for Response {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let alloc_hint = src.read_u32();
        let context_id = src.read_u16();
        let cancel_count = src.read_u8();
        src.read_u8();
        Ok(Self { alloc_hint, context_id, cancel_count })
    }
}
