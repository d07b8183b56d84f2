//! One counterset of one host, from reply to reply: which value goes to which series.
//!
//! Names, labels and series are made when a counter or an instance is seen first; a reply that holds what the last
//! one held is then a walk over its bytes and a few pushes a value, without allocations.

use std::collections::HashMap;

use counters::{Exposition, Kind, RawClocks, Selection, Value, Widen32};
use ms_pcq::types::{CounterId, InstanceId, InstanceType};
use ms_pcq::wire::{Block, DataHeader, InstanceValues, RawValue};
use plugin_sdk::{Family, FamilyId, Output, Series, SeriesId, ValueKind};

use crate::catalog::Counterset;
use crate::config::Wanted;
use crate::text;

/// A counterset that is being polled.
#[derive(Debug)]
pub(crate) struct Polled {
    columns: Vec<Column>,
    has_instances: bool,
    has_instance_id: bool,
    /// The counters of the last reply, in its order. The columns' places are for these.
    counters: Vec<CounterId>,
    instances: Vec<Instance>,
    by_key: HashMap<Box<[u8]>, usize>,
    /// Places in `instances`, in the order of the last reply.
    order: Vec<usize>,
    /// Counts the replies.
    epoch: u64,
    scratch: Scratch,
}

/// One family and where in a reply its values stand.
#[derive(Debug)]
struct Column {
    family: counters::Family,
    id: Option<FamilyId>,
    source: Option<usize>,
    object_time: Option<usize>,
    object_freq: Option<usize>,
}

/// One instance that is there.
#[derive(Debug)]
struct Instance {
    id: InstanceId,
    /// The name as it is on the wire.
    name: Box<[u8]>,
    seen: u64,
    /// By column; empty where the instance is not wanted.
    cells: Box<[Cell]>,
}

#[derive(Debug, Default)]
struct Cell {
    series: Option<SeriesId>,
    widen: Widen32,
    /// For a family of texts: the text that the series carries.
    text: Box<[u8]>,
}

/// Buffers that are used again.
#[derive(Debug, Default)]
struct Scratch {
    key: Vec<u8>,
    raw: Vec<Option<u64>>,
    order: Vec<usize>,
}

impl Polled {
    /// Registers the families of the counters that are wanted.
    pub(crate) fn new(counterset: &Counterset, wanted: &Wanted, output: &mut Output) -> Self {
        let name_of = |id: CounterId| {
            let counter = counterset.counters.iter().find(|counter| counter.info.counter_id == id);
            counter.map(|counter| counter.name.as_str())
        };
        let registered: Vec<_> = counterset.counters.iter().map(|counter| counter.info).collect();
        let mut families = counters::plan(&registered, name_of);
        families.retain(|family| wanted.selection.wants_counter(name_of(family.item)));
        let ids = register(counterset, &families, output);
        let columns = families.into_iter().zip(ids).map(|(family, id)| Column {
            family,
            id,
            source: None,
            object_time: None,
            object_freq: None,
        });
        Self {
            columns: columns.collect(),
            has_instances: counterset.instance_type != InstanceType::SINGLE,
            has_instance_id: wanted.instance_id,
            counters: Vec::new(),
            instances: Vec::new(),
            by_key: HashMap::new(),
            order: Vec::new(),
            epoch: 0,
            scratch: Scratch::default(),
        }
    }

    /// The families that the host of the plugin accepted.
    pub(crate) fn families(&self) -> impl Iterator<Item = FamilyId> {
        self.columns.iter().filter_map(|column| column.id)
    }

    /// Sends the values of a block, and ends the series of instances that are not in it any more.
    pub(crate) fn emit(
        &mut self,
        block: &Block<'_>,
        header: &DataHeader,
        selection: &Selection,
        output: &mut Output,
    ) {
        self.epoch += 1;
        if !block.counters().ids().eq(self.counters.iter().copied()) {
            self.place_columns(block);
        }
        let clocks = RawClocks {
            perf_time: header.perf_time_stamp,
            perf_freq: header.perf_freq,
            object_time: None,
            object_freq: None,
        };
        self.scratch.order.clear();
        for (position, instance) in block.instances().enumerate() {
            let index = match self.find(position, &instance) {
                Some(index) => index,
                None => self.add(&instance, selection, output),
            };
            self.scratch.order.push(index);
            self.emit_instance(index, instance, clocks, output);
        }
        std::mem::swap(&mut self.order, &mut self.scratch.order);
        if self.instances.iter().any(|instance| instance.seen != self.epoch) {
            self.retire_absent(output);
        }
    }

