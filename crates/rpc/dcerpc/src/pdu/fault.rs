use core::fmt;

use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use crate::{ContextId, FaultStatus};

/// C706 12.6.4.7 `rpcconn_fault_hdr_t`, without the common header
///
/// A call failed. Extended error information may follow ([MS-RPCE] 2.2.2.9); it is not read.
#[doc(alias = "rpcconn_fault_hdr_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Stub data that follows; no more than a hint.
    pub alloc_hint: u32,
    /// The call's presentation context.
    pub context_id: ContextId,
    /// Cancels that the server received.
    pub cancel_count: u8,
    pub status: FaultStatus,
}

impl Fault {
    const FIXED_PART_SIZE: usize = 4 /* alloc_hint */
        + 2 /* p_cont_id */
        + 1 /* cancel_count */
        + 1 /* reserved */
        + 4 /* status */
        + 4 /* reserved2 */;
    const NAME: &'static str = "rpcconn_fault_hdr_t";
}

impl Encode for Fault {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.alloc_hint);
        dst.write_u16(self.context_id);
        dst.write_u8(self.cancel_count);
        dst.write_u8(0);
        dst.write_u32(self.status.0);
        dst.write_u32(0);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for Fault {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        let alloc_hint = src.read_u32();
        let context_id = src.read_u16();
        let cancel_count = src.read_u8();
        src.read_u8();
        let status = FaultStatus(src.read_u32());
        src.read_u32();
        Ok(Self { alloc_hint, context_id, cancel_count, status })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.status, f)
    }
}
