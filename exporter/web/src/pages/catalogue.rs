//! What a target has, in its source's words: countersets, their counters, and their instances.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Instant;

use series::model::{DisplayRule, Family, FamilyPoints, Point, Snapshot, Value};
use series::pipeline::Store;

use super::Entry;
use crate::page_state::{Collected, Moment};
use targets::{JobStatus, TargetState};

/// The counterset shown for families that have none.
pub(super) const OTHER: &str = "Other";

/// The last collections of all modules of a target.
pub(super) struct Taken(Vec<Module>);

struct Module {
    /// Its place among the modules of the target.
    place: usize,
    snapshot: Arc<Snapshot>,
    moment: Moment,
}

impl Taken {
    pub(super) fn from(entry: &Entry) -> Self {
        let now = Instant::now();
        let moment = |job: &JobStatus| Moment {
            collected: job.ended.unwrap_or(now),
            unix_s: job.last_success_unix_s.unwrap_or_default(),
            interval: entry.interval,
        };
        let moments: Vec<Moment> = entry.read(|status| status.jobs.iter().map(moment).collect());
        let modules = moments.into_iter().enumerate().filter_map(|(module, moment)| {
            Some(Module { place: module, snapshot: Store::snapshot(entry.store(module)?), moment })
        });
        Self(modules.collect())
    }

    /// Sets the time of the collections.
    #[cfg(test)]
    pub(super) fn collected_at(mut self, collected: Instant, unix_s: f64) -> Self {
        for module in &mut self.0 {
            module.moment = Moment { collected, unix_s, ..module.moment };
        }
        self
    }

    /// Every counter that has series, in the order of registration, without the bases of other counters.
    pub(super) fn counters(&self) -> impl Iterator<Item = Counter<'_>> {
        self.with_bases().filter(|counter| counter.rule() != DisplayRule::Base)
    }

    /// The same with the bases.
    pub(super) fn with_bases(&self) -> impl Iterator<Item = Counter<'_>> {
        self.counters_of(|_| true)
    }

    /// Every counter that has series and whose family is wanted, in the order of registration.
    pub(super) fn counters_of(
        &self,
        is_wanted: impl Fn(&Family) -> bool + Copy,
    ) -> impl Iterator<Item = Counter<'_>> {
        self.0.iter().flat_map(move |module| {
            let blocks = module.snapshot.layout().blocks();
            let families = module.snapshot.families().zip(blocks);
            let wanted = families.filter(move |(points, _)| is_wanted(points.family()));
            wanted.filter_map(move |(points, block)| {
                let series = block.chunks().iter().map(|chunk| chunk.len()).sum();
                let origin = Origin::of(points.family());
                (series > 0).then_some(Counter { module, points, series, origin })
            })
        })
    }
}

/// One family of one module.
#[derive(Clone, Copy)]
pub(super) struct Counter<'a> {
    module: &'a Module,
    points: FamilyPoints<'a>,
    pub(super) series: usize,
    pub(super) origin: Origin<'a>,
}

impl<'a> Counter<'a> {
    pub(super) fn family(&self) -> &'a Family {
        self.points.family()
    }

    /// The place of its module among those of the target.
    pub(super) fn module(&self) -> usize {
        self.module.place
    }

    /// How pages compute the shown value.
    pub(super) fn rule(&self) -> DisplayRule {
        self.family().display_rule()
    }

    /// Its series that have a value.
    pub(super) fn points(self) -> impl Iterator<Item = Point<'a>> {
        self.points.points()
    }

    /// The base: the family that its values are divided by.
    pub(super) fn base(&self) -> Option<FamilyPoints<'a>> {
        self.module.snapshot.base_of(self.family())
    }

    /// When its values were collected.
    pub(super) fn moment(&self) -> Moment {
        self.module.moment
    }

    /// A series of it, with the value of its base. For a histogram these are the sum and the number of
    /// observations.
    pub(super) fn collected(&self, point: Point<'a>, base: Option<Value>) -> Collected<'a> {
        let (point, base) = match point.histogram {
            Some(histogram) => {
                (Point { value: Value::F64(histogram.sum), ..point }, Some(Value::U64(histogram.count)))
            }
            None => (point, base),
        };
        Collected { point, base, rule: self.rule(), moment: self.moment() }
    }
}

/// The values of a counter's base, by instance.
pub(super) struct Bases {
    hasher: RandomState,
    values: HashMap<u64, Value>,
}

impl Bases {
    pub(super) fn of(counter: &Counter<'_>) -> Self {
        let hasher = RandomState::new();
        let points = counter.base().into_iter().flat_map(FamilyPoints::points);
        let values = points.map(|point| (hash_labels(&hasher, &point), point.value)).collect();
        Self { hasher, values }
    }

    /// The base's value for the instance of `point`.
    pub(super) fn beside(&self, point: &Point<'_>) -> Option<Value> {
        if self.values.is_empty() {
            None
        } else {
            self.values.get(&hash_labels(&self.hasher, point)).copied()
        }
    }
}

fn hash_labels(hasher: &RandomState, point: &Point<'_>) -> u64 {
    hasher.hash_one(point.labels().collect::<Vec<_>>())
}

/// Where a family comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin<'a> {
    pub(super) object: &'a str,
    pub(super) item: &'a str,
    pub(super) help: &'a str,
}

impl<'a> Origin<'a> {
    pub(super) fn of(family: &'a Family) -> Self {
        let object = if family.counterset.is_empty() { OTHER } else { &family.counterset };
        let item = if family.counter.is_empty() { &family.name } else { &family.counter };
        Self { object, item, help: family.sentence() }
    }
}

/// Whether all series of the target have this label.
pub(super) fn is_common(entry: &TargetState, label: &str) -> bool {
    label == "target" || entry.labels.iter().any(|(common, _)| common == label)
}

/// The instance of a series as a text: its labels without those that all series of the target have.
pub(super) fn instance(point: &Point<'_>, entry: &TargetState) -> String {
    let mut text = String::new();
    for (name, value) in point.labels().filter(|(name, _)| !is_common(entry, name)) {
        // A process and its id are written `svchost:1124`.
        let is_behind_process = name == "process_id" && !text.is_empty();
        if !text.is_empty() {
            text.push_str(if is_behind_process { ":" } else { ", " });
        }
        if !is_behind_process && !matches!(name, "counter_instance" | "process") {
            text.push_str(name);
            text.push('=');
        }
        text.push_str(&value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_says_where_it_comes_from() {
        let family = Family {
            name: "perfmon_processor_information_user_time_seconds".into(),
            counterset: "Processor Information".into(),
            counter: "% User Time".into(),
            help: r"Time, in user mode. \Processor Information(*)\% User Time".into(),
            help_sentence_bytes: 19,
            ..Family::default()
        };
        let expected =
            Origin { object: "Processor Information", item: "% User Time", help: "Time, in user mode." };
        assert_eq!(Origin::of(&family), expected);
        let own = Family { name: "left_out".into(), help: "Instances.".into(), ..Family::default() };
        assert_eq!(Origin::of(&own).object, OTHER);
        assert_eq!(Origin::of(&own).item, "left_out");
    }
}
