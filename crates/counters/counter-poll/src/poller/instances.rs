//! Which instances are there, and their series: they are found by place or key, come, and go.

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};

use counter_types::aggregate::Scope;
use counter_types::{Choice, Kind, Part, RawClocks, Selection, Value, Widen};
use counters::pcq::types::InstanceId;
use counters::pcq::wire::RawValue;

use super::aggregated::Aggregated;
use super::{Cell, Column, CountersetPoller, Instance, NewSeries, SeriesIds, SeriesSink, Start, Visibility};
use crate::reading::{InstanceReading, Reading};
use crate::{Pace, Wanted, text};

impl<I: SeriesIds> CountersetPoller<I> {
    /// Instances mostly come in the order of the last reply; only where they do not, the key is looked up.
    pub(super) fn find(&mut self, position: usize, seen: &InstanceReading<'_>) -> Option<usize> {
        let is_it = |one: &Instance<I>| {
            [one.id, one.owner] == [seen.id, seen.owner] && *one.name == *seen.name.as_bytes()
        };
        let guess = self.order.get(position).copied();
        if let Some(index) = guess.filter(|index| self.instances.get(*index).is_some_and(is_it)) {
            return Some(index);
        }
        self.find_by_key(seen)
    }

    pub(super) fn find_by_key(&mut self, seen: &InstanceReading<'_>) -> Option<usize> {
        write_key(&mut self.scratch.key, [seen.id, seen.owner], seen.name.as_bytes());
        self.by_key.get(self.scratch.key.as_slice()).copied()
    }

    /// Takes in who has come and lets go who has gone.
    pub(super) async fn settle<S: SeriesSink<I>>(
        &mut self,
        block: &Reading<'_>,
        clocks: RawClocks,
        wanted: &Wanted,
        output: &mut S,
        pace: &mut Pace,
    ) {
        let has_parts = self.has_parts_in(block, wanted, pace).await;
        let are_judged_anew = has_parts != self.has_parts;
        let mut newcomers: Vec<InstanceReading<'_>> = Vec::new();
        self.over_limit = 0;
        for (position, seen) in block.instances().enumerate() {
            match self.find(position, &seen) {
                Some(index) if !(are_judged_anew && Selection::is_total(&seen.name.to_string())) => {
                    self.instances[index].seen = self.epoch;
                }
                known => {
                    if let Some(index) = known {
                        self.instances[index].seen = 0;
                    }
                    if newcomers.len() < INSTANCES_MAX {
                        newcomers.push(seen);
                    } else {
                        self.over_limit += 1;
                    }
                }
            }
            pace.step(1).await;
        }
        // Known from here on only, where nothing waits: a collection that was dropped before has judged nothing by it.
        self.has_parts = has_parts;
        // Who has gone makes room first: who comes may have the same name.
        let freed = self.retire_absent(output);
        self.let_follow(&freed, wanted, output);
        let left_out = newcomers.len().saturating_sub(INSTANCES_MAX - self.instances.len());
        newcomers.truncate(newcomers.len() - left_out);
        self.over_limit += left_out as u64;
        // Of several with one name the lowest number counts.
        newcomers.sort_by_key(|seen| seen.id.0);
        // A first reply may have 100,000: growing step by step would hash each of them again and again.
        self.instances.reserve(newcomers.len());
        self.by_key.reserve(newcomers.len());
        self.taken_names.reserve(newcomers.len());
        for seen in newcomers.chunks(SHOWN_AT_ONCE) {
            self.add_all(seen, clocks, wanted, output);
            pace.step(seen.len() * (1 + self.columns.len()) * REGISTRATION_STEPS).await;
        }
        self.rank(block, output, pace).await;
    }

    /// Whether instances are there that sum up no others, as far as that decides whether totals are shown. Where it has changed,
    /// totals come as if they were new.
    async fn has_parts_in(&self, block: &Reading<'_>, wanted: &Wanted, pace: &mut Pace) -> bool {
        if !wanted.selection.drops_totals_beside_parts() {
            return self.has_parts;
        }
        for seen in block.instances() {
            if !Selection::is_total(&seen.name.to_string()) {
                return true;
            }
            pace.step(1).await;
        }
        false
    }

