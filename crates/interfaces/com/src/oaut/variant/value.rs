use rpc::ndr::{InterfacePointer, NdrDecode, NdrEncode};
use wire::HResult;

use super::Variant;
use super::safe_array::SafeArray;
use crate::oaut::bstr::Bstr;
use crate::oaut::{Currency, Date, Decimal, VariantBool};

/// An object, or none.
type Object<'stub> = Option<Box<InterfacePointer<'stub>>>;

/// [MS-OAUT] 2.2.6 `PSAFEARRAY`: a pointer to a pointer to an array.
type Array<'stub> = Option<Box<Option<Box<SafeArray<'stub>>>>>;

/// [MS-OAUT] 2.2.29.1 `_varUnion`: the value of a [`Variant`]. What ends in `Ref` comes after a pointer (VT_BYREF), and
/// is `None` behind a NULL pointer. User-defined types (VT_RECORD) are refused.
#[derive(Clone, Debug, PartialEq, NdrEncode, NdrDecode)]
#[ndr(name = "_varUnion", switch = u32)]
pub enum Value<'stub> {
    #[ndr(case = 0x0000)]
    Empty,
    #[ndr(case = 0x0001)]
    Null,
    #[ndr(case = 0x0002)]
    I2(i16),
    #[ndr(case = 0x0003)]
    I4(i32),
    #[ndr(case = 0x0004)]
    R4(f32),
    #[ndr(case = 0x0005)]
    R8(f64),
    #[ndr(case = 0x0006)]
    Currency(Currency),
    #[ndr(case = 0x0007)]
    Date(Date),
    #[ndr(case = 0x0008)]
    Bstr(Bstr),
    #[ndr(case = 0x0009)]
    Dispatch(Object<'stub>),
    #[ndr(case = 0x000a)]
    Error(HResult),
    #[ndr(case = 0x000b)]
    Bool(VariantBool),
    #[ndr(case = 0x000d)]
    Unknown(Object<'stub>),
    #[ndr(case = 0x000e)]
    Decimal(Decimal),
    #[ndr(case = 0x0010)]
    I1(i8),
    #[ndr(case = 0x0011)]
    Ui1(u8),
    #[ndr(case = 0x0012)]
    Ui2(u16),
    #[ndr(case = 0x0013)]
    Ui4(u32),
    #[ndr(case = 0x0014)]
    I8(i64),
    #[ndr(case = 0x0015)]
    Ui8(u64),
    #[ndr(case = 0x0016)]
    Int(i32),
    #[ndr(case = 0x0017)]
    Uint(u32),
    #[ndr(case = 0x2000)]
    Array(Array<'stub>),
    #[ndr(case = 0x4002)]
    I2Ref(Option<Box<i16>>),
    #[ndr(case = 0x4003)]
    I4Ref(Option<Box<i32>>),
    #[ndr(case = 0x4004)]
    R4Ref(Option<Box<f32>>),
    #[ndr(case = 0x4005)]
    R8Ref(Option<Box<f64>>),
    #[ndr(case = 0x4006)]
    CurrencyRef(Option<Box<Currency>>),
    #[ndr(case = 0x4007)]
    DateRef(Option<Box<Date>>),
    #[ndr(case = 0x4008)]
    BstrRef(Option<Box<Bstr>>),
    #[ndr(case = 0x4009)]
    DispatchRef(Option<Box<Object<'stub>>>),
    #[ndr(case = 0x400a)]
    ErrorRef(Option<Box<HResult>>),
    #[ndr(case = 0x400b)]
    BoolRef(Option<Box<VariantBool>>),
    #[ndr(case = 0x400c)]
    VariantRef(Option<Box<Option<Box<Variant<'stub>>>>>),
    #[ndr(case = 0x400d)]
    UnknownRef(Option<Box<Object<'stub>>>),
    #[ndr(case = 0x400e)]
    DecimalRef(Option<Box<Decimal>>),
    #[ndr(case = 0x4010)]
    I1Ref(Option<Box<i8>>),
    #[ndr(case = 0x4011)]
    Ui1Ref(Option<Box<u8>>),
    #[ndr(case = 0x4012)]
    Ui2Ref(Option<Box<u16>>),
    #[ndr(case = 0x4013)]
    Ui4Ref(Option<Box<u32>>),
    #[ndr(case = 0x4014)]
    I8Ref(Option<Box<i64>>),
    #[ndr(case = 0x4015)]
    Ui8Ref(Option<Box<u64>>),
    #[ndr(case = 0x4016)]
    IntRef(Option<Box<i32>>),
    #[ndr(case = 0x4017)]
    UintRef(Option<Box<u32>>),
    #[ndr(case = 0x6000)]
    ArrayRef(Option<Box<Array<'stub>>>),
}
