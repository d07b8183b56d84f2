//! From the values of a reply to those of series.

use std::collections::HashMap;

use counter_types::aggregate::Share;
use counter_types::{Exposition, Kind, RawClocks, boot_time};
use counters::pcq::types::CounterId;
use counters::pcq::wire::RawValue;

use super::{Cell, Column, CountersetPoller, SeriesIds, SeriesSink};
use crate::reading::{InstanceReading, Reading};
use crate::{Pace, Wanted};

impl<I: SeriesIds> CountersetPoller<I> {
    /// Sends the values of a reply, and ends the series of instances that are not in it any more.
    pub async fn emit<S: SeriesSink<I>>(
        &mut self,
        block: &Reading<'_>,
        clocks: RawClocks,
        wanted: &Wanted,
        output: &mut S,
    ) {
        self.begin(clocks);
        if !block.counter_ids().eq(self.counters.iter().copied()) {
            self.place_columns(block);
        }
        // In most replies nothing has come or gone: then one walk does.
        let mut pace = Pace::default();
        let is_settled = self.top.is_none() && self.emit_known(block, clocks, output, &mut pace).await;
        if !is_settled {
            self.settle(block, clocks, wanted, output, &mut pace).await;
            self.emit_all(block, clocks, output, &mut pace).await;
        }
        if let Some(aggregated) = &mut self.aggregated {
            aggregated.emit(output);
        }
        self.is_interrupted = false;
    }

