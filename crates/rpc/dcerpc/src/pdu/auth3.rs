use wire::{Decode, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

/// [MS-RPCE] 2.2.2.5 `rpcconn_rpc_auth_3_hdr_t`, without the common header
///
/// The last leg of an authentication with an odd number of them. It has no answer.
#[doc(alias = "rpcconn_auth3_hdr_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auth3;

impl Auth3 {
    const FIXED_PART_SIZE: usize = 4 /* pad */;
    const NAME: &'static str = "rpcconn_rpc_auth_3_hdr_t";
}

impl Encode for Auth3 {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_zeros(Self::FIXED_PART_SIZE);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for Auth3 {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        src.read_slice(Self::FIXED_PART_SIZE);
        Ok(Self)
    }
}
