use rpc::ndr::{NdrDecode, NdrEncode, Reader, Result, Writer};
use wire::EncodeResult;

/// A member of no size with the alignment of a `hyper`, 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Hyper;

impl<'stub> NdrDecode<'stub> for Hyper {
    type Inline = Self;
    const ALIGNMENT: usize = 8;
    const INLINE_SIZE_MIN: usize = 0;

    fn decode_inline(_src: &mut Reader<'stub>) -> Result<Self> {
        Ok(Self)
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

impl NdrEncode for Hyper {
    type Deferred = ();
    const ALIGNMENT: usize = 8;

    fn encode_inline(&self, _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}
