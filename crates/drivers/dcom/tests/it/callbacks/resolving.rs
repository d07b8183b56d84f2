//! What a host learns of a reference that it was given.

use com::comt::IComTrackingInfoEvents;
use com::dcom::remote_unknown::{
    IRemUnknown2, RemAddRefRequest, RemQueryInterface2Request, RemQueryInterfaceRequest, RemReleaseRequest,
};
use com::dcom::resolver::{
    ComplexPingRequest, IObjectExporter, ResolveOxidRequest, ServerAlive2Request, SimplePingRequest,
};
use com::dcom::types::{Oid, ProtocolSequence, ReferenceFlags, RemInterfaceRef, SetId};
use com::dcom::wire::{DualStringArray, Objref};
use dcom::callbacks::SubscriberLimits;
use rpc::Interface;
use rpc::ndr::Conformant;
use rpc::orpc::{ComVersion, IUnknown, ObjectInterface};
use wire::{Guid, HResult, Win32Error, decode};

use crate::callbacks::world::{WEB1, World, event, proxy, resolver};

const UNKNOWN: Guid = Guid::from_u128(7);

#[tokio::test]
async fn a_reference_names_the_resolver_and_wants_neither_pings_nor_security() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    let pointer = subscriber.objref().to_pointer().unwrap();
    let objref: Objref<'_> = decode(&pointer.data).unwrap();
    assert_eq!(objref.iid, IUnknown::IID);
    assert_eq!(*objref.resolver().unwrap(), DualStringArray::tcp(["198.51.100.7".to_owned()], Vec::new()));
    let std = objref.std().unwrap();
    assert!(!std.wants_pings());
    assert_eq!(std.public_refs, 5);
    let other = world.subscribe(WEB1).objref();
    let other = other.std().unwrap();
    assert!(other.oxid != std.oxid && other.oid != std.oid && other.ipid != std.ipid);
}

#[tokio::test]
async fn the_resolver_tells_where_the_object_is_called() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    let std = *subscriber.objref().std().unwrap();
    let resolved = world.resolve(WEB1, &std).await;
    assert_eq!((resolved.status, resolved.version), (Win32Error::ERROR_SUCCESS, ComVersion::V5_7));
    let bindings = resolved.bindings.unwrap();
    assert_eq!(*bindings, DualStringArray::tcp(["198.51.100.7[5135]".to_owned()], Vec::new()));

    let mut association = world.dial(WEB1, IObjectExporter::SYNTAX_ID).await.unwrap();
    let mut resolver = resolver(&mut association);
    let protocols = Conformant(vec![ProtocolSequence::TCP]);
    let older = ResolveOxidRequest { oxid: std.oxid, protocol_count: 1, protocols };
    let older = resolver.call(&older).await.unwrap();
    assert_eq!(older.ipid_rem_unknown, resolved.ipid_rem_unknown);
    assert_eq!(older.bindings, Some(bindings));
    let alive = resolver.call(&ServerAlive2Request {}).await.unwrap();
    let expected = DualStringArray::tcp(["198.51.100.7".to_owned()], Vec::new());
    assert_eq!((alive.version, *alive.bindings.unwrap()), (ComVersion::V5_7, expected));
}

#[tokio::test]
async fn an_object_has_two_interfaces_and_no_other() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    let std = *subscriber.objref().std().unwrap();
    let program = world.resolve(WEB1, &std).await.ipid_rem_unknown;
    let mut association = world.dial(WEB1, IRemUnknown2::SYNTAX_ID).await.unwrap();
    let mut program = proxy::<IRemUnknown2>(&mut association, program);
    let iids = vec![IUnknown::IID, IComTrackingInfoEvents::IID, UNKNOWN];
    let request = RemQueryInterfaceRequest::new(std.ipid, 3, iids.clone()).unwrap();
    let found = request.results(&program.call(&request).await.unwrap()).unwrap();
    assert_eq!(found[0].unwrap().ipid, std.ipid);
    let events = found[1].unwrap();
    assert_eq!((events.oid, events.oxid, events.public_refs), (std.oid, std.oxid, 3));
    assert_eq!(events.flags, ReferenceFlags::NONE, "[MS-DCOM] 3.1.1.5.6.1");
    assert_ne!(events.ipid, std.ipid);
    assert_eq!(found[2], Err(HResult::E_NOINTERFACE));

    let request = RemQueryInterface2Request::new(events.ipid, iids).unwrap();
    let stub = program.stub(&request).await.unwrap();
    let (_, reply) = program.decode(&request, &stub).unwrap();
    let found = request.results(&reply).unwrap();
    assert_eq!(found[1].as_ref().unwrap().std().unwrap().ipid, events.ipid);
    assert_eq!(found[2], Err(HResult::E_NOINTERFACE));

    let unknown = RemQueryInterfaceRequest::new(UNKNOWN, 1, vec![IUnknown::IID]).unwrap();
    let error = program.call(&unknown).await.unwrap_err();
    assert_eq!(error.status(), Some(HResult::RPC_E_INVALID_OBJECT));
}

#[tokio::test]
async fn references_can_be_counted_by_the_host_and_do_not_end_the_object() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    let ipid = world.events_ipid(WEB1, &subscriber).await;
    let std = *subscriber.objref().std().unwrap();
    let program = world.resolve(WEB1, &std).await.ipid_rem_unknown;
    let mut association = world.dial(WEB1, IRemUnknown2::SYNTAX_ID).await.unwrap();
    let mut program = proxy::<IRemUnknown2>(&mut association, program);
    let private = RemInterfaceRef { ipid, public_refs: 0, private_refs: 1 };
    let refs = vec![RemInterfaceRef::public(ipid, 5), private, RemInterfaceRef::public(UNKNOWN, 1)];
    let added = program.call(&RemAddRefRequest::new(refs).unwrap()).await.unwrap();
    let expected = [HResult::S_OK, HResult::E_ACCESSDENIED, HResult::CO_E_OBJNOTREG];
    assert_eq!(added.results.0, expected);
    let refs = vec![RemInterfaceRef::public(ipid, u32::MAX), RemInterfaceRef::public(std.ipid, 5)];
    program.call(&RemReleaseRequest::new(refs).unwrap()).await.unwrap();
    world.call(WEB1, ipid, &event(b"state")).await.unwrap();
}

#[tokio::test]
async fn pings_of_a_careful_host_are_answered() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    let oid = subscriber.objref().std().unwrap().oid;
    let mut association = world.dial(WEB1, IObjectExporter::SYNTAX_ID).await.unwrap();
    let mut resolver = resolver(&mut association);
    let make = |set_id, oid| ComplexPingRequest {
        set_id,
        sequence: 1,
        add_count: 1,
        delete_count: 0,
        add: Some(Box::new(Conformant(vec![oid]))),
        delete: None,
    };
    let made = resolver.call(&make(SetId::default(), oid)).await.unwrap();
    assert_ne!(made.set_id, SetId::default());
    resolver.call(&SimplePingRequest { set_id: made.set_id }).await.unwrap();
    resolver.call(&make(made.set_id, oid)).await.unwrap();
    let error = resolver.call(&make(made.set_id, Oid(7))).await.unwrap_err();
    assert_eq!(error.status(), Some(Win32Error::OR_INVALID_OID));
    let unknown = resolver.call(&make(SetId::default(), Oid(7))).await.unwrap();
    assert_eq!(unknown.set_id, made.set_id, "an unknown object is passed over in a new set");
    let error = resolver.call(&SimplePingRequest { set_id: SetId(7) }).await.unwrap_err();
    assert_eq!(error.status(), Some(Win32Error::OR_INVALID_SET));
}
