//! Which counters and instances a log has. They are fixed when it begins: later instances are not in it.

use std::collections::HashSet;

use counter_log::Column;
use counter_poll::Pace;
use counter_poll::paths::{CountersetFrame, Frame};
use counter_types::{CounterPath, InstanceIndex};

use super::bound::Slot;
use super::{Paths, is_text, key, time_base, wants};
use crate::counters::{Found, Meaning};
use crate::model::COLUMNS_MAX;

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
