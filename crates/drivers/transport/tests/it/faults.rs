use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::time::{Instant, timeout};
use transport::{Direction, FaultPlan, Faulty};

/// The reads of `sent` through `plan`, until the end or silence.
async fn reads(plan: FaultPlan, sent: &[&[u8]]) -> Vec<Vec<u8>> {
    let (near, mut far) = duplex(1024);
    let mut faulty = Faulty::new(near, plan);
    for bytes in sent {
        far.write_all(bytes).await.unwrap();
    }
    drop(far);
    let mut seen = Vec::new();
    let mut buffer = [0; 64];
    while let Ok(Ok(len)) = timeout(Duration::from_secs(60), faulty.read(&mut buffer)).await {
        if len == 0 {
            return seen;
        }
        seen.push(buffer[..len].to_vec());
    }
    seen.push(b"stalled".to_vec());
    seen
}

#[tokio::test(start_paused = true)]
async fn splitting_keeps_the_bytes_and_depends_on_the_seed_alone() {
    let plan = |seed| FaultPlan { seed, split_bytes_max: Some(3), ..FaultPlan::default() };
    let first = reads(plan(1), &[b"abcdefghij"]).await;
    assert_eq!(first.concat(), b"abcdefghij");
    assert!(first.iter().all(|piece| piece.len() <= 3), "{first:?}");
    assert_eq!(first, reads(plan(1), &[b"abcdefghij"]).await);
    assert_ne!(first, reads(plan(2), &[b"abcdefghij"]).await);
}

#[tokio::test(start_paused = true)]
async fn a_delayed_and_coalesced_reader_sees_several_writes_at_once() {
    let plan = FaultPlan { coalesce: true, delay_max: Duration::from_millis(5), ..FaultPlan::default() };
    assert_eq!(reads(plan, &[b"ab", b"cd", b"ef"]).await, [b"abcdef".to_vec()]);
}

#[tokio::test(start_paused = true)]
async fn a_cut_ends_the_stream_behind_exactly_so_many_bytes() {
    let plan = FaultPlan { cut: Some((Direction::Received, 4)), ..FaultPlan::default() };
    assert_eq!(reads(plan, &[b"abcdef"]).await, [b"abcd".to_vec()]);

    let (near, mut far) = duplex(64);
    let mut faulty = Faulty::new(near, FaultPlan { cut: Some((Direction::Sent, 4)), ..FaultPlan::default() });
    let error = faulty.write_all(b"abcdef").await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    drop(faulty);
    let mut arrived = Vec::new();
    far.read_to_end(&mut arrived).await.unwrap();
    assert_eq!(arrived, b"abcd");
}

#[tokio::test(start_paused = true)]
async fn a_corrupted_byte_is_inverted_and_its_neighbours_are_not() {
    let corrupt = Some((Direction::Received, 2));
    let plan = FaultPlan { corrupt, split_bytes_max: Some(2), ..FaultPlan::default() };
    assert_eq!(reads(plan, &[&[1, 2, 3, 4]]).await.concat(), [1, 2, !3, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_stalled_stream_stays_open_and_silent() {
    let plan = FaultPlan { stall: Some((Direction::Received, 2)), ..FaultPlan::default() };
    assert_eq!(reads(plan, &[b"abcd"]).await, [b"ab".to_vec(), b"stalled".to_vec()]);
}

#[tokio::test(start_paused = true)]
async fn delays_pass_by_the_clock_of_tokio() {
    let plan =
        FaultPlan { delay_max: Duration::from_secs(10), split_bytes_max: Some(1), ..FaultPlan::default() };
    let before = Instant::now();
    assert_eq!(reads(plan, &[b"abcd"]).await.concat(), b"abcd");
    assert!(before.elapsed() > Duration::from_secs(1), "{:?}", before.elapsed());
}
