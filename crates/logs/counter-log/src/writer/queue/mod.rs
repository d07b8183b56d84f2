//! A bounded queue between a collection and a sink that may be slow, fail or hang.

mod state;
mod writer;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

pub use self::writer::LogWriter;

use self::state::{State, record_bytes};
use crate::{LogSink, Sample, SinkErrorKind};

/// What became of the records of a queue. `taken` = `written` + `dropped` + `waiting`, at any time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogCounts {
    /// Records that were pushed.
    pub taken: u64,
    /// Records that the sink keeps for sure.
    pub written: u64,
    /// Bytes that these took, as far as the sink knows.
    pub bytes: u64,
    /// Records that are lost: the queue was full, or its time to finish was over. Those whose write was in flight then are
    /// among them, though the sink may have kept some.
    pub dropped: u64,
    /// Holes in the log: runs of dropped records, one after the other. It never becomes less, also where a record between two of
    /// them is given up at the end.
    pub gaps: u64,
    /// Records that wait, those in flight among them.
    pub waiting: u64,
    /// Bytes of memory that these take.
    pub waiting_bytes: u64,
    /// Failures of writes and of the end of the log, by kind in the order of [`SinkErrorKind::ALL`].
    pub failures: [u64; SinkErrorKind::ALL.len()],
    /// The text of the last failure, also after the sink has recovered.
    pub last_failure: Option<Arc<str>>,
    /// Why the last attempt to write, or to bring the log to its end, failed; nothing if it did not.
    pub failing: Option<SinkErrorKind>,
    /// Since when a write is in flight.
    pub write_began: Option<Instant>,
    /// Whether the log has ended.
    pub is_finished: bool,
}

/// Limits of a queue, and the pauses of its writer.
#[derive(Clone, Debug)]
pub struct QueueOptions {
    /// How many records wait at most, those in flight among them.
    pub records_max: usize,
    /// How many bytes of memory their samples take at most. One record in flight and one more always fit.
    pub bytes_max: usize,
    /// What it shares with other queues.
    pub memory: Arc<QueueMemory>,
    /// How many records are given to the sink at a time.
    pub batch_records_max: usize,
    /// The pause after a first failure; each further one is twice as long.
    pub pause_min: Duration,
    pub pause_max: Duration,
}

/// 10,000 records and 64 MiB, of memory of its own; pauses from a second to a minute.
impl Default for QueueOptions {
    fn default() -> Self {
        Self {
            records_max: 10_000,
            bytes_max: 64 << 20,
            memory: Arc::new(QueueMemory::new(usize::MAX)),
            batch_records_max: 1_000,
            pause_min: Duration::from_secs(1),
            pause_max: Duration::from_secs(60),
        }
    }
}

/// The side of the collection. Clones are the same queue. When all of them are gone, the log is finished as by
/// [`LogQueue::finish`] with a deadline after the longest pause.
#[derive(Clone, Debug)]
pub struct LogQueue {
    handle: Arc<Handle>,
}

#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
    pause_max: Duration,
}

/// What both sides know.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    memory: Arc<QueueMemory>,
    record_bytes: usize,
    /// There is a record, or the log shall end. Only the writer waits for it.
    pushed: Notify,
    /// The log shall end. Only the writer waits for it, in the middle of a write or a pause.
    finishing: Notify,
    /// Whether the writer is at its end.
    ended: watch::Sender<bool>,
}

/// A queue for records of so many columns, and the writer that empties it into `sink`.
///
/// If the sink fails, records wait within the limits. Then the oldest of those that wait are dropped for new ones: a log goes on
/// to the present when its sink is back, its hole begins where the sink failed, and what it has of the time of the failure is the
/// part that is next to the present. Records in flight are never dropped, but for those of a log that ends while
/// [`QueueOptions::memory`] is short.
pub fn log_queue<S: LogSink>(columns: usize, sink: S, options: &QueueOptions) -> (LogQueue, LogWriter<S>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State::new(columns, options)),
        memory: Arc::clone(&options.memory),
        record_bytes: record_bytes(columns),
        pushed: Notify::new(),
        finishing: Notify::new(),
        ended: watch::Sender::new(false),
    });
    let handle = Arc::new(Handle { shared: Arc::clone(&shared), pause_max: options.pause_max });
    (LogQueue { handle }, LogWriter::new(shared, columns, sink, options))
}

impl LogQueue {
    /// Takes a record. Never waits, and allocates nothing once the queue has had its present length before. If the queue is full,
    /// its oldest record is dropped. Samples above the columns are left out, missing ones are without a value.
    pub fn push(&self, time: Timestamp, samples: impl IntoIterator<Item = Sample>) {
        let shared = &self.handle.shared;
        let bytes_lacking = shared.memory.make_room(shared.record_bytes);
        shared.state().push(time, samples, bytes_lacking);
        shared.pushed.notify_one();
    }

    /// What became of the records so far.
    #[must_use]
    pub fn counts(&self) -> LogCounts {
        self.handle.shared.state().counts()
    }

