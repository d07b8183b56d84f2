//! Events of the COM+ tracker: a subscription is stored with the project's client, and the project's subscriber is called.

use std::net::IpAddr;
use std::time::Duration;

use com::comev::subscription::*;
use com::comev::{
    GetCountRequest, GetItemRequest, GetVersionRequest, IEventObjectCollection, IEventSubscription3,
    IEventSystem, IEventSystem2, QueryRequest, QuerySRequest, RemoveRequest, StoreRequest,
    VERSION_WITH_PARTITIONS, VerifyTransientSubscribersRequest, ids, prog_id, query, status,
};
use com::comt::tracking::{Component, Container, Dropped, Limits, Process, Visitor, read};
use com::comt::{IComTrackingInfoEvents, ids::EVENT_CLASS};
use com::dcom::wire::Objref;
use com::oaut::{Bstr, Value};
use dcom::callbacks::{AdvertisedAddress, EventRefusal, Exporter, Subscriber, SubscriberLimits, Subscribers};
use dcom::client::Object;
use dcom::rpc_server::{Deadlines, Server, TcpListeners};
use rpc::ndr::InterfacePointer;
use rpc::orpc::ObjectInterface;
use tokio::net::TcpListener;
use windows_sim::choices::{CallBackSecurity, EventList, InterfaceReferences, TrackerEventChoices};
use windows_sim::server::{CallError, EventPublisher};
use wire::{Guid, HResult};

use super::{World, soon};

const ID: Guid = Guid::from_u128(0x5b5c_0000_0000_4000_8000_0000_0000_0001);
const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// The project's side: a port of loopback with one subscriber.
struct Listening {
    subscriber: Subscriber,
    server: Server,
    port: u16,
    _running: TcpListeners,
}

impl Listening {
    async fn new(addresses: &[IpAddr]) -> Self {
        let exporter = Exporter::new(Subscribers::INTERFACES);
        let server = exporter.server(dcom::rpc_server::Limits::default(), Deadlines::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let running = TcpListeners::start(&server, vec![listener]).unwrap();
        let subscribers = Subscribers::new(exporter, SubscriberLimits::default());
        let told = AdvertisedAddress::new("127.0.0.1", port).unwrap();
        let subscriber = subscribers.subscribe(addresses.iter().copied(), told).unwrap();
        Self { subscriber, server, port, _running: running }
    }

    fn pointer(&self) -> InterfacePointer<'static> {
        self.subscriber.objref().to_pointer().unwrap()
    }
}

/// The event system of a host, and an event publisher that asks the test's port in place of 135.
struct Subscribed {
    system: Object,
    publisher: EventPublisher,
}

fn bstr(text: &str) -> Bstr {
    Bstr::new(text).unwrap()
}

fn braces(guid: Guid) -> Bstr {
    bstr(&format!("{{{guid}}}").to_uppercase())
}

async fn system(world: &World) -> Object {
    world.activate(ids::EVENT_SYSTEM_CLASS, IEventSystem2::IID).await.unwrap()
}

/// A subscription with everything that it needs but its subscriber.
async fn subscription(world: &World) -> Object {
    let mut subscription =
        world.activate(ids::EVENT_SUBSCRIPTION_CLASS, IEventSubscription3::IID).await.unwrap();
    let mut proxy = subscription.proxy::<IEventSubscription3>(soon()).await.unwrap();
    proxy.call(&PutSubscriptionIdRequest { value: braces(ID) }).await.unwrap();
    proxy.call(&PutSubscriptionNameRequest { value: bstr("exporter") }).await.unwrap();
    proxy.call(&PutEventClassIdRequest { value: braces(EVENT_CLASS) }).await.unwrap();
    proxy.call(&PutInterfaceIdRequest { value: braces(IComTrackingInfoEvents::IID) }).await.unwrap();
    proxy.call(&PutEnabledRequest { value: 1 }).await.unwrap();
    subscription
}

