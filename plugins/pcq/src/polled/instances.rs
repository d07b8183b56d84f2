//! Which instances are there, and their series: they are found by place or key, come, and go.

use std::collections::HashSet;

use counters::{Kind, Selection};
use ms_pcq::types::InstanceId;
use ms_pcq::wire::InstanceValues;
use plugin_sdk::{Output, Series, SeriesId};

use super::{Cell, Column, Instance, Polled};

/// Which labels tell the instances of a counterset apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labelling {
    /// Whether they have names.
    pub(super) by_name: bool,
    /// Whether series carry their numbers.
    pub(super) by_number: bool,
}

impl Polled {
    /// Instances mostly come in the order of the last reply; only where they do not, the key is looked up.
    pub(super) fn find(&mut self, position: usize, seen: &InstanceValues<'_>) -> Option<usize> {
        let is_it =
            |instance: &Instance| instance.id == seen.instance_id && *instance.name == *seen.name.as_bytes();
        let guess = self.order.get(position).copied();
        if let Some(index) = guess.filter(|index| self.instances.get(*index).is_some_and(is_it)) {
            return Some(index);
        }
        self.find_by_key(seen)
    }

    pub(super) fn find_by_key(&mut self, seen: &InstanceValues<'_>) -> Option<usize> {
        write_key(&mut self.scratch.key, seen.instance_id, seen.name.as_bytes());
        self.by_key.get(self.scratch.key.as_slice()).copied()
    }

    /// Takes an instance in; nothing where there are too many.
    pub(super) fn add(
        &mut self,
        seen: &InstanceValues<'_>,
        selection: &Selection,
        output: &mut Output,
    ) -> Option<usize> {
        if self.instances.len() >= INSTANCES_MAX {
            return None;
        }
        let name = seen.name.to_string();
        let is_wanted = !self.labelling.by_name || selection.wants_instance(&name);
        let cells = if is_wanted { self.register_instance(seen, &name, output) } else { Box::default() };
        let (id, name) = (seen.instance_id, Box::from(seen.name.as_bytes()));
        write_key(&mut self.scratch.key, id, &name);
        let index = self.instances.len();
        self.by_key.insert(self.scratch.key.as_slice().into(), index);
        self.instances.push(Instance { id, name, seen: 0, cells });
        Some(index)
    }

    /// Registers the series of an instance, but for those of texts, which are not known yet.
    fn register_instance(&self, seen: &InstanceValues<'_>, name: &str, output: &mut Output) -> Box<[Cell]> {
        let number = seen.instance_id.0.to_string();
        let labels = self.labelling.labels(name, &number);
        let is_numeric = |column: &Column| column.family.exposition.kind != Kind::Info;
        let numeric = self.columns.iter().filter(|column| is_numeric(column));
        let offered: Vec<Series<'_>> = numeric
            .filter_map(|column| column.id)
            .map(|family| Series { family, labels: &labels, start_unix_nanos: None })
            .collect();
        let mut ids = output.register_series(&offered).into_iter();
        let cells: Box<[Cell]> = self
            .columns
            .iter()
            .map(|column| match column.id {
                Some(_) if is_numeric(column) => Cell { series: ids.next().flatten(), ..Cell::default() },
                _ => Cell::default(),
            })
            .collect();
        let has_texts = self.columns.iter().any(|column| !is_numeric(column) && column.id.is_some());
        // Whoever sends instances without end gets no memory for what the host of the plugin does not take.
        if has_texts || cells.iter().any(|cell| cell.series.is_some()) { cells } else { Box::default() }
    }

    /// Ends the series of instances that the reply does not hold, and answers whether there are any.
    pub(super) fn retire_absent(&mut self, output: &mut Output) -> bool {
        let epoch = self.epoch;
        if self.instances.iter().all(|instance| instance.seen == epoch) {
            return false;
        }
        let gone = || self.instances.iter().filter(|instance| instance.seen != epoch);
        let series: Vec<SeriesId> = gone().flat_map(Instance::series).collect();
        let names: HashSet<Box<[u8]>> = gone().map(|instance| instance.name.clone()).collect();
        output.retire(&series);
        // One that got no series because another had its name is offered again when that one has gone.
        let had_no_place =
            |instance: &Instance| instance.series().next().is_none() && names.contains(&instance.name);
        self.instances.retain(|instance| instance.seen == epoch && !had_no_place(instance));
        self.by_key.clear();
        for (index, instance) in self.instances.iter().enumerate() {
            write_key(&mut self.scratch.key, instance.id, &instance.name);
            self.by_key.insert(self.scratch.key.as_slice().into(), index);
        }
        // The guesses are for places that have moved.
        self.order.clear();
        true
    }
}

impl Labelling {
    pub(super) fn labels<'a>(self, name: &'a str, number: &'a str) -> Vec<(&'a str, &'a str)> {
        let mut labels = Vec::with_capacity(3);
        if self.by_name {
            labels.push((INSTANCE_LABEL, name));
        }
        if self.by_number {
            labels.push((INSTANCE_ID_LABEL, number));
        }
        labels
    }
}

fn write_key(key: &mut Vec<u8>, id: InstanceId, name: &[u8]) {
    key.clear();
    key.extend_from_slice(&id.0.to_le_bytes());
    key.extend_from_slice(name);
}

/// Instances of one counterset; more are left out. The exporter's limit of series is far below.
const INSTANCES_MAX: usize = 1 << 17;
const INSTANCE_LABEL: &str = "counter_instance";
const INSTANCE_ID_LABEL: &str = "instance_id";
