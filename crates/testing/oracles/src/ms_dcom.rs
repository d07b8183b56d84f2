//! Laws of `com::dcom`.

use com::dcom::activation::{Activation, ActivationProperties, ActivationRequest, ObjectExporter};
use com::dcom::activator::{
    RemoteCreateInstanceReply, RemoteCreateInstanceRequest, RemoteGetClassObjectReply,
    RemoteGetClassObjectRequest,
};
use com::dcom::remote_unknown::{
    RemAddRefReply, RemAddRefRequest, RemQueryInterface2Reply, RemQueryInterface2Request,
    RemQueryInterfaceReply, RemQueryInterfaceRequest, RemReleaseReply, RemReleaseRequest,
};
use com::dcom::resolver::{
    ComplexPingReply, ComplexPingRequest, ResolveOxid2Reply, ResolveOxid2Request, ResolveOxidReply,
    ResolveOxidRequest, ServerAlive2Reply, ServerAlive2Request, ServerAliveReply, ServerAliveRequest,
    SimplePingReply, SimplePingRequest,
};
use com::dcom::types::{
    AuthenticationService, CLSID_ACTIVATION_PROPERTIES_IN, CLSID_ACTIVATION_PROPERTIES_OUT, Oid, Oxid,
    ProtocolSequence, ReferenceFlags, RemInterfaceRef, RemQiResult, SetId, StdObjref,
};
use com::dcom::wire::{
    Context, DataElement, DualStringArray, ErrorInfo, Objref, ObjrefBody, SecurityBinding,
};
use rpc::Message;
use rpc::ndr::{Conformant, InterfacePointer, Reader, Reserved, Writer};
use rpc::orpc::{ComVersion, OrpcThat, OrpcThis, reply_stub, request_stub};
use wire::{DecodeError, Guid, HResult, Win32Error, decode, encode_vec};

use crate::law::is_inside;

/// Reads a structure, writes it and reads it again.
macro_rules! recode {
    ($bytes:expr, $type:ty) => {
        match decode::<$type>($bytes) {
            Ok(value) => {
                let again = encode_vec(&value).expect("what is read is written");
                assert_eq!(decode::<$type>(&again).as_ref(), Ok(&value));
            }
            Err(error) => check_place(&error, $bytes),
        }
    };
}

