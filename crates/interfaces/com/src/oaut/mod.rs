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
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod array_parameter;
mod bstr;
mod dispatch;
mod enum_variant;
mod scalar;
mod variant;

pub use self::array_parameter::ArrayParameter;
pub use self::bstr::{Bstr, FlaggedWordBlob};
pub use self::dispatch::{
    DispParams, ExcepInfo, GetIdsOfNamesReply, GetIdsOfNamesRequest, GetTypeInfoCountReply,
    GetTypeInfoCountRequest, GetTypeInfoReply, GetTypeInfoRequest, IDispatch, IDispatchServer, InvokeReply,
    InvokeRequest,
};
pub use self::enum_variant::{
    CloneEnumeratorReply, CloneEnumeratorRequest, IEnumVARIANT, IEnumVARIANTServer, NextVariantsReply,
    NextVariantsRequest, ResetVariantsReply, ResetVariantsRequest, SkipVariantsReply, SkipVariantsRequest,
};
pub use self::scalar::{Currency, Date, Decimal, VariantBool};
pub use self::variant::{
    Bound, BstrElements, ByteElements, DwordElements, Elements, Features, Hyper, HyperElements,
    InterfaceElements, ObjectElements, SafeArray, Value, VarType, Variant, VariantElements, WordElements,
};
