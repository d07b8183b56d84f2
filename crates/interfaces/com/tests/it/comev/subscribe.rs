use core::future::{Future, ready};

use com::comev::subscription::{
    GetEnabledReply, GetEnabledRequest, GetSubscriptionIdReply, GetSubscriptionIdRequest, PutEnabledReply,
    PutEnabledRequest, PutSubscriberInterfaceReply, PutSubscriberInterfaceRequest, PutSubscriptionIdReply,
    PutSubscriptionIdRequest,
};
use com::comev::{
    GetVersionReply, GetVersionRequest, IEventSubscription, IEventSubscription2Server, IEventSubscription3,
    IEventSubscription3Server, IEventSubscriptionServer, IEventSystem2, IEventSystem2Server,
    IEventSystemServer, NextItemsReply, RemoveReply, RemoveRequest, StoreReply, StoreRequest, prog_id, query,
    status,
};
use com::oaut::{Bstr, IDispatchServer};
use rpc::ndr::InterfacePointer;
use rpc::orpc::{ComVersion, IUnknownServer, ObjectInterface, OrpcThis, Proxy, read_reply, request_stub};
use rpc::{CallInfo, Channel, Error, FaultStatus, Interface, ServerResult};
use test_support::future::now;
use wire::{Guid, HResult};

const ID: Guid = Guid::from_u128(0xecab_b0c3_7f19_11d2_978e_0000_f875_7e2a);

/// An event system and a subscription in one.
#[derive(Default)]
struct Host {
    id: String,
    is_enabled: bool,
    subscriber: Vec<u8>,
    stored: Vec<String>,
}

impl IUnknownServer for Host {}
impl IDispatchServer for Host {}
impl IEventSubscription2Server for Host {}
impl IEventSubscription3Server for Host {}

fn text(bstr: &Bstr) -> String {
    bstr.text().unwrap().unwrap()
}

impl IEventSubscriptionServer for Host {
    fn put_subscription_id(
        &mut self,
        request: &PutSubscriptionIdRequest,
    ) -> ServerResult<PutSubscriptionIdReply, HResult> {
        self.id = text(&request.value);
        Ok(PutSubscriptionIdReply { status: HResult::S_OK })
    }

    fn get_subscription_id(
        &mut self,
        _: &GetSubscriptionIdRequest,
    ) -> ServerResult<GetSubscriptionIdReply, HResult> {
        Ok(GetSubscriptionIdReply { value: Bstr::new(&self.id).unwrap(), status: HResult::S_OK })
    }

    fn put_enabled(&mut self, request: &PutEnabledRequest) -> ServerResult<PutEnabledReply, HResult> {
        self.is_enabled = request.value != 0;
        Ok(PutEnabledReply { status: HResult::S_OK })
    }

    fn get_enabled(&mut self, _: &GetEnabledRequest) -> ServerResult<GetEnabledReply, HResult> {
        Ok(GetEnabledReply { value: self.is_enabled.into(), status: HResult::S_OK })
    }

    fn put_subscriber_interface(
        &mut self,
        request: &PutSubscriberInterfaceRequest<'_>,
    ) -> ServerResult<PutSubscriberInterfaceReply, HResult> {
        self.subscriber = request.value.as_ref().unwrap().data.to_vec();
        Ok(PutSubscriberInterfaceReply { status: HResult::S_OK })
    }
}

impl IEventSystemServer for Host {
    fn store(&mut self, request: &StoreRequest<'_>) -> ServerResult<StoreReply, HResult> {
        assert_eq!(text(&request.prog_id), prog_id::EVENT_SUBSCRIPTION);
        self.stored.push(format!("SUBSCRIPTIONID={}", self.id));
        Ok(StoreReply { status: HResult::S_OK })
    }

    fn remove(&mut self, request: &RemoveRequest) -> ServerResult<RemoveReply, HResult> {
        let before = self.stored.len();
        self.stored.retain(|stored| *stored != text(&request.criteria));
        if self.stored.len() < before {
            Ok(RemoveReply { error_index: 0, status: HResult::S_OK })
        } else {
            Ok(RemoveReply { error_index: 3, status: status::EVENT_E_QUERYSYNTAX })
        }
    }
}

impl IEventSystem2Server for Host {
    fn get_version(&mut self, _: &GetVersionRequest) -> ServerResult<GetVersionReply, HResult> {
        Ok(GetVersionReply { version: com::comev::VERSION_WITH_PARTITIONS, status: HResult::S_OK })
    }
}

struct Wire<'a>(&'a mut Host);

impl Channel for Wire<'_> {
    type Error = FaultStatus;

    fn call(
        &mut self,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, FaultStatus>> + Send {
        let call = CallInfo { object, ..CallInfo::default() };
        ready(if object == Some(SUBSCRIPTION) {
            IEventSubscription3::dispatch(self.0, &call, opnum, stub)
        } else {
            IEventSystem2::dispatch(self.0, &call, opnum, stub)
        })
    }
}

