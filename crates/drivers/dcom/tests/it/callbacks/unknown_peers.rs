//! Callers that are not the target.

use std::future::pending;
use std::time::Duration;

use com::comt::{IComTrackingInfoEvents, OnNewTrackingInfoRequest};
use com::dcom::remote_unknown::{IRemUnknown2, RemReleaseRequest};
use com::dcom::resolver::IObjectExporter;
use dcerpc::{FaultStatus, SyntaxId};
use dcom::callbacks::{EventRefusal, SubscriberLimits};
use dcom::rpc_server::{Deadlines, Incoming, Refusal};
use host_session::rpc_client::Security;
use rpc::Interface;
use rpc::orpc::{ComVersion, OrpcThis, request_stub};
use ssp::{Credentials, Mechanism, Secret};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::time::{Instant, sleep};
use wire::{Guid, Win32Error};

use crate::callbacks::world::{CID, WEB1, WEB2, World, event, event_of, fault, proxy, soon};

#[tokio::test]
async fn another_target_can_neither_resolve_nor_call_an_object() {
    let world = World::new(SubscriberLimits::default());
    let (subscriber, other) = (world.subscribe(WEB1), world.subscribe(WEB2));
    let std = *subscriber.objref().std().unwrap();
    let program = world.resolve(WEB1, &std).await.ipid_rem_unknown;
    let ipid = world.events_ipid(WEB1, &subscriber).await;

    let resolved = world.resolve(WEB2, &std).await;
    assert_eq!((resolved.status, resolved.bindings), (Win32Error::OR_INVALID_OXID, None));
    assert_eq!(resolved.ipid_rem_unknown, Guid::NULL);
    let mut association = world.dial(WEB2, IRemUnknown2::SYNTAX_ID).await.unwrap();
    let mut program = proxy::<IRemUnknown2>(&mut association, program);
    let release = RemReleaseRequest::new(Vec::new()).unwrap();
    let error = program.call(&release).await.unwrap_err();
    assert_eq!(fault::<RemReleaseRequest>(error), FaultStatus::RPC_E_DISCONNECTED);

    // It may have learned the number elsewhere.
    let error = world.call(WEB2, ipid, &event(b"forged")).await.unwrap_err();
    assert_eq!(fault::<OnNewTrackingInfoRequest<'_>>(error), FaultStatus::NCA_S_FAULT_ACCESS_DENIED);
    assert_eq!(subscriber.counts().refused_for(EventRefusal::Address), 1);
    assert_eq!((subscriber.take(), other.take()), (None, None));
}

#[tokio::test]
async fn addresses_of_no_target_cannot_connect() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    assert!(world.dial(WEB2, IObjectExporter::SYNTAX_ID).await.is_err());
    assert_eq!(world.server.counters().refused_for(Refusal::Address), 1);
    let unknown_peers = world.subscribers.unknown_peers();
    assert_eq!((unknown_peers.connections, unknown_peers.last), (1, Some(WEB2)));
    // The target moves.
    let ipid = world.events_ipid(WEB1, &subscriber).await;
    subscriber.set_addresses([WEB2]);
    world.call(WEB2, ipid, &event(b"state")).await.unwrap();
    assert!(world.dial(WEB1, IObjectExporter::SYNTAX_ID).await.is_err());
    drop(subscriber);
    assert!(world.dial(WEB2, IObjectExporter::SYNTAX_ID).await.is_err());
}

