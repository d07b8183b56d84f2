//! The states that a subscriber gets, and what becomes of them.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use com::comt::tracking::{Component, Container, Limits, Process, Visitor, read, write};
use com::comt::{IComTrackingInfoEvents, OnNewTrackingInfoRequest};
use dcerpc::FaultStatus;
use dcom::callbacks::{EventRefusal, SubscriberLimits};
use rpc::orpc::{ComVersion, OrpcThis, request_stub};
use rpc::{Interface, Message};
use tokio::task::JoinSet;
use tokio::time::{Instant, advance};
use wire::HResult;

use crate::callbacks::world::{CID, WEB1, World, event, event_of, fault, proxy, soon};

/// How many components an event lists.
#[derive(Default)]
struct Count(usize);

impl<'a> Visitor<'a> for Count {
    fn component(&mut self, _: Option<&Process<'a>>, _: &Container<'a>, _: &Component<'a>) {
        self.0 += 1;
    }
}

fn state(components: usize) -> Vec<u8> {
    let components = vec![write::Component { in_call: Some(2), ..write::Component::default() }; components];
    let containers = vec![write::Container { components, ..write::Container::default() }];
    let processes = [write::Process { process_id: Some(4711), containers, ..write::Process::default() }];
    write::encode(&processes, &write::Choices::default()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_state_reaches_its_reader_as_the_host_wrote_it() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    assert_eq!(subscriber.take(), None);
    let ipid = world.events_ipid(WEB1, &subscriber).await;
    let sent = state(300);
    assert!(sent.len() > 10_000, "several fragments");
    let at = Instant::now();
    let (called, ()) = tokio::join!(world.call(WEB1, ipid, &sent), subscriber.arrived());
    called.unwrap();
    advance(Duration::from_secs(3)).await;
    let event = subscriber.take().unwrap();
    assert_eq!((&event.bytes, event.received), (&sent, at));
    let mut count = Count::default();
    read(&event.bytes, &Limits::default(), &mut count).unwrap();
    assert_eq!(count.0, 300);
    assert_eq!(subscriber.take(), None, "a state is taken once");
    let counts = subscriber.counts();
    assert_eq!((counts.taken, counts.superseded, counts.last), (1, 0, Some(at)));
}

#[tokio::test]
async fn a_reader_that_comes_late_gets_the_newest_state() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    let ipid = world.events_ipid(WEB1, &subscriber).await;
    let mut association = world.dial(WEB1, IComTrackingInfoEvents::SYNTAX_ID).await.unwrap();
    let mut events = proxy::<IComTrackingInfoEvents>(&mut association, ipid);
    for components in 1..=5 {
        events.call(&OnNewTrackingInfoRequest::new(state(components)).unwrap()).await.unwrap();
    }
    subscriber.arrived().await;
    assert_eq!(subscriber.take().unwrap().bytes, state(5));
    let counts = subscriber.counts();
    assert_eq!((counts.taken, counts.superseded), (1, 4));
}

#[tokio::test]
async fn a_state_that_cannot_be_kept_is_refused_and_the_last_one_stays() {
    let limits = SubscriberLimits { event_bytes_max: 1000, all_bytes_max: 1500 };
    let world = World::new(limits);
    let (first, second) = (world.subscribe(WEB1), world.subscribe(WEB1));
    let ipid = world.events_ipid(WEB1, &first).await;
    world.call(WEB1, ipid, &event_of(1000, 1)).await.unwrap();
    let error = world.call(WEB1, ipid, &event_of(1001, 2)).await.unwrap_err();
    assert_eq!(error.status(), Some(HResult::E_INVALIDARG));
    assert_eq!(first.counts().refused_for(EventRefusal::Size), 1);

    // What one target has and nobody takes is not there for another.
    let other = world.events_ipid(WEB1, &second).await;
    let error = world.call(WEB1, other, &event_of(501, 3)).await.unwrap_err();
    assert_eq!(error.status(), Some(HResult::E_OUTOFMEMORY));
    assert_eq!(second.counts().refused_for(EventRefusal::Memory), 1);
    world.call(WEB1, ipid, &event_of(1000, 4)).await.unwrap();
    assert_eq!(first.take().unwrap().bytes, event_of(1000, 4));
    world.call(WEB1, other, &event_of(501, 3)).await.unwrap();
    world.call(WEB1, ipid, &event_of(999, 5)).await.unwrap();
    drop(first);
    world.call(WEB1, other, &event_of(1000, 6)).await.unwrap();
}

