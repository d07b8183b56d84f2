//! Large replies with several READs in flight.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dcerpc::client::ClientConfig;
use dcerpc::server::IncomingCall;
use host_session::rpc_client::{Association, ErrorKind, NamedPipe, SharedSmbConnection, SmbOptions};
use ssp::Mechanism;
use tokio::time::Instant;
use windows_sim::smb::ServerLimits;

use crate::host::{Answer, Rules};
use crate::rpc_client::calls::{ECHO, REVERSE, SILENCE, bind, call, dial, log_on, pattern, rules, soon};

/// Answers with the number of bytes in the stub.
fn as_long_as_asked(call: &IncomingCall) -> Answer {
    let size = u32::from_le_bytes(*call.stub.first_chunk().unwrap());
    Answer::Response(pattern(usize::try_from(size).unwrap()))
}

fn large_rules() -> Rules {
    Rules::new(ECHO, as_long_as_asked)
}

async fn connected(rules: &Arc<Rules>) -> SharedSmbConnection {
    log_on(dial(rules), SmbOptions::default()).await.unwrap()
}

/// An association without signatures, whose fragments a host can alter.
async fn bind_in_the_clear(smb: &SharedSmbConnection) -> Association<NamedPipe> {
    let pipe = NamedPipe::open(smb, "echo", soon()).await.unwrap();
    Association::bind(pipe, &[ECHO], None, ClientConfig::default(), soon()).await.unwrap()
}

/// Requests a reply of `size` bytes and returns its duration.
async fn timed(association: &mut Association<NamedPipe>, size: u32) -> Duration {
    let begun = Instant::now();
    let reply = association.call(call(REVERSE, &size.to_le_bytes()), soon()).await.unwrap();
    assert!(reply == pattern(usize::try_from(size).unwrap()), "{size} bytes come back as they were sent");
    begun.elapsed()
}

