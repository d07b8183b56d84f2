//! [MS-OAUT] 2.2.29: VARIANT, and 2.2.30: SAFEARRAY.

mod safe_array;

use rpc::ndr::{
    EncodeError, InterfacePointer, NdrDecode, NdrEncode, Reader, Reserved, Result, Union, Writer,
};
use wire::{EncodeResult, HResult, open_enum};

pub use self::safe_array::{
    Bound, BstrElements, ByteElements, DwordElements, Elements, Features, HyperElements, InterfaceElements,
    ObjectElements, SafeArray, VariantElements, WordElements,
};

use super::{Bstr, Currency, Date, Decimal, VariantBool};

open_enum! {
    /// [MS-OAUT] 2.2.7 `VARENUM`: the type of a value, perhaps with flags.
    #[derive(NdrDecode, NdrEncode)]
    pub struct VarType(u16) {
        VT_EMPTY = 0x0000,
        /// A value that is nothing.
        VT_NULL = 0x0001,
        /// It has 16 bits, signed.
        VT_I2 = 0x0002,
        /// It has 32 bits, signed.
        VT_I4 = 0x0003,
        /// A binary fraction of 32 bits.
        VT_R4 = 0x0004,
        /// A binary fraction of 64 bits.
        VT_R8 = 0x0005,
        VT_CY = 0x0006,
        VT_DATE = 0x0007,
        VT_BSTR = 0x0008,
        /// An object with [`IDispatch`](crate::oaut::IDispatch).
        VT_DISPATCH = 0x0009,
        VT_ERROR = 0x000a,
        VT_BOOL = 0x000b,
        /// A variant; in variants only by reference.
        VT_VARIANT = 0x000c,
        VT_UNKNOWN = 0x000d,
        VT_DECIMAL = 0x000e,
        /// It has 8 bits, signed.
        VT_I1 = 0x0010,
        /// It has 8 bits.
        VT_UI1 = 0x0011,
        /// It has 16 bits.
        VT_UI2 = 0x0012,
        /// It has 32 bits.
        VT_UI4 = 0x0013,
        /// It has 64 bits, signed.
        VT_I8 = 0x0014,
        /// It has 64 bits.
        VT_UI8 = 0x0015,
        /// It has 32 bits, signed.
        VT_INT = 0x0016,
        /// It has 32 bits.
        VT_UINT = 0x0017,
        /// The flag of arrays.
        VT_ARRAY = 0x2000,
        /// The flag of values behind a pointer.
        VT_BYREF = 0x4000,
    }
}

impl VarType {
    /// The type with the flag of arrays.
    #[must_use]
    pub const fn array(self) -> Self {
        Self(self.0 | Self::VT_ARRAY.0)
    }

    /// The type with the flag of values behind a pointer.
    #[must_use]
    pub const fn by_ref(self) -> Self {
        Self(self.0 | Self::VT_BYREF.0)
    }

    /// [MS-OAUT] 2.2.29.1: what selects the arm of the union. Of arrays it says nothing of their elements.
    const fn tag(self) -> u32 {
        let flags = self.0 & (Self::VT_ARRAY.0 | Self::VT_BYREF.0);
        let tag = if self.0 & Self::VT_ARRAY.0 == 0 { self.0 } else { flags };
        tag as u32
    }
}

/// [MS-OAUT] 2.2.29.1 `_wireVARIANT`: a value and its type. A parameter or an element is a pointer to one:
/// `Option<Box<Variant>>`.
#[doc(alias = "_wireVARIANT")]
#[derive(Clone, Debug, PartialEq, NdrEncode, NdrDecode)]
pub struct Variant<'stub> {
    /// Nothing: the alignment of the largest value, which variants with smaller ones have, too.
    pub alignment: Hyper,
    /// Units of 8 bytes that the variant takes, with what its pointers point to. Readers ignore it, since some writers
    /// send constants.
    #[ndr(name = "clSize")]
    pub size: u32,
    #[ndr(name = "rpcReserved")]
    pub reserved: Reserved<u32>,
    pub vt: VarType,
    #[ndr(name = "wReserved1")]
    pub reserved1: Reserved<u16>,
    #[ndr(name = "wReserved2")]
    pub reserved2: Reserved<u16>,
    #[ndr(name = "wReserved3")]
    pub reserved3: Reserved<u16>,
    #[ndr(name = "_varUnion", switch_is = vt.tag())]
    pub value: Value<'stub>,
}

impl<'stub> Variant<'stub> {
    /// A variant with this value, and with the type that follows from it.
    ///
    /// # Errors
    /// When the value cannot be written, or is an array: [`Variant::of_array`].
    pub fn new(value: Value<'stub>) -> EncodeResult<Self> {
        let unsuited = EncodeError::new("_wireVARIANT", "vt", "an array needs the type of its elements");
        let vt = value.tag().and_then(|tag| u16::try_from(tag).ok()).map(VarType);
        match vt {
            Some(vt) if vt.0 & VarType::VT_ARRAY.0 == 0 => Self::with_type(vt, value),
            _ => Err(unsuited),
        }
    }

    /// A variant with an array whose elements have this type.
    ///
    /// # Errors
    /// When the value is no array, or cannot be written.
    pub fn of_array(element: VarType, value: Value<'stub>) -> EncodeResult<Self> {
        let flags = value.tag().and_then(|tag| u16::try_from(tag).ok()).unwrap_or(0);
        Self::with_type(VarType(element.0 | flags), value)
    }

    fn with_type(vt: VarType, value: Value<'stub>) -> EncodeResult<Self> {
        let [reserved1, reserved2, reserved3] = [Reserved::NEW; 3];
        let mut variant = Self {
            alignment: Hyper,
            size: 0,
            reserved: Reserved::NEW,
            vt,
            reserved1,
            reserved2,
            reserved3,
            value,
        };
        let mut dst = Writer::new();
        dst.write(&variant)?;
        let units = dst.into_stub().len().div_ceil(8);
        variant.size = u32::try_from(units)
            .map_err(|_| EncodeError::new("_wireVARIANT", "clSize", "is above 32 bits"))?;
        Ok(variant)
    }

    #[must_use]
    pub const fn empty() -> Self {
        Self {
            alignment: Hyper,
            size: 3,
            reserved: Reserved::NEW,
            vt: VarType::VT_EMPTY,
            reserved1: Reserved::NEW,
            reserved2: Reserved::NEW,
            reserved3: Reserved::NEW,
            value: Value::Empty,
        }
    }
}

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
