//! Structures of the shapes that interfaces have, written as an interface crate writes its own.

use ndr::{Conformant, NdrDecode, NdrEncode, WideString};

pub(crate) type Text = Option<Box<WideString>>;

pub(crate) fn text(text: &str) -> Text {
    Some(Box::new(WideString(text.to_owned())))
}

/// Declares a structure with its name in the IDL.
macro_rules! structures {
    ($($name:ident = $idl:literal { $($field:ident: $type:ty),* })*) => {$(
        #[doc(alias = $idl)]
        #[derive(Clone, Debug, PartialEq, NdrDecode, NdrEncode)]
        pub(crate) struct $name { $(pub(crate) $field: $type),* }
    )*};
}

structures! {
    Item = "ITEM" { name: Text, kind: u32, remark: Text }
    Container = "CONTAINER" { count: u32, buffer: Option<Box<Conformant<Item>>>, next: u32 }
    Mixed = "MIXED" { a: u8, b: u16, c: u64, d: u32 }
    Leaf = "LEAF" { d: Option<Box<u32>>, v: u32 }
    Tree = "TREE" { b: Option<Box<Leaf>>, c: Text }
    Chain = "CHAIN" { value: u32, next: Option<Box<Chain>> }
}

/// [MS-DTYP] 2.4.2.3 `RPC_SID`, a conformant structure: the count of its last member comes first.
#[doc(alias = "RPC_SID")]
#[derive(Debug, PartialEq, NdrDecode, NdrEncode)]
pub(crate) struct RpcSid {
    pub(crate) revision: u8,
    pub(crate) sub_authority_count: u8,
    pub(crate) identifier_authority: [u8; 6],
    #[ndr(name = "SubAuthority", conformant, size_is = sub_authority_count)]
    pub(crate) sub_authority: Vec<u32>,
}
