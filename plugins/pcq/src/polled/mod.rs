//! One counterset of one host, from reply to reply: which value goes to which series.
//!
//! Names, labels and series are made when a counter or an instance is seen first; a reply that holds what the last
//! one held is then a walk over its bytes and a few pushes a value, without allocations.

mod families;
mod instances;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::HashMap;

use counters::{Exposition, Kind, RawClocks, Selection, Value, Widen32};
use ms_pcq::types::{CounterId, InstanceId, InstanceType};
use ms_pcq::wire::{Block, DataHeader, InstanceValues, RawValue};
use plugin_sdk::{FamilyId, Output, SeriesId};

use self::families::register;
use self::instances::Labelling;

use crate::catalog::Counterset;
use crate::config::Wanted;

/// A counterset that is being polled.
#[derive(Debug)]
pub(crate) struct Polled {
    columns: Vec<Column>,
    labelling: Labelling,
    /// The counters of the last reply, in its order. The columns' places are for these.
    counters: Vec<CounterId>,
    instances: Vec<Instance>,
    by_key: HashMap<Box<[u8]>, usize>,
    /// Places in `instances`, in the order of the last reply.
    order: Vec<usize>,
    /// Counts the replies.
    epoch: u64,
    /// The host's performance clock in the last reply.
    perf_time: u64,
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
    /// The reply that it was in last.
    seen: u64,
    /// By column; empty where nobody wants the instance.
    cells: Box<[Cell]>,
}

impl Instance {
    fn series(&self) -> impl Iterator<Item = SeriesId> {
        self.cells.iter().filter_map(|cell| cell.series)
    }
}

#[derive(Debug, Default)]
struct Cell {
    series: Option<SeriesId>,
    widen: Widen32,
    /// For a family of texts: the text of which a series was offered last.
    text: Option<Box<[u8]>>,
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
        let has_names = counterset.instance_type != InstanceType::SINGLE;
        let columns = families.into_iter().zip(ids).map(|(family, id)| Column {
            family,
            id,
            source: None,
            object_time: None,
            object_freq: None,
        });
        Self {
            columns: columns.collect(),
            labelling: Labelling { by_name: has_names, by_number: has_names && wanted.instance_id },
            counters: Vec::new(),
            instances: Vec::new(),
            by_key: HashMap::new(),
            order: Vec::new(),
            epoch: 0,
            perf_time: 0,
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
        self.begin(header);
        if !block.counters().ids().eq(self.counters.iter().copied()) {
            self.place_columns(block);
        }
        let clocks = RawClocks {
            perf_time: header.perf_time_stamp,
            perf_freq: header.perf_freq,
            object_time: None,
            object_freq: None,
        };
        let mut are_known = true;
        self.scratch.order.clear();
        for (position, instance) in block.instances().enumerate() {
            match self.find(position, &instance) {
                Some(index) => {
                    self.scratch.order.push(index);
                    self.emit_instance(index, instance, clocks, output);
                }
                None => are_known = false,
            }
        }
        // Who has gone makes room first: who comes may have the same name.
        let have_gone = self.retire_absent(output);
        if !are_known || have_gone {
            self.scratch.order.clear();
            for instance in block.instances() {
                let known = self.find_by_key(&instance);
                let Some(index) = known.or_else(|| self.add(&instance, selection, output)) else { break };
                self.scratch.order.push(index);
                self.emit_instance(index, instance, clocks, output);
            }
        }
        std::mem::swap(&mut self.order, &mut self.scratch.order);
    }

    /// Begins a reply. A host whose clock has gone back was started anew, and its counters with it.
    fn begin(&mut self, header: &DataHeader) {
        self.epoch += 1;
        let before = std::mem::replace(&mut self.perf_time, header.perf_time_stamp);
        if header.perf_time_stamp < before {
            let cells = self.instances.iter_mut().flat_map(|instance| &mut instance.cells);
            cells.for_each(|cell| cell.widen = Widen32::new());
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
            let exposition = &column.family.exposition;
            // A text that is as short as a number is one all the same.
            if exposition.kind == Kind::Info {
                continue;
            }
            let (Some(series), Some(value)) = (cell.series, at(column.source)) else { continue };
            let clocks = RawClocks {
                object_time: at(column.object_time),
                object_freq: at(column.object_freq),
                ..clocks
            };
            push(output, series, exposition, widened(cell, exposition, value), &clocks);
        }
    }

    /// Ends all series: the counterset has no instance now, or is not wanted any more.
    pub(crate) fn clear(&mut self, output: &mut Output) {
        self.epoch += 1;
        self.retire_absent(output);
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
