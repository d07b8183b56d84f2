//! Bytes that others wrote or read; each file says which.

use com::dcom::activation::{ANY_SESSION, Activation, ActivationRequest, ObjectExporter};
use com::dcom::activator::{RemoteCreateInstanceReply, RemoteCreateInstanceRequest};
use com::dcom::remote_unknown::{
    RemQueryInterface2Reply, RemQueryInterface2Request, RemQueryInterfaceRequest, RemReleaseRequest,
};
use com::dcom::resolver::{ComplexPingRequest, ResolveOxid2Reply, ResolveOxid2Request, ServerAlive2Reply};
use com::dcom::types::{
    AuthenticationService, Oid, Oxid, ProtocolSequence, ReferenceFlags, RemInterfaceRef, SetId,
};
use com::dcom::wire::{Objref, ObjrefBody};
use rpc::ndr::Conformant;
use rpc::orpc::{ComVersion, OrpcThat, OrpcThis, read_reply, read_request, request_stub};
use rpc::{FromStub, Message};
use wire::{Guid, HResult, Win32Error, decode, encode_vec};

use crate::dcom::fixture::{
    CID, CLASS, IID, IPID, OID, OXID, activation, bindings, objref, pointer, std_objref,
};
use crate::dcom::hex;

macro_rules! data {
    ($name:literal) => {
        hex(include_str!(concat!("../../data/dcom/", $name, ".hex")))
    };
}

#[test]
fn an_activation_of_windows_is_read_and_written_as_windows_wrote_it() {
    let stub = data!("response_create_instance");
    let reply = RemoteCreateInstanceReply::from_stub(&stub).unwrap();
    assert_eq!((reply.status, reply.that.flags), (HResult::S_OK, 1));
    let activation = Activation::from_pointer(reply.activated.as_ref().unwrap()).unwrap();

    let ObjectExporter { oxid, bindings, ipid_rem_unknown, authn_hint, version } = &activation.exporter;
    assert_eq!(ipid_rem_unknown.to_string(), "00006c00-32d8-0000-c957-8baf6574b451");
    assert_eq!((oxid.0, *authn_hint, *version), (0xbb74_7e59_1f6b_9b14, 2, ComVersion::V5_7));
    let addresses: Vec<_> = bindings.strings.iter().map(|binding| binding.address.as_str()).collect();
    assert_eq!(addresses, ["DESKTOP-KBGJAI0[53146]", "192.16.10.23[53146]"]);
    assert!(bindings.strings.iter().all(|binding| binding.protocol == ProtocolSequence::TCP));
    let security: Vec<_> = bindings.security.iter().map(|binding| binding.service.0).collect();
    assert_eq!(security, [10, 30, 16, 9, 22, 31]);
    assert_eq!(bindings.security[2].principal, "host/DESKTOP-KBGJAI0");

    assert_eq!(activation.results.len(), 9);
    let failed = activation.results.iter().filter_map(|(iid, result)| Some((iid, *result.as_ref().err()?)));
    let failed: Vec<_> = failed.map(|(iid, status)| (iid.data1, status)).collect();
    assert_eq!(failed, [(0x39c1_3a4e, HResult::E_NOINTERFACE), (0x10b, HResult::E_NOINTERFACE)]);
    let server: Guid = "39c13a4d-011e-11d0-9675-0020afd8adb3".parse().unwrap();
    let found = activation.interface(server).unwrap().std().unwrap();
    assert_eq!((found.oxid, found.public_refs, found.wants_pings()), (*oxid, 5, true));

    assert_eq!(activation.to_pointer().unwrap(), *reply.activated.as_deref().unwrap());
    let that = OrpcThat { flags: 1, extensions: None };
    let again = RemoteCreateInstanceReply { that, activated: reply.activated.clone(), status: HResult::S_OK };
    assert_eq!(again.to_stub().unwrap(), stub);
}

#[test]
fn an_activation_that_impacket_asks_for_is_read() {
    let stub = data!("request_create_instance");
    let request = RemoteCreateInstanceRequest::from_stub(&stub).unwrap();
    // impacket sets a flag that means nothing here.
    assert_eq!((request.this.version, request.this.flags), (ComVersion::V5_7, 1));
    assert_eq!(request.outer, None);
    let read = ActivationRequest::from_pointer(&request.properties.unwrap()).unwrap();
    let expected = ActivationRequest {
        class_context: 0,
        authn_level: 0,
        session: ANY_SESSION,
        context: None,
        ..ActivationRequest::new(CLASS, vec![IID])
    };
    assert_eq!(read, expected);
}