    /// Finds out where each column's values stand. Needed when the provider was exchanged.
    fn place_columns(&mut self, block: &Block<'_>) {
        self.counters.clear();
        self.counters.extend(block.counters().ids());
        let place = |id: CounterId| self.counters.iter().position(|counter| *counter == id);
        for column in &mut self.columns {
            column.source = place(column.family.source);
            column.object_time = column.family.clock.time.and_then(place);
            column.object_freq = column.family.clock.freq.and_then(place);
        }
    }

    /// Instances mostly come in the order of the last reply; only where they do not, the key is looked up.
    fn find(&mut self, position: usize, seen: &InstanceValues<'_>) -> Option<usize> {
        let is_it =
            |instance: &Instance| instance.id == seen.instance_id && *instance.name == *seen.name.as_bytes();
        let guess = self.order.get(position).copied();
        if let Some(index) = guess.filter(|index| self.instances.get(*index).is_some_and(is_it)) {
            return Some(index);
        }
        write_key(&mut self.scratch.key, seen.instance_id, seen.name.as_bytes());
        self.by_key.get(self.scratch.key.as_slice()).copied()
    }

    fn add(&mut self, seen: &InstanceValues<'_>, selection: &Selection, output: &mut Output) -> usize {
        let name = seen.name.to_string();
        let is_wanted = !self.has_instances || selection.wants_instance(&name);
        let mut cells: Box<[Cell]> =
            if is_wanted { self.columns.iter().map(|_| Cell::default()).collect() } else { Box::default() };
        let number = seen.instance_id.0.to_string();
        let labels = self.labels(&name, &number);
        let numeric = |column: &&Column| column.family.exposition.kind != Kind::Info;
        let wanted: Vec<Series<'_>> = if is_wanted {
            let families = self.columns.iter().filter(numeric).filter_map(|column| column.id);
            families.map(|family| Series { family, labels: &labels, start_unix_nanos: None }).collect()
        } else {
            Vec::new()
        };
        let ids = output.register_series(&wanted);
        let accepted =
            self.columns.iter().enumerate().filter(|(_, column)| numeric(column) && column.id.is_some());
        for ((index, _), series) in accepted.zip(ids) {
            if let Some(cell) = cells.get_mut(index) {
                cell.series = series;
            }
        }
        let (id, name) = (seen.instance_id, Box::from(seen.name.as_bytes()));
        write_key(&mut self.scratch.key, id, &name);
        let index = self.instances.len();
        self.by_key.insert(self.scratch.key.as_slice().into(), index);
        self.instances.push(Instance { id, name, seen: 0, cells });
        index
    }

    fn labels<'a>(&self, name: &'a str, number: &'a str) -> Vec<(&'a str, &'a str)> {
        let mut labels = Vec::with_capacity(3);
        if self.has_instances {
            labels.push((INSTANCE_LABEL, name));
        }
        if self.has_instances && self.has_instance_id {
            labels.push((INSTANCE_ID_LABEL, number));
        }
        labels
    }

    fn emit_instance(
        &mut self,
        index: usize,
        seen: InstanceValues<'_>,
        clocks: RawClocks,
        output: &mut Output,
    ) {
        let Some(instance) = self.instances.get_mut(index) else { return };
        // Windows does not see to it that instances differ ([MS-PCQ] <3>); of two that are one the first counts.
        if instance.seen == self.epoch || instance.cells.is_empty() {
            instance.seen = self.epoch;
            return;
        }
        instance.seen = self.epoch;
        if self.columns.iter().any(|column| column.family.exposition.kind == Kind::Info) {
            self.emit_texts(index, &seen, output);
        }
        let raw = &mut self.scratch.raw;
        raw.clear();
        raw.extend(seen.values.map(RawValue::to_u64));
        let at = |place: Option<usize>| place.and_then(|place| raw.get(place).copied().flatten());
        let Some(instance) = self.instances.get_mut(index) else { return };
        for (column, cell) in self.columns.iter().zip(&mut instance.cells) {
            let (Some(series), Some(value)) = (cell.series, at(column.source)) else { continue };
            let exposition = &column.family.exposition;
            let clocks = RawClocks {
                object_time: at(column.object_time),
                object_freq: at(column.object_freq),
                ..clocks
            };
            push(output, series, exposition, widened(cell, exposition, value), &clocks);
        }
    }

    /// A text is a label, so a new text is a new series.
    fn emit_texts(&mut self, index: usize, seen: &InstanceValues<'_>, output: &mut Output) {
        for place in 0..self.columns.len() {
            let Some(column) = self.columns.get(place) else { continue };
            let (Some(family), Some(source)) = (column.id, column.source) else { continue };
            if column.family.exposition.kind != Kind::Info {
                continue;
            }
            let Some(value) = seen.values.clone().nth(source) else { continue };
            let bytes = text::bytes_of(&value);
            let Some(cell) = self.instances.get(index).and_then(|instance| instance.cells.get(place)) else {
                continue;
            };
            if cell.series.is_none() || *cell.text != *bytes {
                output.retire(cell.series.as_slice());
                let (name, number) = (seen.name.to_string(), seen.instance_id.0.to_string());
                let told = text::decode(&bytes);
                let mut labels = self.labels(&name, &number);
                labels.push((TEXT_LABEL, &told));
                let series =
                    output.register_series(&[Series { family, labels: &labels, start_unix_nanos: None }]);
                if let Some(cell) =
                    self.instances.get_mut(index).and_then(|instance| instance.cells.get_mut(place))
                {
                    cell.series = series.into_iter().next().flatten();
                    cell.text = bytes.as_ref().into();
                }
            }
            let cell = self.instances.get(index).and_then(|instance| instance.cells.get(place));
            if let Some(series) = cell.and_then(|cell| cell.series) {
                output.push_u64(series, 1);
            }
        }
    }

    fn retire_absent(&mut self, output: &mut Output) {
        let epoch = self.epoch;
        let gone = self.instances.iter().filter(|instance| instance.seen != epoch);
        let series: Vec<SeriesId> =
            gone.flat_map(|instance| instance.cells.iter().filter_map(|cell| cell.series)).collect();
        output.retire(&series);
        self.instances.retain(|instance| instance.seen == epoch);
        self.by_key.clear();
        for (index, instance) in self.instances.iter().enumerate() {
            write_key(&mut self.scratch.key, instance.id, &instance.name);
            self.by_key.insert(self.scratch.key.as_slice().into(), index);
        }
        // The guesses are for places that have moved.
        self.order.clear();
    }

    /// Ends all series: the counterset has no instance now.
    pub(crate) fn clear(&mut self, output: &mut Output) {
        self.epoch += 1;
        self.retire_absent(output);
    }
}

