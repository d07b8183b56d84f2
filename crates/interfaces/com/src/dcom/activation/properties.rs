//! The structures of [MS-DCOM] 2.2.22.2.

use rpc::ndr::{Conformant, InterfacePointer, NdrDecode, NdrEncode, Reserved, WideString};
use rpc::orpc::ComVersion;
use wire::{Guid, HResult};

use crate::dcom::types::{Oxid, ProtocolSequence};
use crate::dcom::wire::DualStringArray;

/// `MAX_REQUESTED_INTERFACES` of [MS-DCOM] 2.2.28.1.
const INTERFACES_MAX: u32 = 0x8000;

/// [MS-DCOM] 2.2.22.2.1 `InstantiationInfoData`: the class, and the interfaces that are wanted.
#[doc(alias = "InstantiationInfoData")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct InstantiationInfo {
    #[ndr(name = "classId")]
    pub class: Guid,
    /// Where objects may be; a server does not look at it.
    #[ndr(name = "classCtx")]
    pub class_context: u32,
    /// How the program is started.
    #[ndr(name = "actvflags")]
    pub flags: u32,
    #[ndr(name = "fIsSurrogate")]
    pub is_surrogate: Reserved<i32>,
    /// How many interfaces are wanted.
    #[ndr(name = "cIID", range = 1..=INTERFACES_MAX)]
    pub count: u32,
    #[ndr(name = "instFlag")]
    pub instance_flag: Reserved<u32>,
    #[ndr(name = "pIID", size_is = count, check = is_there)]
    pub interfaces: Option<Box<Conformant<Guid>>>,
    /// Bytes of this structure, pickled; a server does not look at it.
    #[ndr(name = "thisSize")]
    pub size: u32,
    /// The version of the client; a server does not look at it.
    #[ndr(name = "clientCOMVersion")]
    pub version: ComVersion,
}

/// [MS-DCOM] 2.2.22.2.2 `SpecialPropertiesData`: what both of its definitions have in common.
#[doc(alias = "SpecialPropertiesData")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct SpecialProperties {
    /// The session that the program is to run in; all bits for any.
    #[ndr(name = "dwSessionId")]
    pub session: u32,
    /// Whether the session is not any.
    #[ndr(name = "fRemoteThisSessionId")]
    pub is_this_session: i32,
    /// Whether the client acts for another; a server does not look at it.
    #[ndr(name = "fClientImpersonating")]
    pub is_impersonating: i32,
    /// Whether `partition` says something.
    #[ndr(name = "fPartitionIDPresent")]
    pub has_partition: i32,
    /// The client's authentication level; a server does not look at it.
    #[ndr(name = "dwDefaultAuthnLvl")]
    pub authn_level: u32,
    /// The COM+ partition of the class.
    #[ndr(name = "guidPartition")]
    pub partition: Guid,
    #[ndr(name = "dwPRTFlags")]
    pub prt_flags: Reserved<u32>,
    /// What the client's caller wanted; a server does not look at it.
    #[ndr(name = "dwOrigClsctx")]
    pub original_class_context: u32,
    /// Bit 0: the session is that of the console.
    #[ndr(name = "dwFlags")]
    pub flags: u32,
}

/// [`SpecialProperties`] as current clients write it. Older ones have other members after the first, which mean nothing.
#[derive(Debug, NdrEncode)]
pub(super) struct WholeSpecialProperties {
    pub(super) properties: SpecialProperties,
    pub(super) reserved1: Reserved<u32>,
    pub(super) reserved2: Reserved<u64>,
    pub(super) reserved3: Reserved<[u32; 5]>,
}

/// `ScmRequestInfoData` of [MS-DCOM] 2.2.22.2.4.
#[doc(alias = "ScmRequestInfoData")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct ScmRequestInfo {
    #[ndr(name = "pdwReserved")]
    pub reserved: Reserved<Option<Box<u32>>>,
    /// The protocols of the client.
    #[ndr(name = "remoteRequest", check = is_there)]
    pub request: Option<Box<ScmRequest>>,
}

/// [MS-DCOM] 2.2.22.2.4.1 `customREMOTE_REQUEST_SCM_INFO`: the protocols of the client.
#[doc(alias = "customREMOTE_REQUEST_SCM_INFO")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct ScmRequest {
    /// How far the server may act for the client; a server does not look at it.
    #[ndr(name = "ClientImpLevel")]
    pub impersonation_level: u32,
    /// How many protocols there are.
    #[ndr(name = "cRequestedProtseqs", check = is_count_of_protocols)]
    pub count: u16,
    #[ndr(name = "pRequestedProtseqs", size_is = count)]
    pub protocols: Option<Box<Conformant<ProtocolSequence>>>,
}

