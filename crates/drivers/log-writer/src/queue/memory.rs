//! Memory that the queues of several logs share.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, Weak};

use tokio::time::Instant;

use super::Shared;

/// A limit on the records of several queues together. If it is reached, those of logs that end are dropped first, those of the log
/// that has waited longest before others; then each log drops its own. One record of each log that goes on always fits.
#[derive(Debug)]
pub struct QueueMemory {
    bytes_max: usize,
    bytes: AtomicUsize,
    /// Logs that end, in the order in which they were told to. Whoever has this locked may lock the state of such a log, and not
    /// the other way round.
    ending: Mutex<VecDeque<Weak<Shared>>>,
}

impl QueueMemory {
    /// Memory for so many bytes of samples. The lists that these are in have room for at most a quarter more.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, bytes: AtomicUsize::new(0), ending: Mutex::default() }
    }

    /// Bytes that are taken.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn take(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// A log is told to end.
    pub(super) fn ends(&self, log: Weak<Shared>) {
        let mut ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
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
        let mut ending = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
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
        self.bytes().saturating_add(bytes).saturating_sub(self.bytes_max)
    }
}
