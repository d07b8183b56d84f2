//! Where values go in these tests.

use std::collections::BTreeMap;

use counter_poll::registration::Counter;
use counter_poll::{Counterset, FamilyGroup, NewSeries, PolledFamily, SeriesIds, SeriesSink};
use counter_types::Value;

#[derive(Debug)]
pub(crate) struct Indexes;

impl SeriesIds for Indexes {
    type Family = usize;
    type Series = usize;
    type Unlisted = String;
}

/// Keeps what it is told; ids are indexes.
#[derive(Default)]
pub(crate) struct RecordingSink {
    pub(crate) families: Vec<(FamilyGroup, String)>,
    pub(crate) series: Vec<RecordedSeries>,
}

pub(crate) struct RecordedSeries {
    pub(crate) family: usize,
    labels: String,
    value: Option<Value>,
    /// What was said of it last.
    start: Option<i64>,
    pub(crate) is_retired: bool,
}

impl SeriesSink<Indexes> for RecordingSink {
    fn register_families(
        &mut self,
        counterset: &Counterset,
        group: FamilyGroup,
        families: &[PolledFamily],
    ) -> Vec<Option<usize>> {
        let item = |polled: &PolledFamily| {
            let is_it = |counter: &&Counter| counter.info.counter_id == polled.family.item;
            counterset.counters.iter().find(is_it).unwrap().name.clone()
        };
        let first = self.families.len();
        self.families.extend(families.iter().map(|polled| (group, item(polled))));
        (first..self.families.len()).map(Some).collect()
    }

    fn register_series(&mut self, series: &[NewSeries<'_, Indexes>]) -> Vec<Option<usize>> {
        let first = self.series.len();
        self.series.extend(series.iter().map(|new| RecordedSeries {
            family: new.family,
            labels: new.labels.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            value: None,
            start: new.start.map(|start| start.unix_nanos),
            is_retired: false,
        }));
        (first..self.series.len()).map(Some).collect()
    }

    fn push(&mut self, series: usize, value: Value, start_unix_nanos: i64) {
        self.series[series].value = Some(value);
        if start_unix_nanos != 0 {
            self.series[series].start = Some(start_unix_nanos);
        }
    }

    fn retire(&mut self, series: &[usize]) {
        series.iter().for_each(|series| self.series[*series].is_retired = true);
    }
}

impl RecordingSink {
    /// Since when the series of a counter count, by name of counter.
    pub(crate) fn starts(&self) -> BTreeMap<&str, Vec<Option<i64>>> {
        let mut starts: BTreeMap<&str, Vec<Option<i64>>> = BTreeMap::new();
        for one in self.series.iter().filter(|one| !one.is_retired) {
            starts.entry(&self.families[one.family].1).or_default().push(one.start);
        }
        starts
    }

    /// The labels of the series of a counter that have a value.
    pub(crate) fn instances_of(&self, item: &str) -> Vec<&str> {
        let is_it = |one: &&RecordedSeries| {
            !one.is_retired && one.value.is_some() && self.families[one.family].1 == item
        };
        let mut labels: Vec<&str> = self.series.iter().filter(is_it).map(|one| one.labels.as_str()).collect();
        labels.sort_unstable();
        labels
    }
}