#[test]
fn an_activation_that_impacket_answers_is_read_past_a_property_that_is_unknown() {
    let activation = Activation::from_pointer(&pointer(data!("activation_reply"))).unwrap();
    let expected = Activation {
        exporter: ObjectExporter {
            oxid: OXID,
            bindings: bindings("web1[49664]"),
            ipid_rem_unknown: IPID,
            authn_hint: 5,
            version: ComVersion::V5_7,
        },
        results: vec![(IID, Ok(objref()))],
    };
    assert_eq!(activation, expected);
}

#[test]
fn object_references_of_impacket_are_read_and_written_as_they_are() {
    let standard = data!("objref_standard");
    assert_eq!(decode::<Objref<'_>>(&standard).unwrap(), objref());
    assert_eq!(encode_vec(&objref()).unwrap(), standard);

    let handler = data!("objref_handler");
    let read: Objref<'_> = decode(&handler).unwrap();
    let body = ObjrefBody::Handler { std: std_objref(), clsid: CLASS, resolver: bindings("web1") };
    assert_eq!(read, Objref { iid: IID, body });
    assert_eq!(encode_vec(&read).unwrap(), handler);

    let custom = data!("objref_custom");
    let read: Objref<'_> = decode(&custom).unwrap();
    assert_eq!(read.custom_data(CLASS), Some(&b"seven b"[..]));
    assert_eq!((read.custom_data(IID), read.std()), (None, None));
    assert_eq!(encode_vec(&read).unwrap(), custom);
    assert_eq!(read.into_owned(), Objref::custom(IID, CLASS, &b"seven b"[..]));
}

#[test]
fn requests_of_impacket_are_read() {
    let stub = data!("request_complex_ping");
    let ping = ComplexPingRequest::from_stub(&stub).unwrap();
    assert_eq!((ping.set_id, ping.sequence, ping.add_count, ping.delete_count), (SetId(0), 0, 3, 0));
    assert_eq!(ping.add.unwrap().0, [Oid(1), Oid(2), OID]);
    assert_eq!(ping.delete, None);
    let resolve = ResolveOxid2Request::from_stub(&data!("request_resolve_oxid2")).unwrap();
    assert_eq!(resolve, ResolveOxid2Request::tcp(OXID));

    let stub = data!("request_query_interface");
    let (this, query) = read_request::<RemQueryInterfaceRequest>(&stub).unwrap();
    assert_eq!(this, OrpcThis::new(ComVersion::V5_7, CID));
    assert_eq!(query, RemQueryInterfaceRequest::new(IPID, 5, vec![IID]).unwrap());
    // But for the padding, which impacket fills with other bytes.
    let written = request_stub(&this, &query).unwrap();
    assert_eq!((written.len(), &written[..54], &written[56..]), (stub.len(), &stub[..54], &stub[56..]));
}

#[test]
fn parameters_behind_extents_of_impacket_are_read() {
    let stub = data!("request_release_extended");
    let (this, release) = read_request::<RemReleaseRequest>(&stub).unwrap();
    assert_eq!(this.extensions.as_ref().unwrap().iter().count(), 2);
    assert_eq!((this.extent(CLASS), this.extent(IID)), (Some(&[b'x'; 12][..]), Some(&[b'x'; 16][..])));
    assert_eq!(release.refs, Conformant(vec![RemInterfaceRef::public(IPID, 5)]));
    assert_eq!((OXID, ReferenceFlags::NONE.0), (Oxid(0x0123_4567_89ab_cdef), 0));
    assert_eq!(AuthenticationService::WINNT.0, 10);
}

#[test]
fn an_activation_that_go_msrpc_asks_for_is_read() {
    let stub = data!("go_request_create_instance");
    let request = RemoteCreateInstanceRequest::from_stub(&stub).unwrap();
    assert_eq!((request.this, request.outer), (OrpcThis::new(ComVersion::V5_7, CID), None));
    let read = ActivationRequest::from_pointer(&request.properties.unwrap()).unwrap();
    let expected = ActivationRequest {
        authn_level: 6,
        context: Some(CID),
        server_name: Some("web1".to_owned()),
        protocols: vec![ProtocolSequence::TCP, ProtocolSequence(15)],
        ..ActivationRequest::new(CLASS, vec![IID])
    };
    assert_eq!(read, expected);
}

/// go-msrpc writes the properties of a reply after the identifiers of a request; [MS-DCOM] 3.1.2.5.2.3.3 has those of a
/// reply, without which the reply is refused.
#[test]
fn the_properties_of_an_activation_that_go_msrpc_answers_are_read() {
    let mut stub = data!("go_response_create_instance");
    let read = |stub: &[u8]| {
        let reply = RemoteCreateInstanceReply::from_stub(stub).unwrap();
        Activation::from_pointer(reply.activated.as_ref().unwrap())
    };
    read(&stub).unwrap_err();
    let (iid, clsid) = (20 + 8, 20 + 24);
    (stub[iid], stub[clsid]) = (0xa3, 0x39);
    assert_eq!(read(&stub).unwrap(), activation());
}

#[test]
fn answers_of_resolvers_and_of_objects_that_go_msrpc_writes_are_read() {
    let stub = data!("go_response_server_alive2");
    let alive = ServerAlive2Reply::from_stub(&stub).unwrap();
    assert_eq!((alive.version, *alive.bindings.unwrap()), (ComVersion::V5_7, bindings("web1")));

    let stub = data!("go_request_query_interface2");
    let (this, query) = read_request::<RemQueryInterface2Request>(&stub).unwrap();
    assert_eq!(this, OrpcThis::new(ComVersion::V5_7, CID));
    assert_eq!(query, RemQueryInterface2Request::new(IPID, vec![IID, CLASS]).unwrap());
    assert_eq!(request_stub(&this, &query).unwrap(), stub);

    let stub = data!("go_response_query_interface2");
    let reply = read_reply::<RemQueryInterface2Reply<'_>>(&stub).unwrap().1;
    assert_eq!(query.results(&reply).unwrap(), [Ok(objref()), Err(HResult::E_NOINTERFACE)]);
}

#[test]
fn a_conversation_of_windows_is_read_and_written_as_windows_wrote_it() {
    let stub = data!("windows_server_alive2_reply");
    let alive = ServerAlive2Reply::from_stub(&stub).unwrap();
    assert_eq!((alive.version, alive.status), (ComVersion::V5_7, Win32Error::ERROR_SUCCESS));
    let services: Vec<_> =
        alive.bindings.as_ref().unwrap().security.iter().map(|one| one.service.0).collect();
    assert_eq!(services, [9, 30, 16, 10, 22, 31, 14]);
    assert_eq!(alive.to_stub().unwrap(), stub);

    let stub = data!("windows_resolve_oxid2_reply");
    let resolved = ResolveOxid2Reply::from_stub(&stub).unwrap();
    let bindings = resolved.bindings.as_ref().unwrap();
    let addresses: Vec<_> = bindings.strings.iter().map(|binding| binding.address.as_str()).collect();
    assert_eq!(addresses, ["WEBSERVER123[65082]", "192.0.2.106[65082]"]);
    assert!(bindings.security.iter().all(|binding| binding.principal == r"EXAMPLES\svcadmin"));
    assert_eq!((resolved.authn_hint, resolved.version), (5, ComVersion::V5_7));
    assert_eq!(resolved.to_stub().unwrap(), stub);

    let stub = data!("windows_remote_create_instance_request");
    let request = RemoteCreateInstanceRequest::from_stub(&stub).unwrap();
    let wanted = ActivationRequest::from_pointer(request.properties.as_ref().unwrap()).unwrap();
    assert_eq!(wanted.class.to_string(), "8bc3f05e-d86b-11d0-a075-00c04fb68820");
    assert_eq!(wanted.server_name.as_deref(), Some("192.0.20.136"));
    assert_eq!(wanted.interfaces.len(), 1);

    let stub = data!("windows_remote_create_instance_reply");
    let reply = RemoteCreateInstanceReply::from_stub(&stub).unwrap();
    let activation = Activation::from_pointer(reply.activated.as_ref().unwrap()).unwrap();
    assert_eq!((activation.exporter.authn_hint, activation.results.len()), (4, 1));
    let found = activation.interface(wanted.interfaces[0]).unwrap();
    assert_eq!((found.std().unwrap().public_refs, found.std().unwrap().wants_pings()), (5, true));
    assert_eq!(activation.to_pointer().unwrap(), *reply.activated.as_deref().unwrap());
}
