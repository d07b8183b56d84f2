//! The words of the protocol that appear in several places.

use rpc::ndr::{NdrDecode, NdrEncode};
use wire::{Guid, HResult, open_enum};

/// Names of 64 bits.
macro_rules! names {
    ($($(#[$meta:meta])* $name:ident,)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, NdrDecode, NdrEncode)]
        pub struct $name(pub u64);
    )*};
}

names! {
    /// [MS-DCOM] 2.2.10 `OXID`: what a resolver calls an object exporter, a program that has objects.
    Oxid,
    /// [MS-DCOM] 2.2.1 `OID`: what a resolver calls an object.
    Oid,
    /// [MS-DCOM] 2.2.2 `SETID`: what a resolver calls a set of objects that are pinged as one. Zero is none.
    SetId,
}

open_enum! {
    /// [C706] appendix I: how an RPC server is reached.
    #[derive(NdrDecode, NdrEncode)]
    pub struct ProtocolSequence(u16) {
        TCP = 0x07,
        UDP = 0x08,
        NAMED_PIPE = 0x0f,
        /// Calls within one host: `ncalrpc`.
        LOCAL = 0x10,
        /// RPC over HTTP: `ncacn_http`.
        HTTP = 0x1f,
    }
}

open_enum! {
    /// [MS-RPCE] 2.2.1.1.7: a security provider.
    pub struct AuthenticationService(u16) {
        GSS_NEGOTIATE = 9,
        WINNT = 10,
        GSS_SCHANNEL = 14,
        GSS_KERBEROS = 16,
        NETLOGON = 68,
    }
}

open_enum! {
    /// [MS-DCOM] 2.2.18.2: what a reference to an object asks of its holder.
    #[derive(NdrDecode, NdrEncode)]
    pub struct ReferenceFlags(u32) {
        NONE = 0,
        /// Do not ping the object.
        SORF_NOPING = 0x1000,
    }
}

/// [MS-DCOM] 2.2.18.1 `STDOBJREF`: an interface of an object, and references to it that the receiver has to give back.
#[doc(alias = "STDOBJREF")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, NdrDecode, NdrEncode)]
pub struct StdObjref {
    /// Whether the object wants to be pinged.
    pub flags: ReferenceFlags,
    /// The references that come with it.
    #[ndr(name = "cPublicRefs")]
    pub public_refs: u32,
    /// The program that has the object.
    pub oxid: Oxid,
    pub oid: Oid,
    /// The interface of the object.
    pub ipid: Guid,
}

impl StdObjref {
    /// Whether the object dies if nobody pings it.
    #[must_use]
    pub const fn wants_pings(&self) -> bool {
        self.flags.0 & ReferenceFlags::SORF_NOPING.0 == 0
    }
}

/// [MS-DCOM] 2.2.23 `REMINTERFACEREF`: references to an interface that are asked for or given back.
#[doc(alias = "REMINTERFACEREF")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct RemInterfaceRef {
    /// The interface of the object.
    pub ipid: Guid,
    /// References that may be passed on.
    #[ndr(name = "cPublicRefs")]
    pub public_refs: u32,
    /// References of this client alone, for which it has to prove who it is.
    #[ndr(name = "cPrivateRefs")]
    pub private_refs: u32,
}

/// [MS-DCOM] 2.2.24 `REMQIRESULT`: a further interface of an object, or why there is none.
#[doc(alias = "REMQIRESULT")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct RemQiResult {
    /// Whether the object has the interface.
    #[ndr(name = "hResult")]
    pub result: HResult,
    /// The interface; means nothing if there is none.
    pub std: StdObjref,
}

impl RemQiResult {
    /// The interface.
    ///
    /// # Errors
    /// Why there is none.
    pub fn interface(self) -> Result<StdObjref, HResult> {
        if self.result.is_success() { Ok(self.std) } else { Err(self.result) }
    }
}

/// `00000000-0000-0000-C000-000000000046` with another first part.
const fn ole(first: u32) -> Guid {
    Guid { data1: first, ..Guid::from_u128(0xc000_0000_0000_0046) }
}

/// [MS-DCOM] 1.9: the formats of activation properties.
pub mod property {
    use wire::Guid;

    use super::ole;

    pub const LOCATION_INFO: Guid = ole(0x1a4);
    pub const ACTIVATION_CONTEXT_INFO: Guid = ole(0x1a5);
    pub const SECURITY_INFO: Guid = ole(0x1a6);
    pub const SCM_REQUEST_INFO: Guid = ole(0x1aa);
    pub const INSTANTIATION_INFO: Guid = ole(0x1ab);
    pub const INSTANCE_INFO: Guid = ole(0x1ad);
    pub const SCM_REPLY_INFO: Guid = ole(0x1b6);
    pub const SPECIAL_SYSTEM_PROPERTIES: Guid = ole(0x1b9);
    pub const PROPS_OUT_INFO: Guid = ole(0x339);
}

/// The marshaler of the properties of a request: `CLSID_ActivationPropertiesIn`.
pub const CLSID_ACTIVATION_PROPERTIES_IN: Guid = ole(0x338);
/// The interface that the properties of a request say they are of: `IID_IActivationPropertiesIn`.
pub const IID_ACTIVATION_PROPERTIES_IN: Guid = ole(0x1a2);
/// The marshaler of the properties of a reply: `CLSID_ActivationPropertiesOut`.
pub const CLSID_ACTIVATION_PROPERTIES_OUT: Guid = ole(0x339);
/// The interface that the properties of a reply say they are of: `IID_IActivationPropertiesOut`.
pub const IID_ACTIVATION_PROPERTIES_OUT: Guid = ole(0x1a3);
/// The marshaler of contexts: `CLSID_ContextMarshaler`.
pub const CLSID_CONTEXT_MARSHALER: Guid = ole(0x33b);
/// The interface that a context says it is of: `IID_IContext`.
pub const IID_CONTEXT: Guid = ole(0x1c0);
/// The extent with properties of a context: `CLSID_CONTEXT_EXTENSION`.
pub const CONTEXT_EXTENSION: Guid = ole(0x334);
/// The extent with error information: `CLSID_ERROR_EXTENSION`.
pub const ERROR_EXTENSION: Guid = ole(0x31c);
/// The marshaler of error information: `CLSID_ErrorObject`.
pub const CLSID_ERROR_OBJECT: Guid = ole(0x31b);
