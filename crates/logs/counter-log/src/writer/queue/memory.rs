//! Memory that the queues of several logs share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::time::Instant;

use super::Shared;

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
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn take(&self, bytes: usize) {
        for all in self.counts() {
            all.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    pub(super) fn give_back(&self, bytes: usize) {
        for all in self.counts() {
            all.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    fn counts(&self) -> impl Iterator<Item = &AtomicUsize> {
        [&self.bytes].into_iter().chain(self.pool.as_ref().map(|pool| &pool.bytes))
    }

    /// A log is told to end.
    pub(super) fn ends(&self, log: Weak<Shared>) {
        let mut ending = self.ending.lock();
        ending.retain(|other| other.strong_count() > 0);
        if !ending.iter().any(|other| other.ptr_eq(&log)) {
            ending.push_back(log);
        }
    }

    /// Makes room for so many bytes of a log that goes on. Returns how many bytes it has to drop itself.
    pub(super) fn make_room(&self, bytes: usize) -> usize {
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
