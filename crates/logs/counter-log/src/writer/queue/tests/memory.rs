//! What queues take of the memory that they share, and give back.

use super::*;

/// Queues that share memory for so many records of one column.
fn sharing(records: usize) -> (Arc<QueueMemory>, QueueOptions) {
    let memory = Arc::new(QueueMemory::new(records * state::record_bytes(1)));
    (Arc::clone(&memory), QueueOptions { memory, ..options(100, 2) })
}

fn waiting(queues: &[LogQueue]) -> Vec<u64> {
    queues.iter().map(|queue| queue.counts().waiting).collect()
}

#[tokio::test(start_paused = true)]
async fn logs_that_end_and_wait_for_a_dead_sink_take_no_more_memory_than_all_may() {
    let (memory, options) = sharing(20);
    let (mut queues, mut endings) = (Vec::new(), Vec::new());
    for segment in 0..10 {
        let (sink, _) = planned(std::iter::repeat_n(Act::Fail(0), 1000));
        let (queue, writer) = log_queue(1, sink, &options);
        tokio::spawn(writer.run());
        push(&queue, [10 * segment]);
        settle().await;
        push(&queue, 10 * segment + 1..10 * segment + 8);
        let ending = queue.clone();
        endings.push(tokio::spawn(async move { ending.finish(in_a_minute()).await }));
        queues.push(queue);
        settle().await;
        let waiting = waiting(&queues);
        assert!(waiting.iter().sum::<u64>() <= 20, "{waiting:?}");
        assert_eq!(
            memory.bytes(),
            usize::try_from(waiting.iter().sum::<u64>()).expect("few") * state::record_bytes(1)
        );
    }
    // The newest ones are whole, those of before have what is left, and the oldest have ended.
    assert_eq!(waiting(&queues), [0, 0, 0, 0, 0, 0, 0, 3, 8, 8]);
    for queue in &queues {
        let counts = queue.counts();
        check_sum(&counts);
        assert_eq!((counts.taken, counts.gaps), (8, u64::from(counts.dropped > 0)));
        assert_eq!(counts.is_finished, counts.waiting == 0);
    }
    advance(Duration::from_secs(60)).await;
    for ending in endings {
        ending.await.expect("no panic");
    }
    assert_eq!(memory.bytes(), 0, "all is given back");
}

#[tokio::test(start_paused = true)]
async fn logs_that_go_on_drop_their_own_records_and_keep_one_when_memory_is_short() {
    let (memory, options) = sharing(4);
    let open = |options: &QueueOptions| log_queue(1, planned([]).0, options);
    let (first, _first_writer) = open(&options);
    let (second, _second_writer) = open(&options);
    push(&first, 0..4);
    push(&second, 0..3);
    push(&first, 4..6);
    assert_eq!(waiting(&[first.clone(), second.clone()]), [3, 1]);
    assert_eq!(memory.bytes(), 4 * state::record_bytes(1));
    check_sum(&first.counts());
    assert_eq!((second.counts().dropped, second.counts().gaps), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn all_parts_of_a_process_have_their_share_and_together_no_more_than_it_has() {
    let records = |bytes: usize| bytes / state::record_bytes(1);
    let pool = Arc::new(MemoryPool::new(40 * state::record_bytes(1)));
    let parts: Vec<_> =
        (0..4).map(|_| Arc::new(QueueMemory::of_pool(usize::MAX, Arc::clone(&pool)))).collect();
    let logs: Vec<_> = parts
        .iter()
        .map(|memory| {
            log_queue(1, planned([]).0, &QueueOptions { memory: Arc::clone(memory), ..options(1_000, 2) })
        })
        .collect();
    let push_to = |part: usize, times: std::ops::Range<i64>| push(&logs[part].0, times);
    let taken = || parts.iter().map(|part| records(part.bytes())).collect::<Vec<_>>();
    // All but the shares of the others, which are a fourth of one half each.
    push_to(0, 0..100);
    assert_eq!(taken(), [25, 0, 0, 0]);
    (1..4).for_each(|part| push_to(part, 0..100));
    assert_eq!(taken(), [25, 5, 5, 5]);
    // Who has more gives back with its next record what is the share of others.
    push_to(0, 100..110);
    assert_eq!(taken(), [10, 5, 5, 5]);
    for (queue, _) in &logs {
        check_sum(&queue.counts());
        let counts = queue.counts();
        assert_eq!(counts.waiting_bytes, counts.waiting * state::record_bytes(1) as u64);
    }
    drop(logs);
    drop(parts);
    let memory = Arc::new(QueueMemory::of_pool(usize::MAX, pool));
    let (queue, _writer) = log_queue(1, planned([]).0, &QueueOptions { memory, ..options(1_000, 2) });
    push(&queue, 0..100);
    assert_eq!(queue.counts().waiting, 40, "there is no other any more");
}

#[test]
fn memory_that_a_dead_sink_needed_is_given_back_when_all_is_written() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let (sink, seen) = planned([Act::Hang]);
    let (queue, writer) = log_queue(1_000, sink, &options(2_000, 1_000));
    runtime.spawn(writer.run());
    let samples = || std::iter::repeat_n(Sample { value: Some(1.0), raw: None }, 1_000);
    let measured = allocation_counter::measure(|| {
        runtime.block_on(async {
            for _ in 0..1_000 {
                queue.push(Timestamp::UNIX_EPOCH, samples());
            }
            settle().await;
            seen.permits.add_permits(1);
            settle().await;
        });
    });
    assert_eq!(queue.counts().written, 1_000);
    assert!(measured.bytes_max > 40 << 20, "{measured:?}");
    assert!(measured.bytes_current < 1 << 20, "{measured:?}");
}