#[tokio::test]
async fn a_number_is_of_one_interface_of_one_object_that_is_there() {
    let world = World::new(SubscriberLimits::default());
    let (subscriber, gone) = (world.subscribe(WEB1), world.subscribe(WEB1));
    let gone_ipid = world.events_ipid(WEB1, &gone).await;
    drop(gone);
    let std = *subscriber.objref().std().unwrap();
    let program = world.resolve(WEB1, &std).await.ipid_rem_unknown;
    for ipid in [gone_ipid, program, std.ipid, Guid::NULL, Guid::from_u128(7)] {
        let error = world.call(WEB1, ipid, &event(b"state")).await.unwrap_err();
        assert_eq!(fault::<OnNewTrackingInfoRequest<'_>>(error), FaultStatus::RPC_E_DISCONNECTED);
    }
    let mut association = world.dial(WEB1, IRemUnknown2::SYNTAX_ID).await.unwrap();
    let mut program = proxy::<IRemUnknown2>(&mut association, std.ipid);
    let error = program.call(&RemReleaseRequest::new(Vec::new()).unwrap()).await.unwrap_err();
    assert_eq!(fault::<RemReleaseRequest>(error), FaultStatus::RPC_E_DISCONNECTED);
}

#[tokio::test]
async fn nothing_else_is_served() {
    let world = World::new(SubscriberLimits::default());
    let _subscriber = world.subscribe(WEB1);
    // IRemoteSCMActivator: nobody creates objects here.
    let activator = SyntaxId::new(Guid::from_u128(0x1a0_0000_0000_c000_0000_0000_0046), 0, 0);
    assert!(world.dial(WEB1, activator).await.is_err());
    assert!(world.dial(WEB1, IComTrackingInfoEvents::SYNTAX_ID).await.is_ok());
}

#[tokio::test]
async fn a_caller_whose_keys_are_unknown_is_refused_counted_and_named() {
    let world = World::new(SubscriberLimits::default());
    let (subscriber, other) = (world.subscribe(WEB1), world.subscribe(WEB2));
    for (number, mechanism) in [Mechanism::Ntlm, Mechanism::Negotiate].into_iter().enumerate() {
        let credentials = Credentials::new("CORP", "web1$", Secret::new("made up"));
        let security = Security { mechanism, ..Security::sealed(credentials, "host/exporter") };
        let interface = IComTrackingInfoEvents::SYNTAX_ID;
        match world.dial_with(WEB1, interface, Some(&security)).await {
            // The last message of NTLM alone has no answer.
            Ok(mut association) => {
                let call = dcerpc::client::CallRequest { context_id: 0, opnum: 3, object: None, stub: &[] };
                association.call(call, soon()).await.unwrap_err();
            }
            Err(error) => assert!(error.to_string().contains("access denied"), "{error}"),
        }
        let count = u64::try_from(number).unwrap() + 1;
        assert_eq!(world.server.counters().refused_for(Refusal::Authentication), count);
        let counts = [&subscriber, &other].map(|one| one.counts().refused_for(EventRefusal::Authentication));
        assert_eq!(counts, [count, 0], "it is counted for the target that it came from");
        let last = subscriber.last_refusal().unwrap();
        assert!(last.contains(r"account `CORP\web1$`"), "{last}");
    }
    assert_eq!(world.subscribers.unknown_peers().connections, 0);
}

#[tokio::test]
async fn hosts_that_leave_calls_unfinished_cost_no_event_of_another_host() {
    let world = World::new(SubscriberLimits::default());
    let web3 = std::net::IpAddr::from([10, 0, 0, 3]);
    let greedy = [world.subscribe(WEB1), world.subscribe(WEB2)];
    let quiet = world.subscribe(web3);
    let ipid = world.events_ipid(web3, &quiet).await;
    let request = OnNewTrackingInfoRequest::new(event_of(4_000_000, 7)).unwrap();
    let stub = request_stub(&OrpcThis::new(ComVersion::V5_7, CID), &request).unwrap();
    let mut open = Vec::new();
    for number in 0..32 {
        let peer = if number % 2 == 0 { WEB1 } else { WEB2 };
        let (mut stream, far) = duplex(1 << 20);
        let (server, incoming) = (world.server.clone(), Incoming { stream: Box::new(far), peer, port: 135 });
        tokio::spawn(async move { server.serve(incoming, pending()).await });
        let mut client = dcerpc::client::ClientAssociation::new(Default::default(), None).unwrap();
        client.bind(&[IComTrackingInfoEvents::SYNTAX_ID]).unwrap();
        stream.write_all(&client.poll_transmit().unwrap().bytes).await.unwrap();
        let mut ack = vec![0; 8192];
        let length = stream.read(&mut ack).await.unwrap();
        client.handle_bytes(&ack[..length]).unwrap();
        client.poll_event().unwrap();
        let call = dcerpc::client::CallRequest { context_id: 0, opnum: 3, object: Some(ipid), stub: &stub };
        client.call(call).unwrap();
        let mut pdus: Vec<_> = std::iter::from_fn(|| client.poll_transmit()).collect();
        pdus.pop();
        for pdu in pdus {
            if stream.write_all(&pdu.bytes).await.is_err() {
                break;
            }
        }
        open.push(stream);
    }
    for _ in 0..20 {
        world.call(web3, ipid, &event_of(3_000_000, 1)).await.unwrap();
    }
    assert_eq!(quiet.counts().refused, [0; EventRefusal::ALL.len()]);
    let refused = greedy.each_ref().map(|one| one.counts().refused_for(EventRefusal::Unfinished));
    assert!(refused.iter().sum::<u64>() > 10, "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_sender_delays_no_event_of_another_host_and_is_ended() {
    let world = World::new(SubscriberLimits::default());
    let (slow, quick) = (world.subscribe(WEB1), world.subscribe(WEB2));
    let ipid = world.events_ipid(WEB2, &quick).await;
    let (mut stream, far) = duplex(1024);
    let (server, incoming) =
        (world.server.clone(), Incoming { stream: Box::new(far), peer: WEB1, port: 135 });
    let served = tokio::spawn(async move { server.serve(incoming, pending()).await });
    let begun = Instant::now();
    // The head of a bind that says that much more follows: a byte a second.
    let head = [5, 0, 11, 3, 0x10, 0, 0, 0, 0x00, 0x10, 0, 0, 1, 0, 0, 0];
    let mut sent = 0;
    while !served.is_finished() {
        let byte = *head.get(sent).unwrap_or(&0);
        sent += 1;
        if stream.write_all(&[byte]).await.is_err() {
            break;
        }
        if sent <= 3 {
            let before = Instant::now();
            world.call(WEB2, ipid, &event(b"state")).await.unwrap();
            assert_eq!(before.elapsed(), Duration::ZERO, "nobody waits for the slow one");
        }
        sleep(Duration::from_secs(1)).await;
    }
    served.await.unwrap();
    let Deadlines { bind_max, fragment_max, .. } = Deadlines::default();
    assert!(begun.elapsed() <= bind_max.max(fragment_max) + Duration::from_secs(2), "{:?}", begun.elapsed());
    let refused =
        [Refusal::SlowBind, Refusal::SlowRequest].map(|why| world.server.counters().refused_for(why));
    assert_eq!(refused.iter().sum::<u64>(), 1);
    assert_eq!(slow.counts().refused_for(EventRefusal::Slow), 1);
    assert_eq!(quick.counts().refused_for(EventRefusal::Slow), 0);
    assert_eq!((slow.take(), quick.take().map(|taken| taken.bytes)), (None, Some(event(b"state"))));
    assert_eq!(quick.counts().taken + quick.counts().superseded, 3);
}

#[tokio::test]
async fn an_event_that_claims_four_gigabytes_is_counted_as_malformed() {
    let world = World::new(SubscriberLimits::default());
    let subscriber = world.subscribe(WEB1);
    let ipid = world.events_ipid(WEB1, &subscriber).await;
    world.call(WEB1, ipid, &event(b"before")).await.unwrap();
    let mut association = world.dial(WEB1, IComTrackingInfoEvents::SYNTAX_ID).await.unwrap();
    let this = OrpcThis::new(ComVersion::V5_7, CID);
    let honest = request_stub(&this, &OnNewTrackingInfoRequest::new(&b"eightbyt"[..]).unwrap()).unwrap();
    // The size of the array, and the number before the bytes.
    let sizes = [honest.len() - 16, honest.len() - 12];
    for lies in [&sizes[..], &sizes[..1], &sizes[1..]] {
        let mut stub = honest.clone();
        for &at in lies {
            assert_eq!(stub[at..at + 4], 8_u32.to_le_bytes());
            stub[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        }
        let call = dcerpc::client::CallRequest { context_id: 0, opnum: 3, object: Some(ipid), stub: &stub };
        match association.call(call, soon()).await {
            Err(host_session::rpc_client::Error::Fault {
                status: FaultStatus::RPC_X_BAD_STUB_DATA, ..
            }) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(subscriber.counts().refused_for(EventRefusal::Malformed), 3);
    assert_eq!(subscriber.take().unwrap().bytes, event(b"before"), "the last state stays");
}
