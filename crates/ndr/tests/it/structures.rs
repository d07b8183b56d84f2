//! Structures of the shapes that interfaces have, written as an interface crate writes its own.

use ndr::{Conformant, EncodeResult, NdrDecode, NdrEncode, Reader, Result, WideString, Writer};

type Inline<T> = <T as NdrDecode>::Inline;
pub(crate) type Text = Option<Box<WideString>>;

pub(crate) fn text(text: &str) -> Text {
    Some(Box::new(WideString(text.to_owned())))
}

/// Declares a structure whose members are written in the order of declaration.
macro_rules! structure {
    ($name:ident, $idl:literal, align $alignment:literal, min $min:literal, { $($field:ident: $type:ty),* }) => {
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct $name { $(pub(crate) $field: $type),* }

        impl NdrEncode for $name {
            const ALIGNMENT: usize = $alignment;
            fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
                $(dst.inline(&self.$field)?;)*
                Ok(())
            }
            fn encode_deferred(&self, dst: &mut Writer) -> EncodeResult<()> {
                $(dst.deferred(&self.$field)?;)*
                Ok(())
            }
        }

        impl NdrDecode for $name {
            type Inline = ($(Inline<$type>,)*);
            const NAME: &'static str = $idl;
            const ALIGNMENT: usize = $alignment;
            const INLINE_SIZE_MIN: usize = $min;
            fn decode_inline(src: &mut Reader<'_>) -> Result<Self::Inline> {
                Ok(($(src.inline::<$type>(stringify!($field))?,)*))
            }
            fn decode_deferred(($($field,)*): Self::Inline, src: &mut Reader<'_>) -> Result<Self> {
                Ok(Self { $($field: src.deferred(stringify!($field), $field)?),* })
            }
        }
    };
}

structure!(Item, "ITEM", align 4, min 12, { name: Text, kind: u32, remark: Text });
structure!(Container, "CONTAINER", align 4, min 12, { count: u32, buffer: Option<Box<Conformant<Item>>>, next: u32 });
structure!(Mixed, "MIXED", align 8, min 20, { a: u8, b: u16, c: u64, d: u32 });
structure!(Leaf, "LEAF", align 4, min 8, { d: Option<Box<u32>>, v: u32 });
structure!(Tree, "TREE", align 4, min 8, { b: Option<Box<Leaf>>, c: Text });
structure!(Chain, "CHAIN", align 4, min 8, { value: u32, next: Option<Box<Chain>> });

/// [MS-DTYP] 2.4.2.3 `RPC_SID`, a conformant structure: the count of its last member comes first.
#[derive(Debug, PartialEq)]
pub(crate) struct RpcSid {
    pub(crate) revision: u8,
    pub(crate) identifier_authority: [u8; 6],
    pub(crate) sub_authority: Vec<u32>,
}

impl NdrEncode for RpcSid {
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        let count = u8::try_from(self.sub_authority.len()).unwrap();
        dst.u32(count.into());
        dst.bytes(&[self.revision, count]);
        dst.bytes(&self.identifier_authority);
        self.sub_authority.iter().try_for_each(|part| dst.inline(part))
    }
}

impl NdrDecode for RpcSid {
    type Inline = Self;
    const NAME: &'static str = "RPC_SID";
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 12;

    fn decode_inline(src: &mut Reader<'_>) -> Result<Self> {
        let max_count = src.u32("max_count")?;
        let revision = src.read("Revision")?;
        let count: u8 = src.read("SubAuthorityCount")?;
        let mut identifier_authority = [0; 6];
        identifier_authority.copy_from_slice(src.take("IdentifierAuthority", 6)?);
        if max_count != u32::from(count) {
            return Err(src.invalid("SubAuthorityCount is not max_count"));
        }
        let sub_authority = (0..count).map(|_| src.read("SubAuthority")).collect::<Result<_>>()?;
        Ok(Self { revision, identifier_authority, sub_authority })
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'_>) -> Result<Self> {
        Ok(inline)
    }
}
