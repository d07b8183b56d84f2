//! Which instances are there, and their series: they are found by place or key, come, and go.

use counter_types::aggregate::Scope;
use counter_types::{Choice, Kind, Part, RawClocks, Selection, Value, Widen};
use ms_pcq::types::InstanceId;
use ms_pcq::wire::RawValue;

use super::aggregated::Aggregated;
use super::{Cell, Column, CountersetPoller, Instance, Standing};
use crate::reading::{InstanceReading, Reading};
use crate::sink::{NewSeries, SeriesIds, SeriesSink, Start};
use crate::{Wanted, text};

impl<I: SeriesIds> CountersetPoller<I> {
    /// Instances mostly come in the order of the last reply; only where they do not, the key is looked up.
    pub(super) fn find<V>(&mut self, position: usize, seen: &InstanceReading<'_, V>) -> Option<usize> {
        let is_it =
            |instance: &Instance<I>| instance.id == seen.id && *instance.name == *seen.name.as_bytes();
        let guess = self.order.get(position).copied();
        if let Some(index) = guess.filter(|index| self.instances.get(*index).is_some_and(is_it)) {
            return Some(index);
        }
        self.find_by_key(seen)
    }

    pub(super) fn find_by_key<V>(&mut self, seen: &InstanceReading<'_, V>) -> Option<usize> {
        write_key(&mut self.scratch.key, seen.id, seen.name.as_bytes());
        self.by_key.get(self.scratch.key.as_slice()).copied()
    }

    /// Takes in who has come and lets go who has gone.
    pub(super) fn settle<'a, R: Reading<'a>, S: SeriesSink<I>>(
        &mut self,
        block: &R,
        clocks: RawClocks,
        wanted: &Wanted,
        output: &mut S,
    ) {
        let are_judged_anew = self.notice_parts(block, wanted);
        for (position, seen) in block.instances().enumerate() {
            let is_new = are_judged_anew && Selection::is_total(&seen.name.to_string());
            if let Some(index) = self.find(position, &seen) {
                self.instances[index].seen = if is_new { 0 } else { self.epoch };
            }
        }
        // Who has gone makes room first: who comes may have the same name.
        for name in self.retire_absent(output) {
            self.let_follow(&name, wanted, output);
        }
        let mut newcomers: Vec<InstanceReading<'a, R::Values>> = Vec::new();
        for seen in block.instances() {
            if self.find_by_key(&seen).is_none() {
                newcomers.push(seen);
            }
        }
        // Of several with one name the lowest number counts.
        newcomers.sort_by_key(|seen| seen.id.0);
        self.over_limit = 0;
        for seen in &newcomers {
            if self.find_by_key(seen).is_some() {
                continue;
            }
            if self.instances.len() >= INSTANCES_MAX {
                self.over_limit += 1;
            } else {
                self.add(seen, clocks, wanted, output);
            }
        }
        self.rank(block, output);
    }

    /// Finds out whether instances are there that sum up no others. Where that has changed, and totals are shown or not
    /// because of it, those come as if they were new.
    fn notice_parts<'a, R: Reading<'a>>(&mut self, block: &R, wanted: &Wanted) -> bool {
        if !wanted.selection.drops_totals_beside_parts() {
            return false;
        }
        let has_parts = block.instances().any(|seen| !Selection::is_total(&seen.name.to_string()));
        std::mem::replace(&mut self.has_parts, has_parts) != has_parts
    }

    fn add<'a, V: Iterator<Item = RawValue<'a>> + Clone, S: SeriesSink<I>>(
        &mut self,
        seen: &InstanceReading<'a, V>,
        clocks: RawClocks,
        wanted: &Wanted,
        output: &mut S,
    ) {
        let name = seen.name.to_string();
        let choice = self.choice(&name, wanted);
        let is_taken = self.shows_instances
            && !self.labelling.tells_numbers()
            && self.instances.iter().any(|other| {
                let has_label =
                    matches!(other.standing, Standing::Shown | Standing::Total | Standing::BelowTop);
                has_label && *other.name == *seen.name.as_bytes()
            });
        let standing =
            if is_taken && choice != Choice::No { Standing::Duplicate } else { self.standing_of(choice) };
        let is_part = |scope| !Selection::is_total(&name) && (scope == Scope::All || choice != Choice::No);
        let aggregated = self.aggregated.as_ref().filter(|aggregated| is_part(aggregated.scope));
        let shares = aggregated.map_or_else(Box::default, Aggregated::shares);
        let index = self.instances.len();
        write_key(&mut self.scratch.key, seen.id, seen.name.as_bytes());
        self.by_key.insert(self.scratch.key.as_slice().into(), index);
        self.instances.push(Instance {
            id: seen.id,
            name: Box::from(seen.name.as_bytes()),
            seen: self.epoch,
            emitted: 0,
            added: 0,
            standing,
            start: self.start_of(seen, clocks),
            rank: Widen::new(),
            cells: Box::default(),
            shares,
        });
        if matches!(standing, Standing::Shown | Standing::Total) {
            self.show(index, output);
        }
    }

    /// Of those that were left out because another had their name the first takes its place.
    fn let_follow<S: SeriesSink<I>>(&mut self, name: &[u8], wanted: &Wanted, output: &mut S) {
        let waits = |one: &Instance<I>| one.standing == Standing::Duplicate && *one.name == *name;
        let waiting = self.instances.iter().enumerate().filter(|(_, one)| waits(one));
        let Some((index, _)) = waiting.min_by_key(|(_, one)| one.id.0) else { return };
        let choice = self.choice(&text::decode(name), wanted);
        let standing = self.standing_of(choice);
        self.instances[index].standing = standing;
        if standing != Standing::BelowTop {
            self.show(index, output);
        }
    }