/// [MS-DCOM] 2.2.22.2.5 `ActivationContextInfoData`: the contexts of the client, as objects.
#[doc(alias = "ActivationContextInfoData")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct ActivationContextInfo<'stub> {
    #[ndr(name = "clientOK")]
    pub client_ok: Reserved<i32>,
    #[ndr(name = "bReserved1")]
    pub reserved: Reserved<i32>,
    #[ndr(name = "dwReserved1")]
    pub reserved1: Reserved<u32>,
    #[ndr(name = "dwReserved2")]
    pub reserved2: Reserved<u32>,
    #[ndr(name = "pIFDClientCtx")]
    pub client: Option<Box<InterfacePointer<'stub>>>,
    /// A [`Context`](crate::dcom::wire::Context) that the new object's is made of.
    #[ndr(name = "pIFDPrototypeCtx")]
    pub prototype: Option<Box<InterfacePointer<'stub>>>,
}

/// [MS-DCOM] 2.2.22.2.6 `LocationInfoData`: has to be there, and means nothing.
#[doc(alias = "LocationInfoData")]
#[derive(Clone, Debug, PartialEq, Eq, Default, NdrDecode, NdrEncode)]
pub struct LocationInfo {
    #[ndr(name = "machineName")]
    pub machine_name: Reserved<Option<Box<WideString>>>,
    #[ndr(name = "processId")]
    pub process: Reserved<u32>,
    #[ndr(name = "apartmentId")]
    pub apartment: Reserved<u32>,
    #[ndr(name = "contextId")]
    pub context: Reserved<u32>,
}

/// [MS-DCOM] 2.2.22.2.7 `SecurityInfoData`: sent by Windows, and not looked at.
#[doc(alias = "SecurityInfoData")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct SecurityInfo {
    #[ndr(name = "dwAuthnFlags")]
    pub flags: Reserved<u32>,
    /// The server that the client calls.
    #[ndr(name = "pServerInfo")]
    pub server: Option<Box<CoServerInfo>>,
    #[ndr(name = "pdwReserved")]
    pub reserved: Reserved<Option<Box<u32>>>,
}

/// `COSERVERINFO` of [MS-DCOM] 2.2.22.2.7.1.
#[doc(alias = "COSERVERINFO")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct CoServerInfo {
    #[ndr(name = "dwReserved1")]
    pub reserved1: Reserved<u32>,
    /// The name of the server.
    #[ndr(name = "pwszName")]
    pub name: Option<Box<WideString>>,
    #[ndr(name = "pdwReserved")]
    pub reserved: Reserved<Option<Box<u32>>>,
    #[ndr(name = "dwReserved2")]
    pub reserved2: Reserved<u32>,
}

/// `ScmReplyInfoData` of [MS-DCOM] 2.2.22.2.8.
#[doc(alias = "ScmReplyInfoData")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct ScmReplyInfo {
    #[ndr(name = "pdwReserved")]
    pub reserved: Reserved<Option<Box<u32>>>,
    /// Where the program is that has the object.
    #[ndr(name = "remoteReply", check = is_there)]
    pub reply: Option<Box<ScmReply>>,
}

/// [MS-DCOM] 2.2.22.2.8.1 `customREMOTE_REPLY_SCM_INFO`: where the program is that has the object.
#[doc(alias = "customREMOTE_REPLY_SCM_INFO")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct ScmReply {
    #[ndr(name = "Oxid")]
    pub oxid: Oxid,
    #[ndr(name = "pdsaOxidBindings", check = is_there)]
    pub bindings: Option<Box<DualStringArray>>,
    #[ndr(name = "ipidRemUnknown")]
    pub ipid_rem_unknown: Guid,
    /// The least authentication level that it takes calls at.
    #[ndr(name = "authnHint")]
    pub authn_hint: u32,
    #[ndr(name = "serverVersion")]
    pub version: ComVersion,
}

/// [MS-DCOM] 2.2.22.2.9 `PropsOutInfo`: the interfaces of the object, or why there are none.
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct PropsOutInfo<'stub> {
    /// How many interfaces were wanted.
    #[ndr(name = "cIfs", range = 1..=INTERFACES_MAX)]
    pub count: u32,
    #[ndr(name = "piid", size_is = count, check = is_there)]
    pub interfaces: Option<Box<Conformant<Guid>>>,
    /// Whether the object has them.
    #[ndr(name = "phresults", size_is = count, check = is_there)]
    pub results: Option<Box<Conformant<HResult>>>,
    #[ndr(name = "ppIntfData", size_is = count, check = is_there)]
    pub pointers: Option<Box<Pointers<'stub>>>,
}

/// An array of objects.
pub type Pointers<'stub> = Conformant<Option<Box<InterfacePointer<'stub>>>>;

fn is_there<T>(pointer: &Option<T>) -> Result<(), &'static str> {
    if pointer.is_some() { Ok(()) } else { Err("is NULL") }
}

/// `MAX_REQUESTED_PROTSEQS` of [MS-DCOM] 2.2.28.1.
fn is_count_of_protocols(count: &u16) -> Result<(), &'static str> {
    if *count <= 0x8000 { Ok(()) } else { Err("is above 32768") }
}