const SUBSCRIPTION: Guid = Guid::from_u128(1);
const EVENT_SYSTEM: Guid = Guid::from_u128(2);

fn proxy<I: ObjectInterface>(host: &mut Host, ipid: Guid) -> Proxy<Wire<'_>, I> {
    Proxy::new(Wire(host), ipid, ComVersion::V5_7, Guid::from_u128(3))
}

#[test]
fn a_subscription_is_made_stored_and_removed_by_its_id() {
    let mut host = Host::default();
    let mut subscription = proxy::<IEventSubscription3>(&mut host, SUBSCRIPTION);
    let value = Bstr::new(&format!("{{{ID}}}").to_uppercase()).unwrap();
    now(subscription.call(&PutSubscriptionIdRequest { value: value.clone() })).unwrap();
    now(subscription.call(&PutEnabledRequest { value: 1 })).unwrap();
    let pointer = InterfacePointer { size: 3, data: b"ref"[..].into() };
    now(subscription.call(&PutSubscriberInterfaceRequest { value: Some(Box::new(pointer)) })).unwrap();
    assert_eq!(now(subscription.call(&GetSubscriptionIdRequest {})).unwrap().value, value);
    assert_eq!(now(subscription.call(&GetEnabledRequest {})).unwrap().value, 1);
    assert_eq!(host.subscriber, b"ref");

    let mut event_system = proxy::<IEventSystem2>(&mut host, EVENT_SYSTEM);
    assert_eq!(now(event_system.call(&GetVersionRequest {})).unwrap().version, 2);
    let prog_id = Bstr::new(prog_id::EVENT_SUBSCRIPTION).unwrap();
    now(event_system.call(&StoreRequest { prog_id, object: None })).unwrap();
    let prog_id = Bstr::new(prog_id::EVENT_SUBSCRIPTION_COLLECTION).unwrap();
    let remove = RemoveRequest { prog_id, criteria: Bstr::new(&query::by_subscription_id(ID)).unwrap() };
    now(event_system.call(&remove)).unwrap();
    let reply = now(event_system.reply(&remove)).unwrap();
    assert_eq!((reply.error_index, reply.status), (3, status::EVENT_E_QUERYSYNTAX));
    assert!(matches!(now(event_system.call(&remove)), Err(Error::Status { .. })));
    assert!(host.stored.is_empty());
}

#[test]
fn opnums_are_those_of_the_document() {
    let names: Vec<&str> = (7..=40).map(|opnum| IEventSubscription::method(opnum).unwrap().name).collect();
    assert_eq!(
        (names[0], names[13], names[24]),
        ("get_SubscriptionID", "put_SubscriberInterface", "GetPublisherProperty")
    );
    assert_eq!((names[31], names[33]), ("GetSubscriberPropertyCollection", "put_InterfaceID"));
    assert_eq!(IEventSubscription3::method(44).unwrap().name, "put_SubscriberMoniker");
    assert_eq!(IEventSubscription3::method(52).unwrap().name, "put_SubscriberApplicationID");
    assert_eq!(IEventSystem2::method(14).unwrap().name, "VerifyTransientSubscribers");
}

// [MS-COMEV] 3.1.4.4.14 by hand: ORPCTHIS, a pointer, the number of bytes twice, bytes.
#[test]
fn an_object_is_a_pointer_to_its_reference() {
    let this = OrpcThis::new(ComVersion::V5_7, Guid::from_u128(0));
    let pointer = InterfacePointer { size: 3, data: b"ref"[..].into() };
    let stub =
        request_stub(&this, &PutSubscriberInterfaceRequest { value: Some(Box::new(pointer)) }).unwrap();
    assert_eq!(stub[32..], [0, 0, 2, 0, 3, 0, 0, 0, 3, 0, 0, 0, b'r', b'e', b'f']);
}

// [MS-COMEV] 3.1.4.5.2: max_count is what was asked for, actual_count what there is.
#[test]
fn an_enumerator_returns_fewer_items_than_there_is_room_for() {
    let stub = [0_u32, 0, 5, 0, 1, 0, 1, 1].map(u32::to_le_bytes).concat();
    let (_, reply) = read_reply::<NextItemsReply<'_>>(&stub).unwrap();
    let more = [0_u32, 0, 5, 0, 6, 0, 6, 0].map(u32::to_le_bytes).concat();
    let error = read_reply::<NextItemsReply<'_>>(&more).unwrap_err();
    assert!(error.to_string().contains("actual_count is above max_count"), "{error}");
    assert_eq!((reply.items.max_count, reply.items.elements.len(), reply.status), (5, 1, HResult::S_FALSE));
}
