use std::borrow::Cow;

use crate::ndr::{NdrDecode, NdrEncode};

/// [MS-DCOM] 2.2.14 `MInterfacePointer`: an OBJREF, which names an object on another host, as opaque bytes.
///
/// What is decoded borrows the bytes from the stub.
#[doc(alias = "MInterfacePointer")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct InterfacePointer<'stub> {
    /// Bytes of the OBJREF.
    #[ndr(name = "ulCntData")]
    pub size: u32,
    /// The OBJREF, [MS-DCOM] 2.2.18.
    #[ndr(name = "abData", conformant, size_is = size)]
    pub data: Cow<'stub, [u8]>,
}
