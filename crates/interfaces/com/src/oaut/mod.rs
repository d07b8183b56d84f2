//! The OLE Automation Protocol [MS-OAUT], as far as interfaces of COM+ and of performance logs use it: strings
//! ([`Bstr`]), values of any type ([`Variant`]), arrays of them ([`SafeArray`]), and the interface that they all inherit
//! from ([`IDispatch`]), and enumerators of collections ([`IEnumVARIANT`]). Client and server, without I/O.
//!
//! ```
//! use com::oaut::{Bstr, Variant, Value};
//! use rpc::ndr::{Reader, Writer};
//!
//! let variant = Variant::new(Value::Bstr(Bstr::new("web1").unwrap())).unwrap();
//! let mut dst = Writer::new();
//! dst.write(&variant).unwrap();
//! let stub = dst.into_stub();
//! let read: Variant<'_> = Reader::new(&stub, "Example").read("variant").unwrap();
//! let Value::Bstr(text) = &read.value else { panic!("it is a BSTR") };
//! assert_eq!(text.text().unwrap().as_deref(), Some("web1"));
//! ```
//!
//! What is read is bounded by the limits of [`rpc::ndr::Limits`]: elements, characters, and pointers behind pointers.
//! Requirements that are not met are in `gaps.toml`.

mod array_parameter;
mod variant;

use rpc::ndr::{Conformant, ConformantVarying, InterfacePointer, NdrDecode, NdrEncode, Reserved, WideString};
use rpc::orpc::{IUnknown, IUnknownServer};
use wire::{EncodeError, EncodeResult, Guid, HResult, Utf16Error};

pub use self::array_parameter::ArrayParameter;
pub use self::variant::{
    Bound, BstrElements, ByteElements, DwordElements, Elements, Features, Hyper, HyperElements,
    InterfaceElements, ObjectElements, SafeArray, Value, VarType, Variant, VariantElements, WordElements,
};

rpc::interface! {
    /// [MS-OAUT] 3.3: a position in a collection of variants.
    pub orpc interface IEnumVARIANT: IUnknown("00020404-0000-0000-c000-000000000046") -> HResult {
        /// [MS-OAUT] 3.3.4.1: the next items; S_FALSE if there are fewer than `requested`, which is not 0.
        3 => Next as next_variants(#[ndr(name = "celt")] requested: u32) -> (
            #[ndr(name = "rgVar", size_is = requested, length_is = count)]
            items: ConformantVarying<Option<Box<Variant<'stub>>>>,
            #[ndr(name = "pCeltFetched")] count: u32,
        );

        /// [MS-OAUT] 3.3.4.2: passes over items; S_FALSE if there were fewer.
        4 => Skip as skip_variants(#[ndr(name = "celt")] count: u32);

        /// [MS-OAUT] 3.3.4.3: back to the first item.
        5 => Reset as reset_variants();

        /// [MS-OAUT] 3.3.4.4: another enumerator at the same position.
        6 => Clone as clone_enumerator() -> (
            #[ndr(name = "ppEnum")] enumerator: Option<Box<InterfacePointer<'stub>>>,
        );
    }
}

/// `VARIANT_BOOL` of [MS-OAUT] 2.2.27.
#[doc(alias = "VARIANT_BOOL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, NdrEncode, NdrDecode)]
pub struct VariantBool(pub u16);

impl VariantBool {
    pub const TRUE: Self = Self(0xffff);
    pub const FALSE: Self = Self(0);

    /// Whether it is true: anything but zero.
    #[must_use]
    pub const fn is_true(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for VariantBool {
    fn from(value: bool) -> Self {
        if value { Self::TRUE } else { Self::FALSE }
    }
}

/// [MS-OAUT] 2.2.24 `CURRENCY`: ten-thousandths.
#[doc(alias = "CURRENCY")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, NdrEncode, NdrDecode)]
pub struct Currency(pub i64);

/// [MS-OAUT] 2.2.25 `DATE`: days since 1899-12-30, in no stated time zone. Before that day the fraction still counts
/// forward, so that -1.25 is 06:00 on 1899-12-29.
#[doc(alias = "DATE")]
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default, NdrEncode, NdrDecode)]
pub struct Date(pub f64);

/// [MS-OAUT] 2.2.26 `DECIMAL`: an integer of 96 bits, divided by a power of ten.
#[doc(alias = "DECIMAL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, NdrEncode, NdrDecode)]
pub struct Decimal {
    #[ndr(name = "wReserved")]
    pub reserved: u16,
    /// The power of ten, at most 28.
    #[ndr(check = is_scale)]
    pub scale: u8,
    /// 0, or 0x80 for a negative number.
    #[ndr(check = is_sign)]
    pub sign: u8,
    /// The high 32 bits of the integer.
    #[ndr(name = "Hi32")]
    pub high: u32,
    /// The low 64 bits of the integer.
    #[ndr(name = "Lo64")]
    pub low: u64,
}

fn is_scale(scale: &u8) -> Result<(), &'static str> {
    if *scale <= 28 { Ok(()) } else { Err("is above 28") }
}

