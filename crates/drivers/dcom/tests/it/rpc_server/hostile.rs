//! Peers that are slow, send too much, or send nonsense. Time is paused: it passes when everybody waits.

use std::time::Duration;

use dcom::rpc_server::{Deadlines, Limits, Options, Refusal, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::{Instant, sleep};

use crate::rpc_server::world::{REPEAT, WEB1, WEB2, bind, bind_and_call, call, dial, read_pdu, server, soon};

const DEADLINES: Deadlines = Deadlines {
    bind_max: Duration::from_secs(10),
    fragment_max: Duration::from_secs(5),
    request_max: Duration::from_secs(30),
    answer_max: Duration::from_secs(7),
    idle_max: Duration::from_secs(600),
};

fn limited(limits: Limits) -> Server {
    server(Options { limits, deadlines: DEADLINES, ..Options::default() })
}

/// Sends the pieces with a pause after each, and says when the server ends the connection and for which reason.
async fn ended(pieces: Vec<Vec<u8>>, pause: Duration) -> (Refusal, Duration) {
    let server = limited(Limits::default());
    let (mut stream, served) = dial(&server, WEB1);
    let begun = Instant::now();
    let sender = tokio::spawn(async move {
        for piece in pieces {
            if stream.write_all(&piece).await.is_err() {
                break;
            }
            sleep(pause).await;
        }
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    });
    served.await.unwrap();
    let after = begun.elapsed();
    sender.abort();
    (reason(&server), after)
}

/// The only reason for which the server ended something.
fn reason(server: &Server) -> Refusal {
    let reasons: Vec<_> = server.counters().refused().filter(|(_, count)| *count > 0).collect();
    match reasons[..] {
        [(reason, 1)] => reason,
        ref other => panic!("{other:?}"),
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_bind_is_ended() {
    assert_eq!(ended(Vec::new(), SECOND).await, (Refusal::SlowBind, DEADLINES.bind_max));
    let (bind, _) = bind_and_call(&[]);
    // The fragment's own deadline is nearer.
    let bytewise = bind.chunks(1).map(<[u8]>::to_vec).collect();
    assert_eq!(ended(bytewise, SECOND).await, (Refusal::SlowRequest, DEADLINES.fragment_max));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_binds_and_makes_no_call_is_ended() {
    let (bind, _) = bind_and_call(&[]);
    assert_eq!(ended(vec![bind], SECOND).await, (Refusal::Idle, DEADLINES.idle_max));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_only_adds_interfaces_counts_as_idle() {
    let (bind, _) = bind_and_call(&[]);
    let mut alter = bind.clone();
    alter[2] = 14; // alter_context
    let pieces = std::iter::once(bind).chain(std::iter::repeat_n(alter, 100)).collect();
    let (reason, after) = ended(pieces, Duration::from_secs(60)).await;
    assert_eq!((reason, after), (Refusal::Idle, DEADLINES.idle_max));
}

#[tokio::test(start_paused = true)]
async fn a_fragment_that_trickles_in_is_given_up() {
    let (bind, call) = bind_and_call(&[7; 100]);
    let pieces = std::iter::once(bind).chain(call.chunks(1).map(<[u8]>::to_vec)).collect();
    // The first byte comes a second after the bind.
    assert_eq!(ended(pieces, SECOND).await, (Refusal::SlowRequest, DEADLINES.fragment_max + SECOND));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_trickles_in_by_whole_fragments_is_given_up() {
    let (bind, call) = bind_and_call(&[7; 200_000]);
    let fragments: Vec<_> = call.chunks(5840).map(<[u8]>::to_vec).collect();
    assert!(fragments.len() > 30);
    let pieces = std::iter::once(bind).chain(fragments).collect();
    assert_eq!(ended(pieces, SECOND).await, (Refusal::SlowRequest, DEADLINES.request_max + SECOND));
}

#[tokio::test(start_paused = true)]
async fn calls_that_overlap_in_the_stream_have_a_deadline_each() {
    let (bind, call) = bind_and_call(&[7; 100]);
    let server = limited(Limits::default());
    let (mut stream, _served) = dial(&server, WEB1);
    stream.write_all(&bind).await.unwrap();
    read_pdu(&mut stream).await;
    // The rest of a call and the beginning of the next arrive together, so that the server is always within one.
    let (begin, rest) = call.split_at(10);
    let joined = [rest, begin].concat();
    stream.write_all(begin).await.unwrap();
    for _ in 0..50 {
        sleep(SECOND).await;
        stream.write_all(&joined).await.unwrap();
        read_pdu(&mut stream).await;
    }
    assert_eq!(server.counters().calls(), 50);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_its_answer_is_ended() {
    let server = limited(Limits::default());
    let (mut stream, served) = dial(&server, WEB1);
    let (bind, call) = bind_and_call(&[7; 100_000]);
    stream.write_all(&bind).await.unwrap();
    read_pdu(&mut stream).await;
    stream.write_all(&call).await.unwrap();
    let begun = Instant::now();
    served.await.unwrap();
    // Its answer's first PDUs fit into the stream; closing it takes as long again at the most.
    assert!((DEADLINES.answer_max..=2 * DEADLINES.answer_max).contains(&begun.elapsed()));
    assert_eq!(reason(&server), Refusal::SlowReader);
}

async fn fault(stream: &mut DuplexStream) -> u32 {
    let pdu = read_pdu(stream).await;
    assert_eq!(pdu[2], 3, "a fault");
    u32::from_le_bytes(pdu[24..28].try_into().unwrap())
}

#[tokio::test]
async fn a_call_above_the_limit_is_answered_with_a_fault() {
    let association = dcerpc::Limits { stub_bytes_max: 10_000, ..Limits::default().association };
    let server = limited(Limits { association, ..Limits::default() });
    let (mut stream, served) = dial(&server, WEB1);
    let (bind, call) = bind_and_call(&[7; 10_001]);
    stream.write_all(&bind).await.unwrap();
    read_pdu(&mut stream).await;
    stream.write_all(&call).await.unwrap();
    assert_eq!(fault(&mut stream).await, dcerpc::FaultStatus::NCA_S_FAULT_REMOTE_NO_MEMORY.0);
    served.await.unwrap();
    assert_eq!(reason(&server), Refusal::TooLarge);
}

#[tokio::test]
async fn an_oversize_fragment_is_refused_by_its_header() {
    let server = limited(Limits { fragment_bytes_max: 1432, ..Limits::default() });
    let (mut stream, served) = dial(&server, WEB1);
    stream.write_all(&[5, 0, 11, 3, 0x10, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0]).await.unwrap();
    served.await.unwrap();
    assert_eq!(reason(&server), Refusal::TooLarge);
}

#[tokio::test]
async fn garbage_ends_the_connection_and_no_other() {
    let server = limited(Limits::default());
    let mut other = bind(dial(&server, WEB2).0, None).await.unwrap();
    let (mut stream, served) = dial(&server, WEB1);
    stream.write_all(b"GET / HTTP/1.1\r\nHost: exporter\r\n\r\n").await.unwrap();
    served.await.unwrap();
    assert_eq!(reason(&server), Refusal::Protocol);
    assert_eq!(other.call(call(REPEAT, b"on"), soon()).await.unwrap(), b"on");
}

#[tokio::test]
async fn unfinished_calls_of_some_peers_leave_a_share_for_each_other_one() {
    let server = limited(Limits { pending_bytes_max: 1_000_000, ..Limits::default() });
    let (first, begun) = bind_and_call(&[7; 100_000]);
    let unfinished = &begun[..begun.len() - 100];
    let mut open = Vec::new();
    for number in 0..20 {
        let peer = if number % 2 == 0 { WEB1 } else { WEB2 };
        let (mut stream, served) = dial(&server, peer);
        stream.write_all(&first).await.unwrap();
        read_pdu(&mut stream).await;
        let _ = stream.write_all(unfinished).await;
        open.push((stream, served));
    }
    // A third has all of its calls answered, be they as long as those.
    let web3 = std::net::IpAddr::from([10, 0, 0, 3]);
    for _ in 0..5 {
        let mut third = bind(dial(&server, web3).0, None).await.unwrap();
        let stub = vec![7; 100_000];
        assert_eq!(third.call(call(REPEAT, &stub), soon()).await.unwrap(), stub);
    }
    let counters = server.counters();
    assert!(
        counters.refused_for(Refusal::PendingBytes) >= 10,
        "{:?}",
        counters.refused().collect::<Vec<_>>()
    );
    // The other two keep theirs, and can end what they began.
    let kept = open.iter().filter(|(_, served)| !served.is_finished()).count();
    assert!((5..20).contains(&kept), "{kept}");
}

#[tokio::test]
async fn connections_of_some_peers_leave_one_for_each_other_one() {
    let server = limited(Limits { connections_max: 8, ..Limits::default() });
    let mut open = Vec::new();
    for peer in [WEB1, WEB1, WEB1, WEB1, WEB1, WEB1, WEB1, WEB1, WEB2, WEB2] {
        open.push(bind(dial(&server, peer).0, None).await.unwrap());
    }
    assert_eq!(
        server.counters().refused_for(Refusal::PeerConnections),
        2,
        "the newest of the first one ended"
    );
    assert_eq!(open[0].call(call(REPEAT, b"on"), soon()).await.unwrap(), b"on", "the oldest stays");
    open[7].call(call(REPEAT, b"on"), soon()).await.unwrap_err();
}
