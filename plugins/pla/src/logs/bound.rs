//! Where the values of a log's columns are in the replies, found once for all replies with the same instances.

use std::collections::{HashMap, HashSet};

use counter_poll::Pace;
use counter_poll::paths::{Columns, Frame};
use counter_types::{CounterType, Reading};

use super::{Paths, is_text, key, wants};
use crate::counters::{Found, Kinds, Meaning};

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
    pub(super) older: Option<Reading>,
    /// The number of the instance at the host, as soon as that is known.
    id: Option<Option<u32>>,
    /// Whether another instance has taken the place of the one that was sampled before.
    pub(super) is_other: bool,
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
    /// Instances that are there and have no column, or not for all of their counters.
    pub(super) left_out: u64,
}

/// The places of instances, and their numbers at the host.
type InstanceIndex = HashMap<(String, u32), (usize, Option<u32>)>;

/// What has a column: counterset, place of the instance, and counter.
type WithColumn<'a> = HashSet<(usize, usize, &'a str)>;

impl Slot {
    pub(super) fn new(path: usize, instance: Option<(String, u32)>, counter: &str) -> Self {
        Self {
            path,
            instance,
            counter: counter.to_owned(),
            place: None,
            older: None,
            id: None,
            is_other: false,
        }
    }

    /// It has this number at the host. Another one is another instance, of which no sample is before.
    fn identify(&mut self, id: Option<u32>) {
        if self.id.replace(id).is_some_and(|before| before != id) {
            self.is_other = self.older.take().is_some();
        }
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
        Self { slots, versions: Vec::new(), left_out: 0 }
    }

    pub(super) fn slots_mut(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    /// The paths are others.
    pub(super) fn forget(&mut self) {
        self.versions.clear();
    }

    /// Finds the places again where the instances are others.
    pub(super) async fn update(&mut self, paths: &Paths, found: &Found, frame: &Frame, pace: &mut Pace) {
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
        // By counterset.
        let mut places: HashMap<usize, InstanceIndex> = HashMap::new();
        for counterset in &countersets {
            let all = frame.of(*counterset).map_or(&[][..], |frame| frame.instances());
            let mut by_key = HashMap::with_capacity(all.len());
            for (place, instance) in all.iter().enumerate() {
                let instance = instance.as_ref();
                let number = instance.and_then(|instance| instance.id);
                by_key.insert(instance.map(key).unwrap_or_default(), (place, number));
                pace.step(1).await;
            }
            places.insert(*counterset, by_key);
        }
        let mut with_column = WithColumn::new();
        for slot in &mut self.slots {
            slot.place = None;
            pace.step(1).await;
            let Some(meaning) = meanings.get(slot.path).and_then(Option::as_ref) else { continue };
            let counterset = meaning.path.counterset;
            let counters = &meaning.counterset.counters;
            let Some(counter) = counters.iter().find(|counter| counter.name == slot.counter) else {
                continue;
            };
            let instance = slot.instance.clone().unwrap_or_default();
            let found = places.get(&counterset).and_then(|all| all.get(&instance));
            let Some((instance, id)) = found else { continue };
            slot.identify(*id);
            with_column.insert((counterset, *instance, &counter.name));
            slot.place =
                frame.of(counterset).and_then(|frame| frame.columns(&counter.info)).map(|columns| Place {
                    counterset,
                    instance: *instance,
                    columns,
                    counter_type: counter.info.counter_type,
                    needs: meaning.needs,
                });
        }
        self.left_out = left_out(&meanings, frame, &with_column, pace).await;
        self.versions.clear();
        self.versions.extend(countersets.into_iter().map(|counterset| (counterset, version(counterset))));
    }
}

/// How many instances are wanted and lack a column. Each is counted once.
async fn left_out(
    meanings: &[Option<Meaning<'_>>],
    frame: &Frame,
    with_column: &WithColumn<'_>,
    pace: &mut Pace,
) -> u64 {
    let mut left_out: HashSet<(usize, usize)> = HashSet::new();
    for Meaning { path, counterset, .. } in meanings.iter().flatten() {
        let counters = path.counters.iter().filter_map(|counter| counterset.counters.get(*counter));
        let counters = counters.filter(|counter| !is_text(counter.info.counter_type));
        let instances = frame.of(path.counterset).map_or(&[][..], |frame| frame.instances());
        for (place, instance) in instances.iter().enumerate() {
            pace.step(1 + path.counters.len()).await;
            let lacks_column = |name: &str| !with_column.contains(&(path.counterset, place, name));
            if wants(path, instance.as_ref()) && counters.clone().any(|counter| lacks_column(&counter.name)) {
                left_out.insert((path.counterset, place));
            }
        }
    }
    u64::try_from(left_out.len()).unwrap_or(u64::MAX)
}
