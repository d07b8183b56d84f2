//! One collector of performance counters while its set runs.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use counter_log::{Column, LogHeader, Sample};
use counter_poll::Pace;
use counter_poll::paths::{CountersetFrame, Frame};
use counter_types::{Cooked, CounterPath, InstanceIndex, cook};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::bound::{Bound, Slot};
use super::{Paths, is_text, key, raw_sample, time_base, wants};
use crate::counters::{Found, Kinds, Meaning};
use crate::model::{COLUMNS_MAX, CounterCollector, SampleInterval};

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

// Which counters and instances a log has. They are fixed when it begins: later instances are not in it.

/// The columns of a log that begins, and where each has its values.
#[derive(Debug, Default)]
pub(super) struct Expanded {
    /// What is written about them.
    pub(super) columns: Vec<Column>,
    pub(super) slots: Vec<Slot>,
    /// Counters of instances that found no room.
    pub(super) left_out: usize,
    seen: HashSet<(usize, String, u32, String)>,
}

/// Finds the columns of `paths`: each counter of each instance that is there now. A path that names one counter of one instance
/// is a column also while the host does not have it.
pub(super) async fn expand(
    paths: &Paths,
    found: &Found,
    frame: &Frame,
    machine: &str,
    pace: &mut Pace,
) -> Expanded {
    let mut expanded = Expanded::default();
    for (order, (place, path)) in paths.iter().enumerate() {
        let meaning = found.meaning(*place);
        let before = expanded.columns.len();
        if let Some(meaning) = &meaning {
            let frame = frame.of(meaning.path.counterset);
            for counter in &meaning.path.counters {
                expanded.add_counter((order, meaning), *counter, frame, machine, pace).await;
            }
        }
        if expanded.columns.len() == before && !has_wildcard(path) {
            expanded.add_missing((order, path), meaning.as_ref(), machine);
        }
    }
    expanded
}

impl Expanded {
    async fn add_counter(
        &mut self,
        (order, meaning): (usize, &Meaning<'_>),
        counter: usize,
        frame: Option<&CountersetFrame>,
        machine: &str,
        pace: &mut Pace,
    ) {
        let Some(counter) = meaning.counterset.counters.get(counter) else { return };
        if is_text(counter.info.counter_type) {
            return;
        }
        let all = frame.map_or(&[][..], CountersetFrame::instances);
        for (place, instance) in all.iter().enumerate() {
            pace.step(1).await;
            if !wants(meaning.path, instance.as_ref()) {
                continue;
            }
            let clocks = frame.and_then(|frame| frame.clocks(place)).unwrap_or_default();
            let (name, index) =
                instance.as_ref().map_or(("", 0), |instance| (&*instance.name, instance.index));
            let (parent, own) = split(name);
            let counter_type = counter.info.counter_type;
            let column = Column {
                machine: machine.to_owned(),
                object: meaning.counterset.name.text.clone(),
                parent: parent.map(str::to_owned),
                instance: instance.is_some().then(|| own.to_owned()),
                instance_index: index,
                counter: counter.name.clone(),
                counter_type: counter_type.0,
                default_scale: counter.info.default_scale,
                time_base: time_base(counter_type, &clocks),
            };
            let slot = Slot::new(order, instance.as_ref().map(key), &counter.name);
            self.add(meaning.path.counterset, column, slot);
        }
    }

    /// A counter of an instance that is not there.
    fn add_missing(
        &mut self,
        (order, path): (usize, &CounterPath),
        meaning: Option<&Meaning<'_>>,
        machine: &str,
    ) {
        let info = meaning.and_then(|meaning| {
            let counter = *meaning.path.counters.first()?;
            meaning.counterset.counters.get(counter)
        });
        let instance = path.instance.as_ref();
        let index = match instance.and_then(|instance| instance.index) {
            Some(InstanceIndex::Number(number)) => number,
            Some(InstanceIndex::Any) | None => 0,
        };
        let column = Column {
            machine: machine.to_owned(),
            object: path.counterset.clone(),
            parent: instance.and_then(|instance| instance.parent.clone()),
            instance: instance.map(|instance| instance.name.clone()),
            instance_index: index,
            counter: path.counter.clone(),
            counter_type: info.map_or(0, |counter| counter.info.counter_type.0),
            default_scale: info.map_or(0, |counter| counter.info.default_scale),
            time_base: 0,
        };
        let instance = instance.map(|instance| (instance.whole_name().to_lowercase(), index));
        let counter = info.map_or(&*path.counter, |counter| &*counter.name);
        self.add(usize::MAX, column, Slot::new(order, instance, counter));
    }

    fn add(&mut self, counterset: usize, column: Column, slot: Slot) {
        let (name, index) = slot.instance.clone().unwrap_or_default();
        if self.columns.len() >= COLUMNS_MAX {
            self.left_out += 1;
        } else if self.seen.insert((counterset, name, index, column.counter.clone())) {
            self.columns.push(column);
            self.slots.push(slot);
        }
    }
}

fn has_wildcard(path: &CounterPath) -> bool {
    let instance = path.instance.as_ref();
    let is_any = instance.is_some_and(|instance| instance.index == Some(InstanceIndex::Any));
    let name = instance.map(counter_types::InstancePath::whole_name).unwrap_or_default();
    is_any || [name, path.counter.clone()].iter().any(|text| text.contains(['*', '?']))
}

/// Names of instances in [MS-PCQ] have their parent before a slash.
fn split(name: &str) -> (Option<&str>, &str) {
    match name.split_once('/') {
        Some((parent, own)) if !parent.is_empty() && !own.is_empty() => (Some(parent), own),
        _ => (None, name),
    }
}
