//! One collector of a set that runs: what it samples, and the log that this goes to.

use counter_log::SinkErrorKind;
use counter_log::writer::{LogCounts, LogQueue};
use tokio::time::Instant;

use super::open_log::OpenLog;
use super::outage::{Outages, Records, Trouble};
use crate::logs::Recorder;

#[derive(Debug)]
pub(crate) struct ActiveCollector {
    pub(super) recorder: Recorder,
    /// The log of this segment, from its first record on.
    pub(super) log: Option<OpenLog>,
    earlier: Earlier,
    outages: Outages,
}

/// What is counted of a collector besides the log that is open.
#[derive(Debug, Default)]
struct Earlier {
    /// Logs of earlier segments that are not at their end yet.
    finishing: Vec<LogQueue>,
    /// Of those that are at their end; segments are of all logs.
    totals: Totals,
    /// Where the newest one is, for people.
    place: String,
}

/// What became of all records of a collector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Records that are kept for sure.
    pub(crate) written: u64,
    /// Bytes that they took.
    pub(crate) bytes: u64,
    /// Records that are lost.
    pub(crate) dropped: u64,
    /// Holes in the logs: records that are lost, and times in which the host gave nothing.
    pub(crate) gaps: u64,
    /// Records that waited when the collection began, before it took one.
    pub(crate) waiting: u64,
    /// Bytes of memory that these take.
    pub(crate) waiting_bytes: u64,
    /// Logs that were begun.
    pub(crate) segments: u64,
    /// Failed writes by kind, in the order of [`SinkErrorKind::ALL`].
    pub(crate) failures: [u64; SinkErrorKind::ALL.len()],
}

impl ActiveCollector {
    pub(super) fn new(recorder: Recorder) -> Self {
        Self { recorder, log: None, earlier: Earlier::default(), outages: Outages::default() }
    }

    /// The name of the collector.
    pub(crate) fn name(&self) -> &str {
        &self.recorder.collector.name
    }

    /// Its counters that are of other hosts.
    pub(super) const fn counters_elsewhere(&self) -> usize {
        self.recorder.of_other_hosts
    }

    /// Instances that are there and are not in the log that is open.
    pub(crate) fn left_out(&self) -> u64 {
        self.log.as_ref().map_or(0, |_| self.recorder.left_out())
    }

    pub(super) fn begin(&mut self, log: OpenLog) {
        self.earlier.totals.segments += 1;
        self.earlier.place.clone_from(&log.place);
        self.log = Some(log);
    }

    /// Takes the log out, so that it can be closed. It is still counted.
    pub(super) fn take_log(&mut self) -> Option<OpenLog> {
        let log = self.log.take()?;
        self.earlier.totals.gaps += log.unanswered;
        self.earlier.finishing.push(log.queue.clone());
        Some(log)
    }

    /// Goes on with the counts of a collector of its name that was defined otherwise, and whose log is closed.
    pub(super) fn count_on(&mut self, before: &mut [Self]) {
        if let Some(before) = before.iter_mut().find(|before| before.name() == self.name()) {
            self.earlier = std::mem::take(&mut before.earlier);
            self.outages = std::mem::take(&mut before.outages);
        }
    }

    /// What became of all records.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = self.earlier.totals;
        totals.gaps += self.log.as_ref().map_or(0, |log| log.unanswered);
        let open = self.log.iter().map(|log| &log.queue);
        self.earlier.finishing.iter().chain(open).for_each(|queue| totals.add(&queue.counts()));
        totals
    }

    /// Whether records cannot be written now.
    pub(crate) const fn is_failing(&self) -> bool {
        self.outages.is_now()
    }

    /// A collection of the set begins: counts what waits, and forgets logs that are at their end, but for their counts. Says whether
    /// records are written.
    pub(super) fn tidy(&mut self, set: &str, now: Instant) {
        let Earlier { finishing, totals, place } = &mut self.earlier;
        (totals.waiting, totals.waiting_bytes) = (0, 0);
        let (mut trouble, mut has_logs) = (None, false);
        let mut look = |totals: &mut Totals, counts: &LogCounts| {
            totals.waiting += counts.waiting;
            totals.waiting_bytes += counts.waiting_bytes;
            trouble = trouble.take().or_else(|| Trouble::of(counts, now));
            has_logs |= !counts.is_finished;
        };
        finishing.retain(|queue| {
            let counts = queue.counts();
            look(totals, &counts);
            if counts.is_finished {
                totals.add(&counts);
            }
            !counts.is_finished
        });
        if let Some(log) = &self.log {
            look(totals, &log.queue.counts());
        }
        let place = std::mem::take(place);
        let of = (set, &*self.recorder.collector.name, &*place);
        let Totals { written, dropped, .. } = self.totals();
        self.outages.follow(of, Records { written, dropped }, has_logs.then_some(trouble));
        self.earlier.place = place;
    }
}

impl Totals {
    /// Adds what became of the records of one log, but for those that wait.
    fn add(&mut self, counts: &LogCounts) {
        self.written += counts.written;
        self.bytes += counts.bytes;
        self.dropped += counts.dropped;
        self.gaps += counts.gaps;
        self.failures.iter_mut().zip(counts.failures).for_each(|(all, more)| *all += more);
    }
}
