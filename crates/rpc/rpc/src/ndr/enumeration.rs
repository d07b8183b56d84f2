//! Enumerations, which are open: a value without a name is kept.

use wire::EncodeResult;

use crate::ndr::{EnumForm, NdrDecode, NdrEncode, Reader, Result, Writer};

/// [MS-RPCE] 2.2.2.13.1: the beginning of a verification trailer.
const TRAILER: [u8; 8] = [0x8a, 0xe3, 0x13, 0x71, 0x02, 0xf4, 0x36, 0x71];

/// An enum without `[v1_enum]` that is the last parameter of a request, or comes before a parameter that is aligned to four.
///
/// At a multiple of four both forms begin with the same two bytes, and the padding after the short one is the high half of
/// the long one. Elsewhere, which only the last parameter of a request may be, [`EnumForm::Either`] writes the value twice:
/// first where the short form stands and the long one has padding, then as the long form, which readers of the short one
/// take for something after the stub. A reader takes it for the short form if nothing follows it but a trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Enum(pub u16);

impl<'stub> NdrDecode<'stub> for Enum {
    type Inline = Self;
    const ALIGNMENT: usize = 2;
    const INLINE_SIZE_MIN: usize = 2;

    fn decode_inline(src: &mut Reader<'stub>) -> Result<Self> {
        if is_long(src) {
            src.align(4)?;
            let [first, second, ..]: [u8; 4] = src.take_array()?;
            Ok(Self(u16::from_le_bytes([first, second])))
        } else {
            u16::decode_inline(src).map(Self)
        }
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'stub>) -> Result<Self> {
        Ok(inline)
    }
}

/// Whether the next enum has the long form. At a multiple of four it does not matter.
fn is_long(src: &Reader<'_>) -> bool {
    match src.enums() {
        EnumForm::Short => false,
        EnumForm::Long => true,
        EnumForm::Either => {
            let behind = src.remaining().get(2..).unwrap_or_default();
            !src.pos().is_multiple_of(4) && behind.len() >= 4 && !behind.starts_with(&TRAILER)
        }
    }
}

impl NdrEncode for Enum {
    type Deferred = ();
    const ALIGNMENT: usize = 2;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        let form = dst.enums();
        if form == EnumForm::Short || form == EnumForm::Either && !dst.pos().is_multiple_of(4) {
            dst.bytes(&self.0.to_le_bytes());
        }
        if form != EnumForm::Short {
            dst.u32(self.0.into());
        }
        Ok(())
    }

    fn encode_deferred(&self, (): (), _dst: &mut Writer) -> EncodeResult<()> {
        Ok(())
    }
}