/// An object reference, or one of the structures in it, in any of their forms: what is read is written and read
/// again as it was, and borrows from the bytes; what is not, is refused at a place in them.
pub fn objref(bytes: &[u8]) {
    match decode::<Objref<'_>>(bytes) {
        Ok(objref) => check_objref(&objref, bytes),
        Err(error) => check_place(&error, bytes),
    }
    check_bindings(bytes);
    recode!(bytes, ActivationProperties<'_>);
    recode!(bytes, Context<'_>);
    recode!(bytes, ErrorInfo);
    let pointer = InterfacePointer { size: 0, data: bytes.into() };
    match ActivationRequest::from_pointer(&pointer) {
        // What is missing in what is read may not be in what is written: there is one interface at the least.
        Ok(request) => {
            let again = request.to_pointer().expect("what is read is written");
            assert_eq!(ActivationRequest::from_pointer(&again).as_ref(), Ok(&request));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    if let Ok(activation) = Activation::from_pointer(&pointer)
        && let Ok(again) = activation.to_pointer()
    {
        assert_eq!(Activation::from_pointer(&again).as_ref(), Ok(&activation));
    }
}

fn check_objref(objref: &Objref<'_>, bytes: &[u8]) {
    match &objref.body {
        ObjrefBody::Custom { data, .. } | ObjrefBody::Extended { context: DataElement { data, .. }, .. } => {
            assert!(is_inside(bytes, data));
        }
        ObjrefBody::Standard { .. } | ObjrefBody::Handler { .. } => {}
    }
    // A list without anything takes two units where it is written, so that an array that was full does not fit.
    if let Ok(again) = encode_vec(objref) {
        assert_eq!(decode::<Objref<'_>>(&again).as_ref(), Ok(objref));
    }
}

/// Both forms of an array of bindings.
fn check_bindings(bytes: &[u8]) {
    let from_ndr = |stub: &[u8]| Reader::new(stub, "bindings").read::<DualStringArray>("array");
    let bindings = match (decode::<DualStringArray>(bytes), from_ndr(bytes)) {
        (Ok(bindings), _) | (_, Ok(bindings)) => bindings,
        (Err(error), Err(_)) => return check_place(&error, bytes),
    };
    if let Ok(again) = encode_vec(&bindings) {
        assert_eq!(decode::<DualStringArray>(&again).as_ref(), Ok(&bindings));
        let mut dst = Writer::new();
        dst.write(&bindings).expect("one form is written if the other one is");
        assert_eq!(from_ndr(&dst.into_stub()).as_ref(), Ok(&bindings));
    }
}

fn check_place(error: &DecodeError, bytes: &[u8]) {
    assert!(!error.context.is_empty());
    assert!(error.offset <= bytes.len(), "{error}: {} bytes", bytes.len());
}

const IPID: Guid = Guid::from_u128(0x1112_1314_1516_1718_191a_1b1c_1d1e_1f20);
const IID: Guid = Guid::from_u128(0xb600_40e0_bcf3_11d1_861d_0080_c729_264d);
const CLASS: Guid = Guid::from_u128(0xecab_afb9_7f19_11d2_978e_0000_f875_7e2a);
const OXID: Oxid = Oxid(7);
const RIGHT: &str = "the message is right";

/// An opnum, a request and a reply.
pub(crate) type Call = (u16, Vec<u8>, Vec<u8>);

fn bindings(address: &str) -> DualStringArray {
    let ntlm = SecurityBinding { service: AuthenticationService::WINNT, principal: "web1".to_owned() };
    DualStringArray::tcp([address.to_owned()], vec![ntlm])
}

fn std_objref() -> StdObjref {
    StdObjref { flags: ReferenceFlags::NONE, public_refs: 5, oxid: OXID, oid: Oid(9), ipid: IPID }
}

fn standard() -> Objref<'static> {
    Objref::standard(IID, std_objref(), bindings("web1"))
}

fn request() -> ActivationRequest {
    let (server_name, context) = (Some("web1".to_owned()), Some(IPID));
    ActivationRequest { server_name, context, ..ActivationRequest::new(CLASS, vec![IID]) }
}

fn activation() -> Activation {
    let exporter = ObjectExporter {
        oxid: OXID,
        bindings: bindings("web1[49664]"),
        ipid_rem_unknown: IPID,
        authn_hint: 5,
        version: ComVersion::V5_7,
    };
    Activation { exporter, results: vec![(IID, Ok(standard())), (CLASS, Err(HResult::E_NOINTERFACE))] }
}

/// Inputs of [`objref`], by name.
pub(crate) fn honest_structures() -> Vec<(&'static str, Vec<u8>)> {
    let (std, resolver) = (std_objref(), bindings("web1"));
    let context = DataElement { id: IPID, data: b"a context"[..].into() };
    let extended =
        Objref { iid: IID, body: ObjrefBody::Extended { std, resolver: resolver.clone(), context } };
    let handler =
        Objref { iid: IID, body: ObjrefBody::Handler { std, clsid: CLASS, resolver: resolver.clone() } };
    let info = ErrorInfo { description: Some("No".to_owned()), ..ErrorInfo::default() };
    let pointer = |pointer: wire::EncodeResult<InterfacePointer<'_>>| pointer.expect(RIGHT).data.into_owned();
    let request = pointer(request().to_pointer());
    let inner = |bytes: &[u8], format| {
        let objref: Objref<'_> = decode(bytes).expect(RIGHT);
        objref.custom_data(format).expect(RIGHT).to_vec()
    };
    let reply = pointer(activation().to_pointer());
    let mut ndr = Writer::new();
    ndr.write(&resolver).expect(RIGHT);
    vec![
        ("standard", encode_vec(&standard()).expect(RIGHT)),
        ("handler", encode_vec(&handler).expect(RIGHT)),
        ("extended", encode_vec(&extended).expect(RIGHT)),
        ("bindings", encode_vec(&resolver).expect(RIGHT)),
        ("bindings_ndr", ndr.into_stub()),
        ("context", encode_vec(&Context::new(IPID)).expect(RIGHT)),
        ("error_info", encode_vec(&info).expect(RIGHT)),
        ("properties_in", inner(&request, CLSID_ACTIVATION_PROPERTIES_IN)),
        ("properties_out", inner(&reply, CLSID_ACTIVATION_PROPERTIES_OUT)),
        ("request", request),
        ("reply", reply),
    ]
}

fn native(request: &impl Message, reply: &impl Message) -> (Vec<u8>, Vec<u8>) {
    (request.to_stub().expect(RIGHT), reply.to_stub().expect(RIGHT))
}

pub(crate) fn honest_resolver() -> Vec<Call> {
    let protocols = || Conformant(vec![ProtocolSequence::TCP]);
    let (ipid_rem_unknown, authn_hint, version) = (IPID, 5, ComVersion::V5_7);
    let status = Win32Error::ERROR_SUCCESS;
    let bound = || Some(Box::new(bindings("web1[49664]")));
    let add = Some(Box::new(Conformant(vec![Oid(1), Oid(2)])));
    let ping = ComplexPingRequest {
        set_id: SetId(0),
        sequence: 1,
        add_count: 2,
        delete_count: 0,
        add,
        delete: None,
    };
    let resolve = ResolveOxidRequest { oxid: OXID, protocol_count: 1, protocols: protocols() };
    let resolved = ResolveOxidReply { bindings: bound(), ipid_rem_unknown, authn_hint, status };
    let resolved2 = ResolveOxid2Reply { bindings: bound(), ipid_rem_unknown, authn_hint, version, status };
    let alive = ServerAlive2Reply { version, bindings: bound(), reserved: Reserved::NEW, status };
    let calls = [
        (0, native(&resolve, &resolved)),
        (1, native(&SimplePingRequest { set_id: SetId(7) }, &SimplePingReply { status })),
        (2, native(&ping, &ComplexPingReply { set_id: SetId(7), backoff: 0, status })),
        (3, native(&ServerAliveRequest {}, &ServerAliveReply { status })),
        (4, native(&ResolveOxid2Request::tcp(OXID), &resolved2)),
        (5, native(&ServerAlive2Request {}, &alive)),
    ];
    calls.into_iter().map(|(opnum, (request, reply))| (opnum, request, reply)).collect()
}

pub(crate) fn honest_activator() -> Vec<Call> {
    let this = || OrpcThis::new(ComVersion::V5_7, IPID);
    let properties = || Some(Box::new(request().to_pointer().expect(RIGHT)));
    let activated = || Some(Box::new(activation().to_pointer().expect(RIGHT)));
    let (that, status) = (OrpcThat::default, HResult::S_OK);
    let class = native(
        &RemoteGetClassObjectRequest { this: this(), properties: properties() },
        &RemoteGetClassObjectReply { that: that(), activated: activated(), status },
    );
    let create = native(
        &RemoteCreateInstanceRequest { this: this(), outer: None, properties: properties() },
        &RemoteCreateInstanceReply { that: that(), activated: activated(), status },
    );
    vec![(3, class.0, class.1), (4, create.0, create.1)]
}

pub(crate) fn object(request: &impl rpc::Request, reply: &impl Message) -> (Vec<u8>, Vec<u8>) {
    let this = OrpcThis::new(ComVersion::V5_7, IPID);
    let that = ErrorInfo::default().to_extent().and_then(|extent| OrpcThat::with_extents(vec![extent]));
    let reply = reply_stub(&that.expect(RIGHT), reply);
    (request_stub(&this, request).expect(RIGHT), reply.expect(RIGHT))
}

pub(crate) fn honest_remote_unknown() -> Vec<Call> {
    let status = HResult::S_OK;
    let refs = || vec![RemInterfaceRef::public(IPID, 5)];
    let query = RemQueryInterfaceRequest::new(IPID, 5, vec![IID]).expect(RIGHT);
    let results = Some(Box::new(Conformant(vec![RemQiResult { result: status, std: std_objref() }])));
    let add = RemAddRefRequest::new(refs()).expect(RIGHT);
    let release = RemReleaseRequest::new(refs()).expect(RIGHT);
    let calls = [
        (3, object(&query, &RemQueryInterfaceReply { results, status })),
        (4, object(&add, &RemAddRefReply { results: Conformant(vec![status]), status })),
        (5, object(&release, &RemReleaseReply { status })),
    ];
    calls.into_iter().map(|(opnum, (request, reply))| (opnum, request, reply)).collect()
}

pub(crate) fn honest_remote_unknown2() -> Vec<Call> {
    let query = RemQueryInterface2Request::new(IPID, vec![IID]).expect(RIGHT);
    let pointer = Box::new(standard().to_pointer().expect(RIGHT));
    let reply = RemQueryInterface2Reply {
        results: Conformant(vec![HResult::S_OK]),
        pointers: Conformant(vec![Some(pointer)]),
        status: HResult::S_OK,
    };
    let (request, reply) = object(&query, &reply);
    vec![(6, request, reply)]
}