async fn store(system: &mut Object, subscription: &mut Object) -> Result<(), HResult> {
    let object = subscription.objref::<IEventSubscription3>(soon()).await.unwrap().to_pointer().unwrap();
    let request = StoreRequest { prog_id: bstr(prog_id::EVENT_SUBSCRIPTION), object: Some(Box::new(object)) };
    let mut proxy = system.proxy::<IEventSystem2>(soon()).await.unwrap();
    proxy.call(&request).await.map(drop).map_err(|error| error.status().unwrap())
}

async fn subscribe(world: &World, listening: &Listening) -> Subscribed {
    let mut system = system(world).await;
    let mut subscription = subscription(world).await;
    let value = Some(Box::new(listening.pointer()));
    let mut proxy = subscription.proxy::<IEventSubscription3>(soon()).await.unwrap();
    proxy.call(&PutSubscriberInterfaceRequest { value }).await.unwrap();
    store(&mut system, &mut subscription).await.unwrap();
    subscription.release(soon()).await.unwrap();
    let publisher = EventPublisher::new(world.host.clone(), listening.port);
    Subscribed { system, publisher }
}

/// An event as far as the model is compared with it: of each component, where it is, its class and its calls.
#[derive(Debug, Default, PartialEq, Eq)]
struct State(Vec<Row>);

type Row = (Option<u32>, Guid, Guid, Option<u32>, Option<u32>);

impl<'a> Visitor<'a> for State {
    fn component(
        &mut self,
        process: Option<&Process<'a>>,
        container: &Container<'a>,
        component: &Component<'a>,
    ) {
        let process_id = process.and_then(|process| process.process_id);
        let container_id = container.container_id.unwrap();
        self.0.push((process_id, container_id, component.clsid, component.in_call, component.call_time_ms));
    }

    fn dropped(&mut self, dropped: &Dropped<'a>) {
        panic!("{dropped}");
    }
}

fn taken(listening: &Listening) -> State {
    let event = listening.subscriber.take().unwrap();
    let mut state = State::default();
    read(&event.bytes, &Limits::default(), &mut state).unwrap();
    state
}

fn of_model(world: &World) -> State {
    let mut state = State::default();
    for process in world.source.com_processes(&world.source.moment()) {
        for container in &process.containers {
            for one in &container.components {
                let tracked = |figure| container.is_tracked.then_some(figure);
                state.0.push((
                    Some(process.process_id),
                    container.container_id,
                    one.clsid,
                    tracked(one.in_call),
                    tracked(one.recent.response_time_ms),
                ));
            }
        }
    }
    state
}

#[tokio::test]
async fn a_subscriber_is_called_from_the_address_of_the_host() {
    let world = World::at("127.0.0.2").await;
    for (address, is_told) in [("127.0.0.1", false), ("127.0.0.2", true)] {
        let listening = Listening::new(&[address.parse().unwrap()]).await;
        let mut subscribed = subscribe(&world, &listening).await;
        let delivery = subscribed.publisher.publish().await.pop().unwrap();
        assert_eq!(delivery.outcome.is_ok(), is_told, "{:?}", delivery.outcome);
    }
}

#[tokio::test]
async fn a_subscriber_gets_the_states_of_the_host() {
    let world = World::new().await;
    let listening = Listening::new(&[LOOPBACK]).await;
    let mut subscribed = subscribe(&world, &listening).await;
    for _ in 0..3 {
        let deliveries = subscribed.publisher.publish().await;
        assert_eq!(deliveries.len(), 1);
        assert_eq!(deliveries[0].subscription, ID);
        deliveries.into_iter().for_each(|delivery| delivery.outcome.unwrap());
        let state = taken(&listening);
        assert!(state.0.len() > 8 && state == of_model(&world), "{state:?}");
        world.clock.advance(Duration::from_secs(601));
        subscribed.system.keep_alive(soon()).await.unwrap();
    }
    // One connection to the resolver, and one that is kept.
    assert_eq!(listening.server.counters().connections(), 2);
    assert_eq!(listening.subscriber.counts().taken, 3);
}

