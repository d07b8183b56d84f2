use rpc::ndr::{Conformant, InterfacePointer, NdrDecode, NdrEncode, Reserved, WideString};
use rpc::orpc::{IUnknown, IUnknownServer};
use wire::{Guid, HResult};

use crate::oaut::bstr::Bstr;
use crate::oaut::variant::Variant;

rpc::interface! {
    /// [MS-OAUT] 1.9: methods and properties by their names. Dual interfaces inherit from it and have methods of their own,
    /// so that clients seldom call these.
    pub orpc interface IDispatch: IUnknown("00020400-0000-0000-c000-000000000046") -> HResult {
        /// [MS-OAUT] 3.1.4.1: whether the object describes its type: 0 or 1.
        3 => GetTypeInfoCount() -> (#[ndr(name = "pctinfo")] count: u32);

        /// [MS-OAUT] 3.1.4.2: the description of the object's type; `index` is 0.
        4 => GetTypeInfo(
            #[ndr(name = "iTInfo")] index: u32, lcid: u32,
        ) -> (#[ndr(name = "ppTInfo")] type_info: Option<Box<InterfacePointer<'stub>>>);

        /// [MS-OAUT] 3.1.4.3: the numbers of a member, which is the first name, and of its arguments. `iid` is null.
        5 => GetIDsOfNames as get_ids_of_names(
            #[ndr(name = "riid")] iid: Guid,
            #[ndr(name = "rgszNames", size_is = count)] names: Conformant<Option<Box<WideString>>>,
            #[ndr(name = "cNames", range = 0..=16384)] count: u32,
            lcid: u32,
        ) -> (#[ndr(name = "rgDispId")] ids: Conformant<i32>);

        /// [MS-OAUT] 3.1.4.4: calls a method, or reads or writes a property. `iid` is null. Arguments by reference stand in
        /// `references`, at the places `indexes` of the arguments.
        6 => Invoke(
            #[ndr(name = "dispIdMember")] member: i32,
            #[ndr(name = "riid")] iid: Guid,
            lcid: u32,
            #[ndr(name = "dwFlags")] flags: u32,
            #[ndr(name = "pDispParams")] params: DispParams<'stub>,
            #[ndr(name = "cVarRef")] count: u32,
            #[ndr(name = "rgVarRefIdx", size_is = count)] indexes: Conformant<u32>,
            #[ndr(name = "rgVarRef", size_is = count)] references: Conformant<Option<Box<Variant<'stub>>>>,
        ) -> (
            #[ndr(name = "pVarResult")] result: Option<Box<Variant<'stub>>>,
            #[ndr(name = "pExcepInfo")] exception: ExcepInfo,
            #[ndr(name = "pArgErr")] wrong_argument: u32,
            #[ndr(name = "rgVarRef")] references: Conformant<Option<Box<Variant<'stub>>>>,
        );
    }
}

/// [MS-OAUT] 2.2.33 `DISPPARAMS`: arguments, the last one first.
#[doc(alias = "DISPPARAMS")]
#[derive(Clone, Debug, PartialEq, Default, NdrEncode, NdrDecode)]
pub struct DispParams<'stub> {
    /// The arguments; named ones come first.
    #[ndr(name = "rgvarg", size_is = count)]
    pub arguments: Option<Box<Conformant<Option<Box<Variant<'stub>>>>>>,
    /// The numbers of the named arguments.
    #[ndr(name = "rgdispidNamedArgs", size_is = named_count)]
    pub names: Option<Box<Conformant<i32>>>,
    #[ndr(name = "cArgs")]
    pub count: u32,
    /// Named arguments among them.
    #[ndr(name = "cNamedArgs")]
    pub named_count: u32,
}

/// [MS-OAUT] 2.2.34 `EXCEPINFO`: what went wrong in the object.
#[doc(alias = "EXCEPINFO")]
#[derive(Clone, Debug, PartialEq, Eq, Default, NdrEncode, NdrDecode)]
pub struct ExcepInfo {
    /// A number of the object's, above 1000; 0 if `scode` is set.
    #[ndr(name = "wCode")]
    pub code: u16,
    #[ndr(name = "wReserved")]
    pub reserved: Reserved<u16>,
    /// The program that has the object.
    #[ndr(name = "bstrSource")]
    pub source: Bstr,
    /// A sentence about it.
    #[ndr(name = "bstrDescription")]
    pub description: Bstr,
    /// A file with help.
    #[ndr(name = "bstrHelpFile")]
    pub help_file: Bstr,
    /// A place in that file.
    #[ndr(name = "dwHelpContext")]
    pub help_context: u32,
    #[ndr(name = "pvReserved")]
    pub reserved_pointer: Reserved<u32>,
    #[ndr(name = "pfnDeferredFillIn")]
    pub fill_in: Reserved<u32>,
    /// The result; 0 if `code` is set, or if nothing went wrong.
    pub scode: HResult,
}
