use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Batch, SinkError, SinkErrorKind, Written};
use proptest::prelude::*;
use tokio::sync::Semaphore;
use tokio::time::{advance, sleep};

use super::*;

mod memory;

/// What a sink does with one write.
#[derive(Clone, Copy, Debug)]
enum Act {
    Keep,
    /// Keeps the first so many, and fails.
    Fail(usize),
    /// Keeps the first so many, and says nothing.
    Part(usize),
    /// Does not answer until there is a permit.
    Hang,
}

/// A sink that follows a plan, and keeps all after it.
struct Planned {
    kept: Arc<Mutex<Vec<i64>>>,
    plan: Mutex<VecDeque<Act>>,
    permits: Arc<Semaphore>,
    writes: Arc<AtomicUsize>,
    finishes: Arc<AtomicUsize>,
    finish_failures: usize,
}

/// The side of the test.
struct Seen {
    kept: Arc<Mutex<Vec<i64>>>,
    permits: Arc<Semaphore>,
    writes: Arc<AtomicUsize>,
    finishes: Arc<AtomicUsize>,
}

fn planned(plan: impl IntoIterator<Item = Act>) -> (Planned, Seen) {
    let sink = Planned {
        kept: Arc::default(),
        plan: Mutex::new(plan.into_iter().collect()),
        permits: Arc::new(Semaphore::new(0)),
        writes: Arc::default(),
        finishes: Arc::default(),
        finish_failures: 0,
    };
    let seen = Seen {
        kept: Arc::clone(&sink.kept),
        permits: Arc::clone(&sink.permits),
        writes: Arc::clone(&sink.writes),
        finishes: Arc::clone(&sink.finishes),
    };
    (sink, seen)
}

impl Planned {
    fn keep(&self, batch: &Batch, records: usize) -> Written {
        let seconds = batch.rows().take(records).map(|row| row.time.as_second());
        let mut kept = self.kept.lock();
        let before = kept.len();
        kept.extend(seconds);
        let records = kept.len() - before;
        Written { records, bytes: 10 * records as u64, failure: None }
    }
}

fn failure() -> SinkError {
    SinkError { kind: SinkErrorKind::Full, message: "the disk is full".to_owned() }
}

impl LogSink for Planned {
    async fn write(&mut self, batch: &Batch) -> Written {
        assert!(!batch.is_empty(), "nothing to write");
        self.writes.fetch_add(1, Ordering::Relaxed);
        let act = self.plan.lock().pop_front().unwrap_or(Act::Keep);
        match act {
            Act::Keep => self.keep(batch, usize::MAX),
            Act::Fail(records) => Written { failure: Some(failure()), ..self.keep(batch, records) },
            Act::Part(records) => self.keep(batch, records),
            Act::Hang => {
                self.permits.acquire().await.expect("never closed").forget();
                self.keep(batch, usize::MAX)
            }
        }
    }

    async fn finish(&mut self) -> Result<u64, SinkError> {
        self.finishes.fetch_add(1, Ordering::Relaxed);
        let is_failing = self.finish_failures > 0;
        self.finish_failures = self.finish_failures.saturating_sub(1);
        if is_failing { Err(failure()) } else { Ok(7) }
    }
}

impl Seen {
    fn kept(&self) -> Vec<i64> {
        self.kept.lock().clone()
    }
}

fn options(records_max: usize, batch_records_max: usize) -> QueueOptions {
    QueueOptions { records_max, batch_records_max, ..QueueOptions::default() }
}

fn push(queue: &LogQueue, seconds: impl IntoIterator<Item = i64>) {
    for second in seconds {
        queue.push(
            Timestamp::from_second(second).expect("in range"),
            [Sample { value: Some(1.0), raw: None }],
        );
    }
}

/// Lets all tasks go as far as they can without time.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn check_sum(counts: &LogCounts) {
    assert_eq!(counts.taken, counts.written + counts.dropped + counts.waiting, "{counts:?}");
}

fn in_a_minute() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

