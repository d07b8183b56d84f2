use wire::{EncodeResult, Guid};

use crate::ndr::{NdrDecode, NdrEncode, Reader, Result, Writer};

/// C706 14.4 `ndr_context_handle`: what a server's state is called on the wire.
///
/// A client treats it as opaque. It is valid on the association group that it came from, and ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[doc(alias = "ndr_context_handle")]
pub struct ContextHandle {
    /// Reserved; zero on all handles seen.
    pub attributes: u32,
    /// The server's name for its state.
    pub uuid: Guid,
}

impl ContextHandle {
    /// No state: returned if nothing was opened, and after closing.
    pub const NULL: Self = Self { attributes: 0, uuid: Guid::NULL };
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* context_handle_attributes */ + Guid::FIXED_PART_SIZE;

    /// Whether this is [`ContextHandle::NULL`].
    #[must_use]
    pub fn is_null(self) -> bool {
        self == Self::NULL
    }
}

impl<'stub> NdrDecode<'stub> for ContextHandle {
    type Inline = Self;
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = Self::FIXED_PART_SIZE;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
        Ok(Self { attributes: u32::decode_inline(src)?, uuid: Guid::decode_inline(src)? })
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

impl NdrEncode for ContextHandle {
    type Deferred = ();
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.u32(self.attributes);
        dst.inline(&self.uuid)
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}