#[tokio::test]
async fn a_call_without_a_state_and_one_that_is_none_are_counted() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    let ipid = world.events_ipid(WEB1, &subscriber).await;
    let mut association = world.dial(WEB1, IComTrackingInfoEvents::SYNTAX_ID).await.unwrap();
    let mut events = proxy::<IComTrackingInfoEvents>(&mut association, ipid);
    let error = events.call(&OnNewTrackingInfoRequest { collection: None }).await.unwrap_err();
    assert_eq!(error.status(), Some(HResult::E_INVALIDARG));
    assert_eq!(subscriber.counts().refused_for(EventRefusal::Empty), 1);

    // A pointer to nothing.
    let this = OrpcThis::new(ComVersion::V5_7, CID);
    let mut stub = request_stub(&this, &OnNewTrackingInfoRequest { collection: None }).unwrap();
    let pointer = stub.len() - 4;
    stub[pointer] = 1;
    let opnum = OnNewTrackingInfoRequest::METHOD.opnum;
    let call = dcerpc::client::CallRequest { context_id: 0, opnum, object: Some(ipid), stub: &stub };
    match association.call(call, soon()).await {
        Err(host_session::rpc_client::Error::Fault { status: FaultStatus::RPC_X_BAD_STUB_DATA, .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(subscriber.counts().refused_for(EventRefusal::Malformed), 1);
    assert_eq!(subscriber.take(), None);
}

#[tokio::test]
async fn what_begins_as_no_collection_fails_the_call_and_is_counted() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    let ipid = world.events_ipid(WEB1, &subscriber).await;
    world.call(WEB1, ipid, &event(b"before")).await.unwrap();
    let mut of_components = event(&[]);
    of_components[52] = 2; // CollectionType
    let objref_standard = [b"MEOW\x01\0\0\0", &[7; 80][..]].concat();
    let cut = event(&[])[..20].to_vec();
    let cases = [b"no event".to_vec(), of_components, objref_standard, cut];
    let count = cases.len();
    for bytes in cases {
        let error = world.call(WEB1, ipid, &bytes).await.unwrap_err();
        assert_eq!(error.status(), Some(HResult::E_INVALIDARG), "{bytes:?}");
    }
    assert_eq!(subscriber.counts().refused_for(EventRefusal::Malformed), u64::try_from(count).unwrap());
    assert_eq!(subscriber.take().unwrap().bytes, event(b"before"), "the last state stays");
}

#[tokio::test]
async fn untaken_events_of_many_targets_leave_a_share_for_each_other_one() {
    let limits = SubscriberLimits { event_bytes_max: 4000, all_bytes_max: 100_000 };
    let world = World::new(limits);
    let subscribers: Vec<_> = (0..50).map(|_| world.subscribe(WEB1)).collect();
    for subscriber in &subscribers[..49] {
        let ipid = world.events_ipid(WEB1, subscriber).await;
        let _ = world.call(WEB1, ipid, &event_of(4000, 7)).await;
    }
    let refused = subscribers
        .iter()
        .map(|subscriber| subscriber.counts().refused_for(EventRefusal::Memory))
        .sum::<u64>();
    assert!(refused > 20, "{refused}: nobody took them");
    let ipid = world.events_ipid(WEB1, &subscribers[49]).await;
    world.call(WEB1, ipid, &event_of(100_000 / 2 / 50, 1)).await.unwrap();
}

#[tokio::test]
async fn a_later_version_of_dcom_is_refused() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    let ipid = world.events_ipid(WEB1, &subscriber).await;
    let mut association = world.dial(WEB1, IComTrackingInfoEvents::SYNTAX_ID).await.unwrap();
    let later = ComVersion { minor: 8, ..ComVersion::V5_7 };
    let channel = association.channel(0, soon());
    let mut events = rpc::orpc::Proxy::<_, IComTrackingInfoEvents>::new(channel, ipid, later, CID);
    let error = events.call(&OnNewTrackingInfoRequest::new(state(1)).unwrap()).await.unwrap_err();
    assert_eq!(fault::<OnNewTrackingInfoRequest<'_>>(error), FaultStatus::RPC_E_VERSION_MISMATCH);
}

#[tokio::test]
async fn many_events_of_ten_hosts_are_taken_or_counted() {
    const HOSTS: u8 = 10;
    const EVENTS: u64 = 50;
    let world = Arc::new(World::new(SubscriberLimits::default()));
    let event = state(120);
    assert!(event.len() > 30_000);
    let mut hosts = JoinSet::new();
    for host in 1..=HOSTS {
        let (world, event) = (Arc::clone(&world), event.clone());
        hosts.spawn(async move {
            let peer = IpAddr::V4(Ipv4Addr::new(10, 0, 1, host));
            let subscriber = Arc::new(world.subscribe(peer));
            let ipid = world.events_ipid(peer, &subscriber).await;
            let reader = Arc::clone(&subscriber);
            let reading = tokio::spawn(async move {
                loop {
                    reader.arrived().await;
                    let _ = reader.take();
                }
            });
            let mut association = world.dial(peer, IComTrackingInfoEvents::SYNTAX_ID).await.unwrap();
            let mut events = proxy::<IComTrackingInfoEvents>(&mut association, ipid);
            for _ in 0..EVENTS {
                events.call(&OnNewTrackingInfoRequest::new(&event[..]).unwrap()).await.unwrap();
            }
            reading.abort();
            let _ = reading.await;
            let _ = subscriber.take();
            subscriber.counts()
        });
    }
    while let Some(counts) = hosts.join_next().await {
        let counts = counts.unwrap();
        assert_eq!(counts.taken + counts.superseded, EVENTS);
        assert_eq!(counts.refused, [0; EventRefusal::ALL.len()]);
    }
}
