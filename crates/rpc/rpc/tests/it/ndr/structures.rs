//! Structures of the shapes that interfaces have, written as an interface crate writes its own.

use rpc::ndr::{Conformant, NdrDecode, NdrEncode, Ref, WideString};

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

/// A member with a union after a number that is not its tag.
#[derive(Clone, Debug, PartialEq, NdrDecode, NdrEncode)]
pub(crate) struct Holder {
    pub(crate) kind: u16,
    pub(crate) info: Info,
    pub(crate) after: u16,
}

#[derive(Clone, Debug, PartialEq, NdrDecode, NdrEncode)]
#[ndr(name = "INFO", switch = u32)]
pub(crate) enum Info {
    #[ndr(case = 1)]
    Number(u64),
    #[ndr(case = 2)]
    Name(Text),
    #[ndr(case = 3)]
    Small(u16),
    #[ndr(case = 4)]
    Nothing,
}

/// The same, for any tag.
#[derive(Clone, Debug, PartialEq, NdrDecode, NdrEncode)]
#[ndr(name = "INFO", switch = u16)]
pub(crate) enum OpenInfo {
    #[ndr(case = 1)]
    Number(u64),
    #[ndr(default)]
    Other(u16),
}

/// [MS-LSAD] 2.2.4.2 `LSAPR_POLICY_INFORMATION`, one of its arms.
#[derive(Clone, Debug, PartialEq, NdrDecode, NdrEncode)]
#[ndr(name = "LSAPR_POLICY_INFORMATION", switch = u16)]
pub(crate) enum PolicyInformation {
    #[ndr(case = 10)]
    AuditFullSet(u8),
}

/// What is beside the union says which arm it has.
#[derive(Clone, Debug, PartialEq, NdrDecode, NdrEncode)]
#[ndr(name = "SWITCHED", check = is_used)]
pub(crate) struct Switched {
    pub(crate) level: u16,
    #[ndr(switch_is = level)]
    pub(crate) info: OpenInfo,
    #[ndr(range = 1..=9)]
    pub(crate) uses: u32,
    #[ndr(name = "Data", size_is = uses * 2)]
    pub(crate) data: Option<Box<Conformant<u8>>>,
}

fn is_used(switched: &Switched) -> Result<(), &'static str> {
    if switched.level == 7 { Err("level 7 is reserved") } else { Ok(()) }
}

/// `DUALSTRINGARRAY` of [MS-DCOM] 2.2.19.1.
#[doc(alias = "DUALSTRINGARRAY")]
#[derive(Clone, Debug, PartialEq, NdrDecode, NdrEncode)]
pub(crate) struct DualStringArray {
    pub(crate) num_entries: u16,
    pub(crate) security_offset: u16,
    #[ndr(conformant, size_is = num_entries)]
    pub(crate) array: Vec<u16>,
}

/// Its count is at 4, its members at 8.
#[derive(Clone, Debug, PartialEq, NdrDecode, NdrEncode)]
pub(crate) struct WideList {
    pub(crate) first: u64,
    pub(crate) small: u8,
    #[ndr(conformant)]
    pub(crate) items: Vec<Item>,
}

structures! {
    Pickled = "PICKLED" { a: u32, name: Text, h: u64 }
    Pointers = "POINTERS" { first: Ref<Item>, second: u32, third: Ref<WideString> }
}
