//! Where the values of a log's columns are in the replies, found once for all replies with the same instances.

use std::collections::HashMap;

use counter_poll::paths::{Columns, Frame};
use counter_types::{CounterType, Reading};

use super::instances::{Paths, is_text, key, wants};
use crate::counters::{Found, Kinds};

/// A column while it is sampled.
#[derive(Debug)]
pub(super) struct Slot {
    /// Which of the log's paths it is of.
    path: usize,
    /// The instance: its name in one case, and how many of that name are before it.
    pub(super) instance: Option<(String, u32)>,
    counter: String,
    /// Where its value is.
    place: Option<Place>,
    /// The sample before.
    pub(super) older: Option<Reading>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    counterset: usize,
    instance: usize,
    columns: Columns,
    counter_type: CounterType,
    needs: Kinds,
}

/// The slots of a log.
#[derive(Debug, Default)]
pub(super) struct Bound {
    slots: Vec<Slot>,
    /// The countersets with the versions that the places are of.
    versions: Vec<(usize, u64)>,
    /// Instances that are there and have no column.
    pub(super) without_column: u64,
}

impl Slot {
    pub(super) fn new(path: usize, instance: Option<(String, u32)>, counter: &str) -> Self {
        Self { path, instance, counter: counter.to_owned(), place: None, older: None }
    }

    /// Its sample, of a reply of now.
    pub(super) fn reading(&self, frame: &Frame, replied: Kinds) -> Option<(CounterType, Reading)> {
        let place = self.place.filter(|place| replied.have(place.needs))?;
        let reading = frame.of(place.counterset)?.reading(place.instance, &place.columns)?;
        Some((place.counter_type, reading))
    }
}

impl Bound {
    pub(super) fn new(slots: Vec<Slot>) -> Self {
        Self { slots, versions: Vec::new(), without_column: 0 }
    }

    pub(super) fn slots_mut(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    /// The paths are others.
    pub(super) fn forget(&mut self) {
        self.versions.clear();
    }

    /// Finds the places again where the instances are others.
    pub(super) fn update(&mut self, paths: &Paths, found: &Found, frame: &Frame) {
        let version =
            |counterset| frame.of(counterset).map_or(0, counter_poll::paths::CountersetFrame::version);
        let is_same = |(counterset, before): &(usize, u64)| version(*counterset) == *before;
        if !self.versions.is_empty() && self.versions.iter().all(is_same) {
            return;
        }
        let meanings: Vec<_> = paths.iter().map(|(place, _)| found.meaning(*place)).collect();
        let mut countersets: Vec<usize> = meanings.iter().flatten().map(|it| it.path.counterset).collect();
        countersets.sort_unstable();
        countersets.dedup();
        // By counterset, the places of the instances.
        let mut places: HashMap<usize, HashMap<(String, u32), usize>> = HashMap::new();
        for counterset in &countersets {
            let all = frame.of(*counterset).map_or(&[][..], |frame| frame.instances());
            let keys = all.iter().map(|instance| instance.as_ref().map(key).unwrap_or_default());
            places.insert(*counterset, keys.zip(0..).collect());
        }
        let mut has_column: HashMap<usize, Vec<bool>> =
            places.iter().map(|(counterset, all)| (*counterset, vec![false; all.len()])).collect();
        for slot in &mut self.slots {
            slot.place = None;
            let Some(meaning) = meanings.get(slot.path).and_then(Option::as_ref) else { continue };
            let counterset = meaning.path.counterset;
            let counters = &meaning.counterset.counters;
            let Some(counter) = counters.iter().find(|counter| counter.name == slot.counter) else {
                continue;
            };
            let instance = slot.instance.clone().unwrap_or_default();
            let Some(instance) = places.get(&counterset).and_then(|all| all.get(&instance)) else { continue };
            if let Some(flag) = has_column.get_mut(&counterset).and_then(|all| all.get_mut(*instance)) {
                *flag = true;
            }
            slot.place =
                frame.of(counterset).and_then(|frame| frame.columns(&counter.info)).map(|columns| Place {
                    counterset,
                    instance: *instance,
                    columns,
                    counter_type: counter.info.counter_type,
                    needs: meaning.needs,
                });
        }
        self.without_column = 0;
        for meaning in meanings.iter().flatten() {
            let counterset = meaning.path.counterset;
            let is_logged = meaning.path.counters.iter().any(|counter| {
                let counter = meaning.counterset.counters.get(*counter);
                counter.is_some_and(|counter| !is_text(counter.info.counter_type))
            });
            let (Some(frame), Some(flags)) = (frame.of(counterset), has_column.get_mut(&counterset)) else {
                continue;
            };
            for (instance, flag) in frame.instances().iter().zip(flags).filter(|_| is_logged) {
                if !*flag && wants(meaning.path, instance.as_ref()) {
                    *flag = true;
                    self.without_column += 1;
                }
            }
        }
        self.versions.clear();
        self.versions.extend(countersets.into_iter().map(|counterset| (counterset, version(counterset))));
    }
}