#[tokio::test]
async fn a_subscription_is_found_verified_and_removed_by_its_id() {
    let world = World::new().await;
    let listening = Listening::new(&[LOOPBACK]).await;
    let Subscribed { mut system, mut publisher } = subscribe(&world, &listening).await;
    let mut proxy = system.proxy::<IEventSystem2>(soon()).await.unwrap();
    let version = proxy.call(&GetVersionRequest {}).await.unwrap().version;
    assert_eq!(version, VERSION_WITH_PARTITIONS);
    proxy.call(&VerifyTransientSubscribersRequest {}).await.unwrap();
    let prog_id = || bstr(prog_id::EVENT_SUBSCRIPTION_COLLECTION);
    let wrong = QueryRequest { prog_id: prog_id(), criteria: bstr("Enabled=TRUE & Colour='red'") };
    let stub = proxy.stub(&wrong).await.unwrap();
    let (_, reply) = proxy.decode(&wrong, &stub).unwrap();
    assert_eq!((reply.status, reply.error_index), (status::EVENT_E_QUERYFIELD, 15));

    let remove = RemoveRequest { prog_id: prog_id(), criteria: bstr(&query::by_subscription_id(ID)) };
    assert_eq!(publisher.publish().await.len(), 1);
    proxy.call(&remove).await.unwrap();
    assert!(proxy.call(&remove).await.is_err(), "it is gone");
    assert!(publisher.publish().await.is_empty());
}

#[tokio::test]
async fn a_transient_subscription_goes_with_the_event_system() {
    let world = World::new().await;
    let listening = Listening::new(&[LOOPBACK]).await;
    let mut subscribed = subscribe(&world, &listening).await;
    world.host.restart_event_system();
    assert!(subscribed.publisher.publish().await.is_empty());
    let mut proxy = subscribed.system.proxy::<IEventSystem2>(soon()).await.unwrap();
    let error = proxy.call(&GetVersionRequest {}).await.unwrap_err();
    assert!(error.to_string().contains("0x80010108"), "{error}");
    // The same object is stored again under the same id.
    let mut again = subscribe(&world, &listening).await;
    again.publisher.publish().await.remove(0).outcome.unwrap();
    assert_eq!(taken(&listening), of_model(&world));
}

#[tokio::test]
async fn a_subscription_that_lacks_something_is_not_stored() {
    let world = World::new().await;
    let mut system = system(&world).await;
    let mut subscription = subscription(&world).await;
    assert_eq!(store(&mut system, &mut subscription).await, Err(HResult::E_INVALIDARG), "no subscriber");
    let mut proxy = subscription.proxy::<IEventSubscription3>(soon()).await.unwrap();
    let value = Some(Box::new(InterfacePointer { size: 3, data: b"ref"[..].into() }));
    let error = proxy.call(&PutSubscriberInterfaceRequest { value }).await.unwrap_err();
    assert_eq!(error.status(), Some(HResult::RPC_E_INVALID_OBJREF));
    let error = proxy.call(&PutEventClassIdRequest { value: bstr("tracker") }).await.unwrap_err();
    assert_eq!(error.status(), Some(HResult::E_INVALIDARG));
    assert!(proxy.call(&GetDescriptionRequest {}).await.is_err(), "it was not set");
    // The event system itself is no subscription.
    let object = system.objref::<IEventSystem2>(soon()).await.unwrap().to_pointer().unwrap();
    let request = StoreRequest { prog_id: bstr(prog_id::EVENT_SUBSCRIPTION), object: Some(Box::new(object)) };
    let mut proxy = system.proxy::<IEventSystem>(soon()).await.unwrap();
    let error = proxy.call(&request).await.unwrap_err();
    assert_eq!(error.status(), Some(HResult::E_INVALIDARG));
}