#[tokio::test(start_paused = true)]
async fn records_are_written_in_their_order_and_the_log_is_finished() {
    let (sink, seen) = planned([]);
    let (queue, writer) = log_queue(1, sink, &options(100, 3));
    let running = tokio::spawn(writer.run());
    push(&queue, 0..10);
    let counts = queue.finish(in_a_minute()).await;
    running.await.expect("no panic");
    assert_eq!(seen.kept(), (0..10).collect::<Vec<_>>());
    assert_eq!(
        counts,
        LogCounts { taken: 10, written: 10, bytes: 107, is_finished: true, ..LogCounts::default() }
    );
    assert_eq!((seen.writes.load(Ordering::Relaxed), seen.finishes.load(Ordering::Relaxed)), (4, 1));
    push(&queue, [10]);
    let counts = queue.counts();
    assert_eq!((counts.taken, counts.dropped, counts.gaps), (11, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_failing_sink_is_tried_again_after_pauses_that_grow_and_gets_what_it_did_not_keep() {
    let (sink, seen) = planned([Act::Fail(2), Act::Fail(0), Act::Fail(0), Act::Part(1), Act::Part(0)]);
    let (queue, writer) = log_queue(1, sink, &options(100, 100));
    push(&queue, 0..5);
    tokio::spawn(writer.run());
    let mut writes = Vec::new();
    for second in 0..12 {
        settle().await;
        writes.push((second, seen.writes.load(Ordering::Relaxed), queue.counts().written));
        check_sum(&queue.counts());
        advance(Duration::from_secs(1)).await;
    }
    writes.dedup_by_key(|(_, writes, _)| *writes);
    // Two were kept, so that the pause is the first one again; a part without a reason is followed by the rest at once.
    assert_eq!(writes, [(0, 1, 2), (1, 2, 2), (3, 3, 2), (7, 5, 3), (8, 6, 5)]);
    assert_eq!(seen.kept(), [0, 1, 2, 3, 4]);
    let counts = queue.counts();
    assert_eq!((counts.failures, counts.failing), ([3, 0, 0, 0, 1], None));
    assert_eq!(counts.last_failure.as_deref(), Some("the log took no record and gave no reason"));
}

#[tokio::test(start_paused = true)]
async fn pauses_do_not_grow_above_the_longest() {
    let (sink, seen) = planned(std::iter::repeat_n(Act::Fail(0), 40));
    let (queue, writer) = log_queue(1, sink, &options(100, 100));
    push(&queue, [0]);
    tokio::spawn(writer.run());
    let begun = Instant::now();
    while queue.counts().written == 0 {
        sleep(Duration::from_millis(500)).await;
    }
    // 1, 2, 4, 8, 16, 32, and then 34 times a minute.
    assert_eq!(begun.elapsed().as_secs(), 63 + 34 * 60);
    assert_eq!(seen.kept(), [0]);
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_drops_its_oldest_records_but_none_in_flight() {
    let (sink, seen) = planned([Act::Hang]);
    let (queue, writer) = log_queue(1, sink, &options(5, 2));
    push(&queue, 0..2);
    tokio::spawn(writer.run());
    settle().await;
    push(&queue, 2..10);
    let counts = queue.counts();
    check_sum(&counts);
    assert_eq!((counts.taken, counts.written, counts.dropped, counts.waiting, counts.gaps), (10, 0, 5, 5, 1));
    assert_eq!(counts.write_began, Some(Instant::now()));
    seen.permits.add_permits(1);
    settle().await;
    assert_eq!(seen.kept(), [0, 1, 7, 8, 9]);
    let counts = queue.counts();
    assert_eq!((counts.written, counts.dropped, counts.waiting, counts.gaps), (5, 5, 0, 1));
    assert_eq!(counts.write_began, None);
}

#[tokio::test(start_paused = true)]
async fn a_second_failure_is_a_second_gap() {
    let (sink, seen) = planned([Act::Hang, Act::Keep, Act::Hang]);
    let (queue, writer) = log_queue(1, sink, &options(2, 1));
    tokio::spawn(writer.run());
    for (first, gaps) in [(0, 1), (10, 2)] {
        push(&queue, [first]);
        settle().await;
        push(&queue, first + 1..first + 5);
        assert_eq!(queue.counts().gaps, gaps);
        seen.permits.add_permits(1);
        settle().await;
    }
    assert_eq!(seen.kept(), [0, 4, 10, 14]);
}

#[tokio::test(start_paused = true)]
async fn bytes_are_a_limit_too_and_one_record_always_fits() {
    let (sink, _) = planned([]);
    let small = QueueOptions { bytes_max: 1, ..options(1000, 1000) };
    let (queue, _writer) = log_queue(100, sink, &small);
    push(&queue, 0..3);
    assert_eq!((queue.counts().waiting, queue.counts().dropped), (1, 2));
    let (sink, _) = planned([]);
    let ten = QueueOptions { bytes_max: 10 * (16 + 100 * size_of::<Sample>()), ..options(1000, 1000) };
    let (queue, _writer) = log_queue(100, sink, &ten);
    push(&queue, 0..30);
    assert_eq!(queue.counts().waiting, 10);
}

#[tokio::test(start_paused = true)]
async fn what_a_hanging_sink_has_not_kept_at_the_deadline_is_one_gap() {
    let (sink, seen) = planned([Act::Hang]);
    let (queue, writer) = log_queue(1, sink, &options(4, 2));
    push(&queue, 0..2);
    let running = tokio::spawn(writer.run());
    settle().await;
    push(&queue, 2..7);
    let begun = Instant::now();
    let counts = queue.finish(begun + Duration::from_secs(9)).await;
    running.await.expect("no panic");
    assert_eq!(begun.elapsed().as_secs(), 9);
    assert_eq!((counts.taken, counts.written, counts.dropped, counts.waiting, counts.gaps), (7, 0, 7, 0, 1));
    assert_eq!((seen.kept(), seen.finishes.load(Ordering::Relaxed)), (Vec::new(), 0));
}

#[tokio::test(start_paused = true)]
async fn an_end_cuts_a_pause_short_and_tries_until_the_deadline() {
    let (sink, seen) = planned(std::iter::repeat_n(Act::Fail(0), 8));
    let (queue, writer) = log_queue(1, sink, &options(10, 10));
    push(&queue, [0]);
    tokio::spawn(writer.run());
    // In the middle of the pause of 64, which is a minute.
    sleep(Duration::from_secs(65)).await;
    assert_eq!(seen.writes.load(Ordering::Relaxed), 7);
    let begun = Instant::now();
    let counts = queue.finish(begun + Duration::from_secs(100)).await;
    assert_eq!((counts.written, counts.dropped), (1, 0));
    assert_eq!(begun.elapsed().as_secs(), 60);
    assert_eq!(seen.kept(), [0]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_log_is_tried_again_too() {
    let (mut sink, seen) = planned([]);
    sink.finish_failures = 2;
    let (queue, writer) = log_queue(1, sink, &options(10, 10));
    tokio::spawn(writer.run());
    let counts = queue.finish(in_a_minute()).await;
    assert_eq!((counts.failures[0], seen.finishes.load(Ordering::Relaxed)), (2, 3));
    assert!(counts.is_finished);
}

#[tokio::test(start_paused = true)]
async fn an_earlier_deadline_counts() {
    let (sink, _) = planned([Act::Hang]);
    let (queue, writer) = log_queue(1, sink, &options(10, 10));
    push(&queue, [0]);
    tokio::spawn(writer.run());
    let begun = Instant::now();
    let other = queue.clone();
    let late = tokio::spawn(async move { other.finish(begun + Duration::from_secs(50)).await });
    settle().await;
    queue.finish(begun + Duration::from_secs(5)).await;
    late.await.expect("no panic");
    assert_eq!(begun.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_is_gone_is_the_end() {
    let (sink, _) = planned([]);
    let (queue, writer) = log_queue(1, sink, &options(10, 10));
    push(&queue, 0..3);
    drop(writer);
    let begun = Instant::now();
    let counts = queue.finish(in_a_minute()).await;
    assert_eq!((counts.dropped, counts.waiting, counts.is_finished), (3, 0, true));
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_nobody_writes_to_any_more_is_finished() {
    let (sink, seen) = planned([Act::Fail(0)]);
    let (queue, writer) = log_queue(1, sink, &options(10, 10));
    let running = tokio::spawn(writer.run());
    push(&queue, 0..3);
    drop(queue);
    running.await.expect("no panic");
    assert_eq!((seen.kept(), seen.finishes.load(Ordering::Relaxed)), (vec![0, 1, 2], 1));
}

#[tokio::test(start_paused = true)]
async fn taking_records_allocates_nothing_once_it_was_as_long() {
    let (sink, seen) = planned([]);
    let (queue, writer) = log_queue(50, sink, &options(100, 100));
    tokio::spawn(writer.run());
    let samples = || std::iter::repeat_n(Sample { value: Some(1.0), raw: None }, 50);
    let mut allocations = 0;
    for round in 0..10 {
        let measured = allocation_counter::measure(|| {
            for _ in 0..20 {
                queue.push(Timestamp::UNIX_EPOCH, samples());
            }
        });
        allocations += if round < 2 { 0 } else { measured.count_total };
        settle().await;
    }
    assert_eq!((allocations, seen.kept().len()), (0, 200));
}

#[test]
fn a_panic_in_the_middle_of_a_record_leaves_the_others_whole() {
    let (sink, _) = planned([]);
    let (queue, mut writer) = log_queue(2, sink, &options(10, 10));
    let sample = |value| Sample { value: Some(value), raw: None };
    queue.push(Timestamp::UNIX_EPOCH, [sample(1.0), sample(2.0)]);
    let broken = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        queue.push(
            Timestamp::UNIX_EPOCH,
            (0..2).map(|column| if column == 0 { sample(9.0) } else { panic!("a bad collection") }),
        );
    }));
    assert!(broken.is_err());
    queue.push(Timestamp::UNIX_EPOCH, [sample(3.0)]);
    let written = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    assert!(written.block_on(writer.next_batch()));
    let rows: Vec<Vec<Sample>> = writer.batch.rows().map(|row| row.samples.to_vec()).collect();
    assert_eq!(rows, [vec![sample(1.0), sample(2.0)], vec![sample(3.0), Sample::default()]]);
    check_sum(&queue.counts());
}

/// What a test does in a step.
#[derive(Clone, Debug)]
enum Step {
    Push(u8),
    Wait(u8),
    Release,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => Just(Act::Keep),
        2 => (0..4_usize).prop_map(Act::Fail),
        2 => (0..4_usize).prop_map(Act::Part),
        2 => Just(Act::Hang),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..6_u8).prop_map(Step::Push),
        3 => (0..20_u8).prop_map(Step::Wait),
        2 => Just(Step::Release),
    ]
}

proptest! {
    #[test]
    fn each_record_is_written_once_and_in_order_or_dropped_and_counted(
        plan in prop::collection::vec(act(), 0..12),
        steps in prop::collection::vec(step(), 0..30),
        records_max in 1..9_usize,
        batch_records_max in 1..5_usize,
        memory in 0..12_usize,
        finish_in in 0..100_u64,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        runtime.block_on(async {
            let (sink, seen) = planned(plan);
            let memory = Arc::new(QueueMemory::new(memory * state::record_bytes(1)));
            let options = QueueOptions { memory: Arc::clone(&memory), ..options(records_max, batch_records_max) };
            let (queue, writer) = log_queue(1, sink, &options);
            let running = tokio::spawn(writer.run());
            let mut next = 0;
            for step in steps {
                match step {
                    Step::Push(records) => {
                        push(&queue, next..next + i64::from(records));
                        next += i64::from(records);
                    }
                    Step::Wait(seconds) => sleep(Duration::from_secs(u64::from(seconds))).await,
                    Step::Release => seen.permits.add_permits(1),
                }
                settle().await;
                let counts = queue.counts();
                check_sum(&counts);
                assert!(counts.waiting <= records_max.max(batch_records_max + 1) as u64, "{counts:?}");
                assert_eq!(counts.written, seen.kept().len() as u64);
            }
            let before = queue.counts();
            let counts = queue.finish(Instant::now() + Duration::from_secs(finish_in)).await;
            running.await.expect("no panic");
            check_sum(&counts);
            let kept = seen.kept();
            assert_eq!((counts.taken, counts.waiting), (next.unsigned_abs(), 0));
            assert!(kept.is_sorted_by(|left, right| left < right), "{kept:?}");
            assert_eq!((counts.written, memory.bytes()), (kept.len() as u64, 0));
            let is_kept: Vec<bool> = (0..next).map(|second| kept.binary_search(&second).is_ok()).collect();
            let holes = is_kept.chunk_by(|left, right| left == right).filter(|run| !run[0]).count() as u64;
            // A record in flight that is given up at the end may have stood between two gaps.
            let joined = u64::from(counts.dropped > before.dropped);
            assert!((holes..=holes + joined).contains(&counts.gaps), "{} gaps: {kept:?}", counts.gaps);
        });
    }
}