    fn choice(&self, name: &str, wanted: &Wanted) -> Choice {
        if self.labelling.by_name {
            wanted.selection.instance_among(name, self.has_parts)
        } else {
            Choice::Yes
        }
    }

    fn standing_of(&self, choice: Choice) -> Standing {
        match choice {
            _ if !self.shows_instances => Standing::Unwanted,
            Choice::No => Standing::Unwanted,
            Choice::Total => Standing::Total,
            Choice::Yes if self.top.is_some() => Standing::BelowTop,
            Choice::Yes => Standing::Shown,
        }
    }

    /// Since when the counters of an instance count: since it was created, where a counter tells; and of those that
    /// were there in the first reply it is inferred that they count since the host was started. Of others nobody knows.
    fn start_of<'a, V: Iterator<Item = RawValue<'a>> + Clone>(
        &self,
        seen: &InstanceReading<'a, V>,
        clocks: RawClocks,
    ) -> Option<Start> {
        let tells = |column: &&Column<I>| column.family.exposition.part == Part::StartTime;
        let Some(column) = self.columns.iter().find(tells) else {
            let boot = self.boot.filter(|_| self.epoch == 1);
            return boot.map(|unix_nanos| Start { unix_nanos, is_inferred: true });
        };
        let at = |place: Option<usize>| seen.values.clone().nth(place?).and_then(RawValue::to_u64);
        let clocks = clocks.with_object(at(column.object_time), at(column.object_freq));
        match column.family.exposition.export(at(column.source)?, &clocks)? {
            #[expect(clippy::cast_possible_truncation, reason = "`as` keeps within the limits")]
            Value::F64(seconds) => Some((seconds * 1e9) as i64)
                .filter(|&start| start > 0)
                .map(|unix_nanos| Start { unix_nanos, is_inferred: false }),
            Value::U64(_) => None,
        }
    }

    /// Registers the series of an instance, but for those of texts, which are not known yet.
    pub(super) fn show<S: SeriesSink<I>>(&mut self, index: usize, output: &mut S) {
        let Some(instance) = self.instances.get(index) else { return };
        let name = text::decode(&instance.name);
        let number = instance.id.0.to_string();
        let labels = self.labelling.labels(&name, &number);
        let is_total = instance.standing == Standing::Total;
        let family_of = |column: &Column<I>| if is_total { column.total } else { column.id };
        let is_numeric = |column: &Column<I>| column.family.exposition.kind != Kind::Info;
        let start = instance.start;
        let offered: Vec<NewSeries<'_, I>> = self
            .columns
            .iter()
            .filter(|column| is_numeric(column))
            .filter_map(|column| {
                let start = start.filter(|_| column.family.exposition.counts_since_beginning());
                Some(NewSeries { family: family_of(column)?, labels: &labels, start })
            })
            .collect();
        let mut ids = output.register_series(&offered).into_iter();
        let cells: Box<[Cell<I>]> = self
            .columns
            .iter()
            .map(|column| match family_of(column) {
                Some(_) if is_numeric(column) => Cell { series: ids.next().flatten(), ..Cell::default() },
                _ => Cell::default(),
            })
            .collect();
        let has_texts = self.columns.iter().any(|column| !is_numeric(column) && family_of(column).is_some());
        // Whoever sends instances without end gets no memory for what the sink does not take.
        let is_taken = has_texts || cells.iter().any(|cell| cell.series.is_some());
        let Some(instance) = self.instances.get_mut(index) else { return };
        instance.cells = if is_taken { cells } else { Box::default() };
        instance.emitted = 0;
        if instance.standing == Standing::BelowTop {
            instance.standing = Standing::Shown;
        }
    }

    /// Ends the series of instances that the reply does not hold, and answers their names.
    pub(super) fn retire_absent<S: SeriesSink<I>>(&mut self, output: &mut S) -> Vec<Box<[u8]>> {
        let epoch = self.epoch;
        if self.instances.iter().all(|instance| instance.seen == epoch) {
            return Vec::new();
        }
        let gone = || self.instances.iter().filter(|instance| instance.seen != epoch);
        let series: Vec<I::Series> = gone().flat_map(Instance::<I>::series).collect();
        let names = gone().filter(|one| !one.cells.is_empty()).map(|one| one.name.clone()).collect();
        if let Some(aggregated) = &mut self.aggregated {
            gone().for_each(|instance| aggregated.leave(&instance.shares));
        }
        output.retire(&series);
        self.instances.retain(|instance| instance.seen == epoch);
        self.by_key.clear();
        for (index, instance) in self.instances.iter().enumerate() {
            write_key(&mut self.scratch.key, instance.id, &instance.name);
            self.by_key.insert(self.scratch.key.as_slice().into(), index);
        }
        // The guesses are for places that have moved.
        self.order.clear();
        names
    }
}

fn write_key(key: &mut Vec<u8>, id: InstanceId, name: &[u8]) {
    key.clear();
    key.extend_from_slice(&id.0.to_le_bytes());
    key.extend_from_slice(name);
}

/// Instances of one counterset; more are left out. The exporter's limit of series is far below.
const INSTANCES_MAX: usize = 1 << 17;