#[tokio::test]
async fn a_subscriber_that_takes_no_calls_of_this_host_is_removed_when_it_is_verified() {
    let world = World::new().await;
    let elsewhere = "192.0.2.1".parse().unwrap();
    let listening = Listening::new(&[elsewhere]).await;
    let mut subscribed = subscribe(&world, &listening).await;
    let refused = subscribed.publisher.publish().await.remove(0).outcome.unwrap_err();
    assert!(matches!(refused, CallError::Stream(_)), "{refused}");
    assert_eq!(listening.server.counters().refused_for(dcom::rpc_server::Refusal::Address), 1);
    assert_eq!(listening.subscriber.counts().refused_for(EventRefusal::Address), 0);
    assert_eq!(subscribed.publisher.publish().await.len(), 1, "it is still there");
    let mut proxy = subscribed.system.proxy::<IEventSystem2>(soon()).await.unwrap();
    proxy.call(&VerifyTransientSubscribersRequest {}).await.unwrap();
    assert!(subscribed.publisher.publish().await.is_empty());
}

#[tokio::test]
async fn events_go_to_enabled_subscriptions_of_the_tracker_alone() {
    let world = World::new().await;
    let listening = Listening::new(&[LOOPBACK]).await;
    let mut subscribed = subscribe(&world, &listening).await;
    let mut subscription = subscription(&world).await;
    let value = Some(Box::new(listening.pointer()));
    let mut proxy = subscription.proxy::<IEventSubscription3>(soon()).await.unwrap();
    proxy.call(&PutSubscriberInterfaceRequest { value }).await.unwrap();
    proxy.call(&PutEnabledRequest { value: 0 }).await.unwrap();
    // It has the same id, so it takes the place of the other.
    store(&mut subscribed.system, &mut subscription).await.unwrap();
    assert!(subscribed.publisher.publish().await.is_empty());
    let mut proxy = subscription.proxy::<IEventSubscription3>(soon()).await.unwrap();
    proxy.call(&PutEnabledRequest { value: 1 }).await.unwrap();
    proxy.call(&PutMethodNameRequest { value: bstr("OnOther") }).await.unwrap();
    store(&mut subscribed.system, &mut subscription).await.unwrap();
    assert!(subscribed.publisher.publish().await.is_empty());
    assert_eq!(listening.subscriber.take(), None);
}

#[tokio::test]
async fn an_event_says_the_same_whatever_its_host_chooses() {
    let world = World::new().await;
    let listening = Listening::new(&[LOOPBACK]).await;
    let mut subscribed = subscribe(&world, &listening).await;
    let all = TrackerEventChoices::each_alone();
    assert!(all.len() > 20);
    for choices in all {
        world.host.change_behaviour(|behaviour| behaviour.choices.tracker_events = choices.clone());
        subscribed.publisher.publish().await.remove(0).outcome.unwrap();
        let mut expected = of_model(&world);
        if choices.event_list == EventList::Containers {
            expected.0.iter_mut().for_each(|row| row.0 = None);
        }
        assert_eq!(taken(&listening), expected, "{choices:?}");
    }
}

