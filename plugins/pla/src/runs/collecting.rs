//! One collector of a set that runs: what it samples, and the log that this goes to.

use std::sync::Arc;

use counter_log::SinkErrorKind;
use log_writer::{LogCounts, LogQueue};

use super::open_log::OpenLog;
use crate::logs::Recorder;

/// A collector.
#[derive(Debug)]
pub(crate) struct Collecting {
    pub(super) recorder: Recorder,
    /// The log of this segment, from its first record on.
    pub(super) log: Option<OpenLog>,
    /// Logs of earlier segments that are not at their end yet.
    finishing: Vec<LogQueue>,
    /// Of those that are.
    ended: Totals,
    /// Logs that were begun.
    segments: u64,
}

/// What became of all records of a collector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Records that are kept for sure.
    pub(crate) written: u64,
    /// Bytes that they took.
    pub(crate) bytes: u64,
    /// Records that are lost.
    pub(crate) dropped: u64,
    /// Holes in the logs.
    pub(crate) gaps: u64,
    /// Records that wait.
    pub(crate) waiting: u64,
    /// Logs that were begun.
    pub(crate) segments: u64,
    /// Failed writes by kind, in the order of [`SinkErrorKind::ALL`].
    pub(crate) failures: [u64; SinkErrorKind::ALL.len()],
    /// The text of the last failure of a log that does not take records now.
    pub(crate) failure: Option<Arc<str>>,
}

impl Collecting {
    pub(super) fn new(recorder: Recorder) -> Self {
        Self { recorder, log: None, finishing: Vec::new(), ended: Totals::default(), segments: 0 }
    }

    /// The name of the collector.
    pub(crate) fn name(&self) -> &str {
        &self.recorder.collector.name
    }

    /// Its counters that are of other hosts.
    pub(super) const fn counters_elsewhere(&self) -> usize {
        self.recorder.of_other_hosts
    }

    /// Instances that are there and are not in the log.
    pub(crate) fn left_out(&self) -> u64 {
        self.recorder.left_out()
    }

    pub(super) fn begin(&mut self, log: OpenLog) {
        self.segments += 1;
        self.log = Some(log);
    }

    /// Takes the log out, so that it can be closed. It is still counted.
    pub(super) fn take_log(&mut self) -> Option<OpenLog> {
        let log = self.log.take()?;
        self.finishing.push(log.queue.clone());
        Some(log)
    }

    /// What became of all records.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = self.ended.clone();
        let open = self.log.iter().map(|log| &log.queue);
        self.finishing.iter().chain(open).for_each(|queue| totals.add(&queue.counts()));
        totals.segments = self.segments;
        totals
    }

    /// Forgets logs that are at their end, but for their counts.
    pub(super) fn tidy(&mut self) {
        let Self { finishing, ended, .. } = self;
        finishing.retain(|queue| {
            let counts = queue.counts();
            if counts.is_finished {
                ended.add(&counts);
            }
            !counts.is_finished
        });
    }
}

impl Totals {
    fn add(&mut self, counts: &LogCounts) {
        self.written += counts.written;
        self.bytes += counts.bytes;
        self.dropped += counts.dropped;
        self.gaps += counts.gaps;
        self.waiting += counts.waiting;
        self.failures.iter_mut().zip(counts.failures).for_each(|(all, more)| *all += more);
        if counts.is_failing && !counts.is_finished {
            self.failure.clone_from(&counts.last_failure);
        }
    }
}