    /// Adds instances and shows them. Nothing waits in between: an instance that is known has its series.
    fn add_all<S: SeriesSink<I>>(
        &mut self,
        newcomers: &[InstanceReading<'_>],
        clocks: RawClocks,
        wanted: &Wanted,
        output: &mut S,
    ) {
        let mut shown = Vec::with_capacity(newcomers.len());
        for seen in newcomers {
            if let Some(Visibility::Shown | Visibility::Total) = self.add(seen, clocks, wanted) {
                shown.push(self.instances.len() - 1);
            }
        }
        self.show(&shown, output);
    }

    /// Adds an instance, unless it is there already.
    fn add(&mut self, seen: &InstanceReading<'_>, clocks: RawClocks, wanted: &Wanted) -> Option<Visibility> {
        let index = self.instances.len();
        write_key(&mut self.scratch.key, [seen.id, seen.owner], seen.name.as_bytes());
        let Entry::Vacant(place) = self.by_key.entry(self.scratch.key.as_slice().into()) else { return None };
        place.insert(index);
        let name = seen.name.to_string();
        let choice = self.choice(&name, seen.id, wanted);
        let visibility = match self.visibility_of(choice) {
            Visibility::Unwanted => Visibility::Unwanted,
            visibility if self.take_label(seen.name.as_bytes()) => visibility,
            _ => Visibility::Duplicate,
        };
        let is_part = |scope| !Selection::is_total(&name) && (scope == Scope::All || choice != Choice::No);
        let aggregated = self.aggregated.as_ref().filter(|aggregated| is_part(aggregated.scope));
        let shares = aggregated.map_or_else(Box::default, Aggregated::shares);
        self.instances.push(Instance {
            id: seen.id,
            owner: seen.owner,
            name: Box::from(seen.name.as_bytes()),
            seen: self.epoch,
            emitted: 0,
            added: 0,
            visibility,
            start: self.start_of(seen, clocks),
            rank: Widen::new(),
            cells: Box::default(),
            shares,
        });
        Some(visibility)
    }

    /// Whether an instance of this name has labels that no other one has; from then on they are its own.
    fn take_label(&mut self, name: &[u8]) -> bool {
        self.labelling.tells_numbers() || self.taken_names.insert(name.into())
    }

    /// Of those that were left out because another had their name the first takes its place.
    fn let_follow<S: SeriesSink<I>>(&mut self, freed: &[Box<[u8]>], wanted: &Wanted, output: &mut S) {
        if freed.is_empty() || !self.instances.iter().any(|one| one.visibility == Visibility::Duplicate) {
            return;
        }
        let freed: HashSet<&[u8]> = freed.iter().map(|name| &**name).collect();
        let mut first: HashMap<&[u8], usize> = HashMap::new();
        for (index, one) in self.instances.iter().enumerate() {
            if one.visibility == Visibility::Duplicate && freed.contains(&*one.name) {
                let known = first.entry(&one.name).or_insert(index);
                if one.id.0 < self.instances[*known].id.0 {
                    *known = index;
                }
            }
        }
        let mut followers: Vec<usize> = first.into_values().collect();
        followers.sort_unstable();
        for &index in &followers {
            let name = self.instances[index].name.clone();
            let choice = self.choice(&text::decode(&name), self.instances[index].id, wanted);
            self.instances[index].visibility = self.visibility_of(choice);
            self.take_label(&name);
        }
        followers.retain(|index| self.instances[*index].visibility != Visibility::BelowTop);
        self.show(&followers, output);
    }

    /// What has no name of its own is meant by that of its owner with its number, such as `svchost/4711`.
    fn choice(&self, name: &str, id: InstanceId, wanted: &Wanted) -> Choice {
        if self.labelling.names_owner() && !Selection::is_total(name) {
            wanted.selection.instance_among(&format!("{name}/{}", id.0), self.has_parts)
        } else if self.labelling.by_name {
            wanted.selection.instance_among(name, self.has_parts)
        } else {
            Choice::Yes
        }
    }

    fn visibility_of(&self, choice: Choice) -> Visibility {
        match choice {
            _ if !self.shows_instances => Visibility::Unwanted,
            Choice::No => Visibility::Unwanted,
            Choice::Total => Visibility::Total,
            Choice::Yes if self.top.is_some() => Visibility::BelowTop,
            Choice::Yes => Visibility::Shown,
        }
    }

    /// Since when the counters of an instance count: since it was created, where a counter tells; and of those that
    /// were there in the first reply it is inferred that they count since the host was started. Of others nobody knows.
    fn start_of(&self, seen: &InstanceReading<'_>, clocks: RawClocks) -> Option<Start> {
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

    /// Registers the series of instances, but for those of texts, which are not known yet.
    pub(super) fn show<S: SeriesSink<I>>(&mut self, indexes: &[usize], output: &mut S) {
        let texts: Vec<[String; 3]> = indexes
            .iter()
            .filter_map(|index| self.instances.get(*index))
            .map(|one| [text::decode(&one.name), one.id.0.to_string(), one.owner.0.to_string()])
            .collect();
        let labels: Vec<_> =
            texts.iter().map(|[name, id, owner]| self.labelling.labels(name, id, owner)).collect();
        let shown = || indexes.iter().filter_map(|index| self.instances.get(*index));
        let is_numeric = |column: &Column<I>| column.family.exposition.kind != Kind::Info;
        let mut offered: Vec<NewSeries<'_, I>> = Vec::with_capacity(indexes.len() * self.columns.len());
        for (instance, labels) in shown().zip(&labels) {
            for column in self.columns.iter().filter(|column| is_numeric(column)) {
                let start = instance.start.filter(|_| column.family.exposition.counts_since_beginning());
                let family = column.family_of(instance.visibility);
                offered.extend(family.map(|family| NewSeries { family, labels, start }));
            }
        }
        let mut ids = output.register_series(&offered).into_iter();
        let Self { columns, instances, .. } = self;
        for &index in indexes {
            let Some(instance) = instances.get_mut(index) else { continue };
            let visibility = instance.visibility;
            let cells: Box<[Cell<I>]> = columns
                .iter()
                .map(|column| match column.family_of(visibility) {
                    Some(_) if is_numeric(column) => Cell { series: ids.next().flatten(), ..Cell::default() },
                    _ => Cell::default(),
                })
                .collect();
            let has_texts =
                columns.iter().any(|column| !is_numeric(column) && column.family_of(visibility).is_some());
            // Whoever sends instances without end gets no memory for what the sink does not take.
            let is_taken = has_texts || cells.iter().any(|cell| cell.series.is_some());
            instance.cells = if is_taken { cells } else { Box::default() };
            instance.emitted = 0;
            if instance.visibility == Visibility::BelowTop {
                instance.visibility = Visibility::Shown;
            }
        }
    }

    /// Ends the series of instances that the reply does not hold, and answers the names that others may have now.
    pub(super) fn retire_absent<S: SeriesSink<I>>(&mut self, output: &mut S) -> Vec<Box<[u8]>> {
        let (mut series, mut freed): (Vec<I::Series>, Vec<Box<[u8]>>) = (Vec::new(), Vec::new());
        let mut index = 0;
        while let Some(instance) = self.instances.get(index) {
            if instance.seen == self.epoch {
                index += 1;
                continue;
            }
            let gone = self.instances.swap_remove(index);
            write_key(&mut self.scratch.key, [gone.id, gone.owner], &gone.name);
            self.by_key.remove(self.scratch.key.as_slice());
            if let Some(moved) = self.instances.get(index) {
                write_key(&mut self.scratch.key, [moved.id, moved.owner], &moved.name);
                self.by_key.entry(self.scratch.key.as_slice().into()).insert_entry(index);
            }
            // The guesses are for places that have moved.
            self.order.clear();
            series.extend(gone.series());
            if let Some(aggregated) = &mut self.aggregated {
                aggregated.leave(&gone.shares);
            }
            if matches!(gone.visibility, Visibility::Shown | Visibility::Total | Visibility::BelowTop)
                && self.taken_names.remove(&gone.name)
            {
                freed.push(gone.name);
            }
        }
        output.retire(&series);
        freed
    }
}

fn write_key(key: &mut Vec<u8>, numbers: [InstanceId; 2], name: &[u8]) {
    key.clear();
    numbers.iter().for_each(|number| key.extend_from_slice(&number.0.to_le_bytes()));
    key.extend_from_slice(name);
}

/// Instances of one counterset; more are left out. The exporter's limit of series is far below.
const INSTANCES_MAX: usize = 1 << 17;
/// Instances whose series are registered by one call.
const SHOWN_AT_ONCE: usize = 128;
/// How many times as long as a value its registration takes.
const REGISTRATION_STEPS: usize = 8;