#[tokio::test]
async fn call_backs_are_taken_however_the_host_authenticates_unless_its_keys_are_unknown() {
    for &security in CallBackSecurity::ALL {
        let world = World::new().await;
        let listening = Listening::new(&[LOOPBACK]).await;
        let mut subscribed = subscribe(&world, &listening).await;
        world.host.change_behaviour(|behaviour| behaviour.choices.com_plus.call_back_security = security);
        let outcome = subscribed.publisher.publish().await.remove(0).outcome;
        let refused = listening.subscriber.counts().refused_for(EventRefusal::Authentication);
        match security {
            CallBackSecurity::MachineSigned | CallBackSecurity::Kerberos => {
                outcome.unwrap_err();
                assert_eq!(refused, 1, "{security:?}");
                let last = listening.subscriber.last_refusal().unwrap();
                let named =
                    if security == CallBackSecurity::Kerberos { "service GSS_KERBEROS" } else { "CORP" };
                assert!(last.contains(named), "{security:?}: {last}");
                assert_eq!(listening.subscriber.take(), None);
            }
            _ => {
                outcome.unwrap_or_else(|error| panic!("{security:?}: {error}"));
                assert_eq!(taken(&listening), of_model(&world), "{security:?}");
                // The connection that is kept takes another.
                subscribed.publisher.publish().await.remove(0).outcome.unwrap();
                assert_eq!((refused, listening.subscriber.last_refusal()), (0, None), "{security:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_subscription_that_came_with_one_reference_is_stored() {
    let world = World::new().await;
    let one = InterfaceReferences::One;
    world.host.change_behaviour(|behaviour| behaviour.choices.com_plus.interface_references = one);
    let listening = Listening::new(&[LOOPBACK]).await;
    let mut subscribed = subscribe(&world, &listening).await;
    subscribed.publisher.publish().await.remove(0).outcome.unwrap();
    assert_eq!(taken(&listening), of_model(&world));
    subscribed.system.release(soon()).await.unwrap();
}

#[tokio::test]
async fn stored_subscriptions_are_counted_and_read_in_the_collection_of_a_query() {
    let world = World::new().await;
    let listening = Listening::new(&[LOOPBACK]).await;
    let mut system = subscribe(&world, &listening).await.system;
    for (criteria, expected) in [(query::by_subscription_id(ID), 1), ("Enabled=FALSE".to_owned(), 0)] {
        let prog_id = bstr(prog_id::EVENT_SUBSCRIPTION_COLLECTION);
        let request = QuerySRequest { prog_id, criteria: bstr(&criteria) };
        let mut proxy = system.proxy::<IEventSystem2>(soon()).await.unwrap();
        let stub = proxy.stub(&request).await.unwrap();
        let (_, reply) = proxy.decode(&request, &stub).unwrap();
        let objref = Objref::from_pointer(reply.collection.as_ref().unwrap()).unwrap().into_owned();
        let collection = system.take_returned::<IEventObjectCollection>(&objref, soon()).await.unwrap();
        let mut proxy = system.proxy_of(&collection, soon()).await.unwrap();
        assert_eq!(proxy.call(&GetCountRequest {}).await.unwrap().count, expected);
        if expected == 1 {
            let id = bstr(&format!("{{{ID}}}-{{{0}}}-{{{0}}}", Guid::NULL));
            let request = GetItemRequest { id };
            let stub = proxy.stub(&request).await.unwrap();
            let (_, reply) = proxy.decode(&request, &stub).unwrap();
            let Value::Unknown(Some(pointer)) = &reply.item.as_ref().unwrap().value else {
                panic!("{reply:?} is no object")
            };
            let objref = Objref::from_pointer(pointer).unwrap().into_owned();
            // It comes as an IEventSubscription, and is asked for more.
            let item = system.take_returned::<IEventSubscription3>(&objref, soon()).await.unwrap();
            let mut proxy = system.proxy_of(&item, soon()).await.unwrap();
            let stored = proxy.call(&GetSubscriptionNameRequest {}).await.unwrap().value;
            assert_eq!(stored, bstr("exporter"));
            system.release_returned(item, soon()).await.unwrap();
        }
        system.keep_alive(soon()).await.unwrap();
        system.release_returned(collection, soon()).await.unwrap();
    }
    system.release(soon()).await.unwrap();
}

#[tokio::test]
async fn calls_of_subscribers_are_among_the_calls_that_the_program_has_sent() {
    let world = World::new().await;
    let listening = Listening::new(&[LOOPBACK]).await;
    let mut subscribed = subscribe(&world, &listening).await;
    let mut session = world.bind(world.exporter, None, rpc::endpoints::mgmt::SYNTAX_ID).await.unwrap();
    let mut server = rpc::endpoints::mgmt::management::Management::new(session.channel(0, soon()));
    let before = server.statistics().await.unwrap();
    assert_eq!(before.calls_out, 0);
    for (events, calls) in [(1, 2 /* resolver */ + 1 /* event */), (2, 2 + 2)] {
        assert!(subscribed.publisher.publish().await.iter().all(|delivery| delivery.outcome.is_ok()));
        let after = server.statistics().await.unwrap();
        assert!(after.calls_out >= calls && after.calls_out <= calls + 1, "{events}: {after:?}");
        // Each of these calls is a packet each way at the least, and so is that of the figures itself.
        let own = events;
        assert!(after.packets_in - before.packets_in >= calls + own, "{after:?}");
        assert!(after.packets_out - before.packets_out >= calls + own, "{after:?}");
    }
}