fn is_sign(sign: &u8) -> Result<(), &'static str> {
    if matches!(sign, 0 | 0x80) { Ok(()) } else { Err("is neither 0 nor 0x80") }
}

/// [MS-OAUT] 2.2.23 `BSTR`: a text, or bytes, or nothing.
///
/// Nothing has two forms: a NULL pointer, and a blob of [`Bstr::NULL_BYTES`] bytes. Both are read; [`Bstr::null`] is the
/// second one, which 2.2.23.2 asks for.
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
#[doc(alias = "BSTR")]
pub struct Bstr(pub Option<Box<FlaggedWordBlob>>);

/// `FLAGGED_WORD_BLOB` of [MS-OAUT] 2.2.23.1.
#[derive(Clone, Debug, PartialEq, Eq, NdrEncode, NdrDecode)]
#[doc(alias = "FLAGGED_WORD_BLOB")]
pub struct FlaggedWordBlob {
    /// Bytes of the text or data, or [`Bstr::NULL_BYTES`].
    #[ndr(name = "cBytes")]
    pub bytes: u32,
    #[ndr(name = "clSize")]
    pub count: u32,
    /// UTF-16 code units of a text, without a NUL after it; data have a last byte too many if their number is odd.
    #[ndr(name = "asData", conformant, size_is = elements(bytes, count))]
    pub units: Vec<u16>,
}

/// [MS-OAUT] 2.2.23.1: how many units there are: clSize, if that is half of cBytes, rounded up. Otherwise a number that no
/// array has.
const fn elements(bytes: u32, count: u32) -> u64 {
    let expected = if bytes == Bstr::NULL_BYTES { 0 } else { bytes.div_ceil(2) };
    if count == expected { count as u64 } else { u64::MAX }
}

impl Bstr {
    /// The size of nothing.
    pub const NULL_BYTES: u32 = u32::MAX;

    /// A text.
    ///
    /// # Errors
    /// When it is longer than 32 bits can count in bytes.
    pub fn new(text: &str) -> EncodeResult<Self> {
        let units: Vec<u16> = text.encode_utf16().collect();
        let bytes = units.len().checked_mul(2).and_then(|bytes| u32::try_from(bytes).ok());
        let bytes = bytes.filter(|&bytes| bytes != Self::NULL_BYTES).ok_or(EncodeError::new(
            "FLAGGED_WORD_BLOB",
            "cBytes",
            "is above 32 bits",
        ))?;
        Ok(Self(Some(Box::new(FlaggedWordBlob { bytes, count: bytes / 2, units }))))
    }

    #[must_use]
    pub fn null() -> Self {
        Self(Some(Box::new(FlaggedWordBlob { bytes: Self::NULL_BYTES, count: 0, units: Vec::new() })))
    }

    /// Whether this is nothing, in either form.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.0.as_ref().is_none_or(|blob| blob.bytes == Self::NULL_BYTES)
    }

    /// The text; `None` if this is nothing. Some writers end it with a NUL, which is no part of it.
    ///
    /// # Errors
    /// When it is data and no text.
    pub fn text(&self) -> Result<Option<String>, Utf16Error> {
        let Some(blob) = self.0.as_ref().filter(|blob| blob.bytes != Self::NULL_BYTES) else {
            return Ok(None);
        };
        if blob.bytes % 2 != 0 {
            return Err(Utf16Error::OddLength);
        }
        let end = blob.units.iter().rposition(|&unit| unit != 0).map_or(0, |last| last + 1);
        String::from_utf16(&blob.units[..end]).map(Some).map_err(|_| Utf16Error::LoneSurrogate)
    }
}

impl Default for Bstr {
    fn default() -> Self {
        Self::null()
    }
}

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

        /// [MS-OAUT] 3.1.4.4: calls a method, or reads or writes a property. `iid` is null. Arguments by reference are in
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
