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
mod bstr;
mod dispatch;
mod variant;

pub use self::array_parameter::ArrayParameter;
pub use self::bstr::{Bstr, FlaggedWordBlob};
pub use self::dispatch::{
    DispParams, ExcepInfo, GetIdsOfNamesReply, GetIdsOfNamesRequest, GetTypeInfoCountReply,
    GetTypeInfoCountRequest, GetTypeInfoReply, GetTypeInfoRequest, IDispatch, IDispatchServer, InvokeReply,
    InvokeRequest,
};
pub use self::variant::{
    Bound, BstrElements, ByteElements, DwordElements, Elements, Features, Hyper, HyperElements,
    InterfaceElements, ObjectElements, SafeArray, Value, VarType, Variant, VariantElements, WordElements,
};
use rpc::ndr::{ConformantVarying, InterfacePointer, NdrDecode, NdrEncode};
use rpc::orpc::{IUnknown, IUnknownServer};
use wire::HResult;

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