fn register(
    counterset: &Counterset,
    families: &[counters::Family],
    output: &mut Output,
) -> Vec<Option<FamilyId>> {
    let counter_of = |id: CounterId| counterset.counters.iter().find(|counter| counter.info.counter_id == id);
    let origins: Vec<String> = families
        .iter()
        .map(|family| {
            let counter = counter_of(family.item);
            let (name, kind) = counter.map_or(("", counters::CounterType::default()), |counter| {
                (counter.name.as_str(), counter.info.counter_type)
            });
            let instances = if counterset.instance_type == InstanceType::SINGLE { "" } else { "(*)" };
            format!(r"\{}{instances}\{name} [{kind}]", counterset.name)
        })
        .collect();
    let offered: Vec<Family<'_>> = families
        .iter()
        .zip(&origins)
        .map(|(family, origin)| {
            let Exposition { kind, unit, part, .. } = family.exposition;
            let counter = counter_of(family.item);
            Family {
                namespace: "",
                object: &counterset.name,
                item: counter.map_or("", |counter| &counter.name),
                part: part.as_str(),
                kind: kind_of(kind),
                unit: unit.as_str(),
                help: counter.map_or("", |counter| &counter.help),
                origin,
                value: if family.exposition.is_integer() { ValueKind::U64 } else { ValueKind::F64 },
            }
        })
        .collect();
    output.register_families(&offered)
}

const fn kind_of(kind: Kind) -> plugin_sdk::Kind {
    match kind {
        Kind::Counter => plugin_sdk::Kind::Counter,
        Kind::Gauge => plugin_sdk::Kind::Gauge,
        Kind::Info => plugin_sdk::Kind::Info,
        Kind::Unknown => plugin_sdk::Kind::Unknown,
    }
}

/// Only counters wrap into something wrong; a momentary value is what it is.
fn widened(cell: &mut Cell, exposition: &Exposition, value: u64) -> u64 {
    match u32::try_from(value) {
        Ok(value) if exposition.wraps && exposition.kind == Kind::Counter => cell.widen.update(value).total,
        _ => value,
    }
}

fn push(output: &mut Output, series: SeriesId, exposition: &Exposition, value: u64, clocks: &RawClocks) {
    match exposition.export(value, clocks) {
        Some(Value::U64(value)) => output.push_u64(series, value),
        Some(Value::F64(value)) => output.push_f64(series, value),
        // A clock that stands still measures nothing.
        None => {}
    }
}

fn write_key(key: &mut Vec<u8>, id: InstanceId, name: &[u8]) {
    key.clear();
    key.extend_from_slice(&id.0.to_le_bytes());
    key.extend_from_slice(name);
}

const INSTANCE_LABEL: &str = "counter_instance";
const INSTANCE_ID_LABEL: &str = "instance_id";
const TEXT_LABEL: &str = "text";