#[tokio::test(start_paused = true)]
async fn fragments_of_a_large_reply_are_read_at_once() {
    for (fragment_bytes_max, size, fragments) in [(4280, 200_000, 48), (1432, 50_000, 37)] {
        let latency = Duration::from_millis(1);
        let rules = Arc::new(Rules { fragment_bytes_max, latency, ..large_rules() });
        let mut association = bind(&connected(&rules).await, Mechanism::Negotiate).await.unwrap();
        let first = timed(&mut association, size).await;
        assert_eq!(rules.frames_on_their_way.load(Ordering::Relaxed), 16);
        let second = timed(&mut association, size).await;
        println!("{size} bytes in {fragments} fragments: {first:?}, then {second:?}");
        // The first fragment, one more if the server is not known yet, then sixteen at a time.
        let windows = Duration::from_millis(fragments / 16 + 1);
        assert!(first <= latency * 3 + windows && second <= latency * 2 + windows, "{first:?}, {second:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_of_any_length_arrives_whole_and_leaves_nothing_behind() {
    let rules = Arc::new(Rules { fragment_bytes_max: 1432, ..large_rules() });
    let mut association = bind(&connected(&rules).await, Mechanism::Ntlm).await.unwrap();
    for size in [1, 1376, 1377, 2752, 2753, 16 * 1376, 17 * 1376, 17 * 1376 + 4, 40_000, 3] {
        timed(&mut association, size).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_writes_slowly_is_waited_for() {
    let pace = Duration::from_millis(300);
    let rules = Arc::new(Rules { fragment_bytes_max: 1432, pace, ..large_rules() });
    let mut association = bind(&connected(&rules).await, Mechanism::Ntlm).await.unwrap();
    for _ in 0..2 {
        assert_eq!(timed(&mut association, 11 * 1376 + 5).await, pace * 11);
    }
}

#[tokio::test]
async fn fragments_that_a_server_hands_out_in_another_order_are_put_right() {
    let alter = |mut messages: Vec<Vec<u8>>| {
        if messages.len() > 2 {
            messages[2..].chunks_mut(5).for_each(<[_]>::reverse);
        }
        messages
    };
    let rules = Arc::new(Rules { fragment_bytes_max: 1432, alter: Box::new(alter), ..large_rules() });
    let mut association = bind(&connected(&rules).await, Mechanism::Negotiate).await.unwrap();
    for size in [60_000, 1000, 30_000] {
        timed(&mut association, size).await;
    }
}

/// Writes the `alloc_hint` that `hint` computes from that of each fragment, its number, and the whole.
fn hints(hint: fn(u32, u32, u32) -> u32) -> impl Fn(Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    const RESPONSE: u8 = 2;
    move |mut messages| {
        let mut whole = None;
        for (number, pdu) in (0..).zip(messages.iter_mut().filter(|pdu| pdu[2] == RESPONSE)) {
            let true_hint = u32::from_le_bytes(*pdu[16..].first_chunk().unwrap());
            let whole = *whole.get_or_insert(true_hint);
            pdu[16..20].copy_from_slice(&hint(true_hint, number, whole).to_le_bytes());
        }
        messages
    }
}

#[tokio::test(start_paused = true)]
async fn wrong_hints_and_ignored_cancels_neither_stop_nor_mix_up_later_calls() {
    type Hint = fn(u32, u32, u32) -> u32;
    let lies: [Hint; 9] = [
        |_, _, _| 0,
        |_, _, _| u32::MAX,
        |_, _, whole| whole,
        |hint, _, _| hint + 100_000,
        |hint, _, _| hint + 1,
        |hint, _, _| hint / 2,
        |hint, _, _| hint.saturating_sub(5000),
        |hint, number, _| if number < 4 { hint } else { 7 },
        |hint, number, _| if number < 4 { hint } else { hint + 50_000 },
    ];
    for (number, lie) in lies.into_iter().enumerate() {
        for ignores_cancel in [false, true] {
            for pace in [Duration::ZERO, Duration::from_millis(1)] {
                let alter = Box::new(hints(lie));
                let mut rules = Rules { fragment_bytes_max: 1432, alter, pace, ..large_rules() };
                rules.smb.ignores_cancel = ignores_cancel;
                let smb = connected(&Arc::new(rules)).await;
                let mut association = bind_in_the_clear(&smb).await;
                for size in [40_000, 4, 5000, 20_000, 8, 40_000, 12] {
                    let time = timed(&mut association, size).await;
                    assert!(time <= pace * 40, "lie {number}, {size} bytes, {time:?}");
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn reads_that_are_left_over_do_not_stand_in_the_way_of_another_pipe() {
    let alter = Box::new(hints(|hint, _, _| hint + 100_000));
    let mut rules = Rules { fragment_bytes_max: 1432, alter, ..large_rules() };
    rules.smb.ignores_cancel = true;
    let smb = connected(&Arc::new(rules)).await;
    let mut first = bind_in_the_clear(&smb).await;
    timed(&mut first, 20_000).await;
    let mut second = bind_in_the_clear(&smb).await;
    for size in [30_000, 4, 30_000] {
        timed(&mut second, size).await;
        timed(&mut first, size).await;
    }
    first.into_transport().close(soon()).await.unwrap();
    timed(&mut second, 9000).await;
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_stops_half_way_ends_at_the_deadline_and_its_reads_with_it() {
    let alter = |mut messages: Vec<Vec<u8>>| {
        messages.truncate(9);
        messages
    };
    let rules = Arc::new(Rules { fragment_bytes_max: 1432, alter: Box::new(alter), ..large_rules() });
    let smb = connected(&rules).await;
    // More than the maximum requests in flight of a connection.
    for _ in 0..8 {
        let mut association = bind(&smb, Mechanism::Ntlm).await.unwrap();
        let begun = Instant::now();
        let deadline = begun + Duration::from_secs(2);
        let asked = 40_000_u32.to_le_bytes();
        let error = association.call(call(REVERSE, &asked), deadline).await.unwrap_err();
        assert_eq!((error.kind(), begun.elapsed()), (ErrorKind::Timeout, Duration::from_secs(2)));
        let refused = association.call(call(REVERSE, &asked), soon()).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Timeout, "the first reason stays");
        let mut other = bind(&smb, Mechanism::Ntlm).await.unwrap();
        timed(&mut other, 8).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_grants_few_credits_is_asked_for_few_reads() {
    for credits_max in [1, 2, 4] {
        let mut rules =
            Rules { fragment_bytes_max: 1432, latency: Duration::from_millis(1), ..large_rules() };
        rules.smb.limits = ServerLimits { credits_max, ..ServerLimits::default() };
        let rules = Arc::new(rules);
        let mut association = bind(&connected(&rules).await, Mechanism::Ntlm).await.unwrap();
        timed(&mut association, 40_000).await;
        let most = usize::from(credits_max - 1).max(1);
        assert_eq!(rules.frames_on_their_way.load(Ordering::Relaxed), most, "of {credits_max} credits");
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_expires_among_overlapping_reads_loses_no_fragment() {
    for written in [4, 12, 25] {
        let rules = Arc::new(Rules {
            fragment_bytes_max: 1432,
            pace: Duration::from_millis(1),
            expires_after_output: AtomicUsize::new(written),
            ..large_rules()
        });
        let mut association = bind(&connected(&rules).await, Mechanism::Ntlm).await.unwrap();
        timed(&mut association, 40_000).await;
        timed(&mut association, 5000).await;
        assert_eq!(rules.logons_accepted(), 3, "in SMB, in RPC, and again in SMB");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_call_after_a_large_reply_ends_at_its_deadline() {
    let smb = connected(&Arc::new(rules())).await;
    let mut association = bind(&smb, Mechanism::Ntlm).await.unwrap();
    association.call(call(REVERSE, &pattern(40_000)), soon()).await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(1);
    let error = association.call(call(SILENCE, &[]), deadline).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout);
}