    /// Ends the log: records that are pushed from now on are dropped, and what waits is written until `deadline`. What is not
    /// written for sure by then is dropped. Returns the final counts. Of two deadlines the earlier one counts.
    pub async fn finish(&self, deadline: Instant) -> LogCounts {
        let mut ended = self.handle.shared.ended.subscribe();
        self.handle.shared.finish_by(deadline);
        // The sender is in `shared`, so that this ends only with the value.
        let _ = ended.wait_for(|ended| *ended).await;
        self.counts()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.finish_by(Instant::now() + self.pause_max);
    }
}

impl Shared {
    /// What a panic of a collection's iterator leaves is put right by the next push.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn finish_by(self: &Arc<Self>, deadline: Instant) {
        self.end_at(deadline);
        self.memory.ends(Arc::downgrade(self));
    }

    fn end_at(&self, deadline: Instant) {
        self.state().finish_by(deadline);
        self.pushed.notify_one();
        self.finishing.notify_one();
    }
}

// Memory that the queues of several logs share.

/// A limit on the records of several queues together. If it is reached, those of logs that end are dropped first, those of the log
/// that has waited longest before others; then each log drops its own. One record of each log that goes on always fits.
#[derive(Debug)]
pub struct QueueMemory {
    bytes_max: usize,
    bytes: AtomicUsize,
    pool: Option<Arc<MemoryPool>>,
    /// Logs that end, in the order in which they were told to. Whoever has this locked may lock the state of such a log, and not
    /// the other way round.
    ending: Mutex<VecDeque<Weak<Shared>>>,
}

impl QueueMemory {
    /// Memory for so many bytes of samples. The lists that these are in have room for at most a quarter more.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self::with(bytes_max, None)
    }

    /// The same, as a part of what a process has.
    #[must_use]
    pub fn of_pool(bytes_max: usize, pool: Arc<MemoryPool>) -> Self {
        pool.members.fetch_add(1, Ordering::Relaxed);
        Self::with(bytes_max, Some(pool))
    }

    fn with(bytes_max: usize, pool: Option<Arc<MemoryPool>>) -> Self {
        Self { bytes_max, bytes: AtomicUsize::new(0), pool, ending: Mutex::default() }
    }

    /// Bytes that are taken.
    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: usize) {
        for all in self.counts() {
            all.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    fn give_back(&self, bytes: usize) {
        for all in self.counts() {
            all.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    fn counts(&self) -> impl Iterator<Item = &AtomicUsize> {
        [&self.bytes].into_iter().chain(self.pool.as_ref().map(|pool| &pool.bytes))
    }

    /// A log is told to end.
    fn ends(&self, log: Weak<Shared>) {
        let mut ending = self.ending.lock();
        ending.retain(|other| other.strong_count() > 0);
        if !ending.iter().any(|other| other.ptr_eq(&log)) {
            ending.push_back(log);
        }
    }

    /// Makes room for so many bytes of a log that goes on. Returns how many bytes it has to drop itself.
    fn make_room(&self, bytes: usize) -> usize {
        if self.bytes_lacking(bytes) == 0 {
            return 0;
        }
        let mut ending = self.ending.lock();
        while let Some(oldest) = ending.front() {
            if let Some(log) = oldest.upgrade() {
                log.state().drop_oldest_bytes(self.bytes_lacking(bytes));
                if self.bytes_lacking(bytes) == 0 {
                    return 0;
                }
                // It has nothing left but records in flight: its writer gives these up.
                log.end_at(Instant::now());
            }
            ending.pop_front();
        }
        self.bytes_lacking(bytes)
    }

    fn bytes_lacking(&self, bytes: usize) -> usize {
        let wanted = self.bytes().saturating_add(bytes);
        let in_pool = self.pool.as_ref().map_or(0, |pool| pool.bytes_lacking(wanted, bytes));
        wanted.saturating_sub(self.bytes_max).max(in_pool)
    }
}

impl Drop for QueueMemory {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.members.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// A limit on the records of all queues of a process, as parts with a [`QueueMemory`] each. Of one half each part has the same
/// share, which no other part takes. The rest is for who comes first. One record of each log that goes on always fits.
#[derive(Debug)]
pub struct MemoryPool {
    bytes_max: usize,
    bytes: AtomicUsize,
    members: AtomicUsize,
}

impl MemoryPool {
    /// Memory for so many bytes of samples.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, bytes: AtomicUsize::new(0), members: AtomicUsize::new(0) }
    }

    /// What a part has to drop that wants so many bytes, some of which are new.
    fn bytes_lacking(&self, wanted: usize, new: usize) -> usize {
        let members = self.members.load(Ordering::Relaxed).max(1);
        let share = self.bytes_max / 2 / members;
        // Above this somebody takes what is a share of another.
        let free_for_all = self.bytes_max - share * (members - 1);
        let all = self.bytes.load(Ordering::Relaxed).saturating_add(new);
        wanted.saturating_sub(share).min(all.saturating_sub(free_for_all))
    }
}

#[cfg(test)]
mod tests;