    /// Sends the values of the instances that are known, and answers whether those are all there are and were.
    async fn emit_known<S: SeriesSink<I>>(
        &mut self,
        block: &Reading<'_>,
        clocks: RawClocks,
        output: &mut S,
        pace: &mut Pace,
    ) -> bool {
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
            pace.step(1 + self.columns.len()).await;
        }
        std::mem::swap(&mut self.order, &mut self.scratch.order);
        let epoch = self.epoch;
        are_known && self.instances.iter().all(|instance| instance.seen == epoch)
    }

    /// Sends the values of all instances that have not sent theirs.
    async fn emit_all<S: SeriesSink<I>>(
        &mut self,
        block: &Reading<'_>,
        clocks: RawClocks,
        output: &mut S,
        pace: &mut Pace,
    ) {
        self.scratch.order.clear();
        for (position, instance) in block.instances().enumerate() {
            if let Some(index) = self.find(position, &instance) {
                self.scratch.order.push(index);
                self.emit_instance(index, instance, clocks, output);
            }
            pace.step(1 + self.columns.len()).await;
        }
        std::mem::swap(&mut self.order, &mut self.scratch.order);
    }

    /// Begins a reply. Where its clocks do not continue the last ones the host was restarted, or another one has its name,
    /// and all counters are new.
    fn begin(&mut self, clocks: RawClocks) {
        let RawClocks { perf_time, perf_freq, time_100ns, .. } = clocks;
        self.epoch += 1;
        let before = std::mem::replace(&mut self.clocks, clocks);
        let boot = || boot_time(perf_time, perf_freq, time_100ns);
        // What falls all the same was reset after the last reply that was sent whole.
        if !std::mem::replace(&mut self.is_interrupted, true) {
            self.anew_since = unix_nanos(before.time_100ns);
        }
        let is_anew = !clocks.continue_from(&before);
        if is_anew {
            self.boot = boot();
            self.anew_since = self.boot.unwrap_or(self.anew_since);
            for instance in &mut self.instances {
                instance.cells.iter_mut().for_each(|cell| cell.widen.begin_anew());
                instance.shares.iter_mut().for_each(Share::begin_anew);
                instance.rank.begin_anew();
            }
        } else if self.boot.is_none() {
            self.boot = boot();
        }
        if let Some(aggregated) = &mut self.aggregated {
            if is_anew {
                aggregated.begin_anew(self.anew_since);
            }
            aggregated.begin();
        }
    }

    /// Finds out where each column's values are. Needed when the provider was exchanged.
    fn place_columns(&mut self, block: &Reading<'_>) {
        self.counters.clear();
        self.counters.extend(block.counter_ids());
        self.is_compared = false;
        let places: HashMap<CounterId, usize> =
            self.counters.iter().enumerate().rev().map(|(place, id)| (*id, place)).collect();
        let place = |id: CounterId| places.get(&id).copied();
        for column in &mut self.columns {
            column.source = place(column.family.source);
            column.object_time = column.family.clock.time.and_then(place);
            column.object_freq = column.family.clock.freq.and_then(place);
        }
        if let Some(top) = &mut self.top {
            top.place = place(top.counter());
        }
    }

    fn emit_instance<S: SeriesSink<I>>(
        &mut self,
        index: usize,
        seen: InstanceReading<'_>,
        clocks: RawClocks,
        output: &mut S,
    ) {
        let epoch = self.epoch;
        let Some(instance) = self.instances.get_mut(index) else { return };
        instance.seen = epoch;
        // Of two that are one to the last character the first counts ([MS-PCQ] <3>).
        let is_shown = std::mem::replace(&mut instance.emitted, epoch) != epoch && !instance.cells.is_empty();
        let is_part = std::mem::replace(&mut instance.added, epoch) != epoch && !instance.shares.is_empty();
        if !is_shown && !is_part {
            return;
        }
        if is_shown && self.columns.iter().any(|column| column.family.exposition.kind == Kind::Info) {
            self.emit_texts(index, &seen, output);
        }
        let raw = &mut self.scratch.raw;
        raw.clear();
        raw.extend(seen.values.map(RawValue::to_u64));
        let at = |place: Option<usize>| place.and_then(|place| raw.get(place).copied().flatten());
        let clocks_of =
            |column: &Column<I>| clocks.with_object(at(column.object_time), at(column.object_freq));
        let Some(instance) = self.instances.get_mut(index) else { return };
        let cells = if is_shown { &mut *instance.cells } else { &mut [] };
        for (column, cell) in self.columns.iter().zip(cells) {
            let exposition = &column.family.exposition;
            // A text that is as short as a number is one all the same.
            if exposition.kind == Kind::Info {
                continue;
            }
            let (Some(series), Some(value)) = (cell.series, at(column.source)) else { continue };
            let (value, start) = counted(cell, exposition, value, self.anew_since);
            push(output, series, exposition, value, &clocks_of(column), start);
        }
        if let Some(aggregated) = self.aggregated.as_mut().filter(|_| is_part) {
            aggregated.add(&self.columns, &mut instance.shares, at, clocks_of);
        }
    }
}

/// Only counters wrap into something wrong; a momentary value is what it is. Answers the value, and since when it
/// counts where that is news, else 0.
fn counted<I: SeriesIds>(
    cell: &mut Cell<I>,
    exposition: &Exposition,
    value: u64,
    anew_since: i64,
) -> (u64, i64) {
    if exposition.kind != Kind::Counter {
        return (value, 0);
    }
    let widened = cell.widen.update(value, exposition.width());
    let is_news = widened.reset && !exposition.is_time_stamp();
    (widened.total, if is_news { anew_since } else { 0 })
}

fn push<I: SeriesIds, S: SeriesSink<I>>(
    output: &mut S,
    series: I::Series,
    exposition: &Exposition,
    value: u64,
    clocks: &RawClocks,
    start_unix_nanos: i64,
) {
    // A clock that stands still measures nothing.
    if let Some(value) = exposition.export(value, clocks) {
        output.push(series, value, start_unix_nanos);
    }
}

/// 100 ns since 1601 in nanoseconds since 1970.
fn unix_nanos(time_100ns: u64) -> i64 {
    let since_1970 = time_100ns.saturating_sub(wire::FileTime::UNIX_EPOCH.0);
    i64::try_from(since_1970.saturating_mul(100)).unwrap_or(i64::MAX)
}
