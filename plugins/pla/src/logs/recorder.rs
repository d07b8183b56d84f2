//! One collector of performance counters while its set runs.

use std::sync::Arc;
use std::time::Duration;

use counter_log::{LogHeader, Sample};
use counter_poll::Pace;
use counter_poll::paths::Frame;
use counter_types::{Cooked, CounterPath, cook};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::bound::Bound;
use super::columns::expand;
use super::raw_sample;
use crate::counters::{Found, Kinds};
use crate::model::{CounterCollector, SampleInterval};

/// Samples the counters of a collector. It knows the log's columns, and not where the records go.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) collector: Arc<CounterCollector>,
    /// Its counters of this host, with their places among those that are asked for.
    paths: Vec<(usize, CounterPath)>,
    /// Paths of other hosts.
    pub(crate) of_other_hosts: usize,
    last: Option<Duration>,
    /// When it was due first without a log.
    waits_since: Option<Duration>,
    /// The columns of the log that is open.
    open: Option<Bound>,
    row: Vec<Sample>,
    /// Counters of instances for which the newest log has no column.
    pub(crate) without_column: usize,
}

/// What the log of a segment is opened with.
#[derive(Debug)]
pub(crate) struct HeaderContext<'a> {
    /// The machine in the names of columns.
    pub(crate) machine: &'a str,
    /// The time zone of its times.
    pub(crate) zone: &'a TimeZone,
    /// The description of its set; may be empty.
    pub(crate) description: &'a str,
}

impl Recorder {
    /// Nothing was sampled yet.
    pub(crate) const fn new(
        collector: Arc<CounterCollector>,
        paths: Vec<(usize, CounterPath)>,
        of_other_hosts: usize,
    ) -> Self {
        let (last, waits_since, open) = (None, None, None);
        Self { collector, paths, of_other_hosts, last, waits_since, open, row: Vec::new(), without_column: 0 }
    }

    /// One that has sampled nothing yet.
    pub(crate) fn renewed(&self) -> Self {
        Self::new(Arc::clone(&self.collector), self.paths.clone(), self.of_other_hosts)
    }

    /// The paths have other places among those that are asked for.
    pub(crate) fn place(&mut self, paths: Vec<(usize, CounterPath)>) {
        if self.paths != paths {
            self.paths = paths;
            // The places of the values are found again.
            if let Some(bound) = &mut self.open {
                bound.forget();
            }
        }
    }

    /// A run begins: the first sample is due at once.
    pub(crate) fn restart(&mut self) {
        self.last = None;
        self.begin_segment();
    }

    /// A new log begins with the next sample. That comes when it would have come otherwise.
    pub(crate) fn begin_segment(&mut self) {
        (self.open, self.waits_since) = (None, None);
    }

    /// Instances that are there and are not in the log, or not with all of their counters.
    pub(crate) fn left_out(&self) -> u64 {
        self.open.as_ref().map_or(0, |bound| bound.left_out)
    }

    /// Whether it is time for a sample.
    pub(crate) fn is_due(&self, now: Duration) -> bool {
        self.collector.interval.is_due(self.last, now)
    }

    /// Which replies have its values.
    pub(crate) fn needs(&self, found: &Found) -> Kinds {
        let meanings = self.paths.iter().filter_map(|(place, _)| found.meaning(*place));
        meanings.fold(Kinds::default(), |all, meaning| all.or(meaning.needs))
    }

    /// Begins the log if it has not begun: its columns are those of now. It waits for replies that did not come, but not for
    /// ever. Returns what is known of the log then.
    pub(crate) async fn begin(
        &mut self,
        found: &Found,
        frame: &Frame,
        replied: Kinds,
        now: Duration,
        opening: &HeaderContext<'_>,
        pace: &mut Pace,
    ) -> Option<LogHeader> {
        if self.open.is_some() {
            return None;
        }
        let waits_since = *self.waits_since.get_or_insert(now);
        let patience = self
            .collector
            .interval
            .period()
            .map_or(Duration::MAX, |period| period.saturating_mul(INTERVALS_WAITED));
        if !replied.have(self.needs(found)) && now.saturating_sub(waits_since) < patience {
            return None;
        }
        let expanded = expand(&self.paths, found, frame, opening.machine, pace).await;
        if expanded.columns.is_empty() {
            // There is nothing to write: none of its counters is there yet. That is looked for again after the interval.
            if let SampleInterval::Every(_) = self.collector.interval {
                self.last = Some(now);
            }
            return None;
        }
        self.without_column = expanded.left_out;
        self.row = Vec::with_capacity(expanded.columns.len());
        self.open = Some(Bound::new(expanded.slots));
        let (zone, description) = (opening.zone.clone(), opening.description.to_owned());
        Some(LogHeader { columns: expanded.columns, zone, description })
    }

    /// Takes a sample, if it is due and the replies of now have something of it. Returns its time and its values.
    pub(crate) async fn sample(
        &mut self,
        found: &Found,
        frame: &Frame,
        replied: Kinds,
        (now, time): (Duration, Timestamp),
        pace: &mut Pace,
    ) -> Option<(Timestamp, &[Sample])> {
        let needs = self.needs(found);
        let has_reply = replied.version_2 && needs.version_2 || replied.classic && needs.classic;
        if !self.is_due(now) || !has_reply {
            return None;
        }
        let bound = self.open.as_mut()?;
        bound.update(&self.paths, found, frame, pace).await;
        // The columns of a log are not many.
        pace.step(1 + bound.slots_mut().len()).await;
        self.last = Some(now);
        self.row.clear();
        for slot in bound.slots_mut() {
            let is_other = std::mem::take(&mut slot.is_other);
            let Some((counter_type, reading)) = slot.reading(frame, replied) else {
                // As with PDH, the next value has no sample before it.
                slot.older = None;
                self.row.push(Sample::default());
                continue;
            };
            let (value, needs_two) = match cook(counter_type, slot.older.as_ref(), &reading) {
                Cooked::Value(value) => (Some(value), false),
                Cooked::NeedsTwo => (None, true),
                Cooked::Restarted | Cooked::Undefined | Cooked::NoValue => (None, false),
            };
            slot.older = Some(reading);
            // Who reads a log makes values of the numbers in two records, too: one between two instances has none.
            let raw = (!(is_other && needs_two)).then(|| raw_sample(counter_type, &reading));
            self.row.push(Sample { value, raw });
        }
        Some((time, &self.row))
    }
}

/// For replies that do not come when a log begins.
const INTERVALS_WAITED: u32 = 2;
