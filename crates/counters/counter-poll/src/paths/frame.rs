//! The numbers of replies, which a new reply takes the place of.

use std::collections::HashMap;

use counter_types::{Measure, RawClocks, Reading, properties};
use counters::pcq::perflibv2::CounterData;
use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::{CounterRegInfo, QueryData, RawValue};
use counters::perflib_v1::DataBlock;
use counters::rrp::winreg::RegistryValue;
use wire::WideStr;

use super::aggregate::{Aggregate, Aggregates};
use super::{Described, Instance, Part, PathPlan, PathQuery};
use crate::reading::{classic_clocks_of, clocks_of};
use crate::survey::Counterset;
use crate::{Pace, Provider, classic};

/// The instances of all countersets of a plan with their numbers, from the last replies. A reply with the counters and the
/// instances of the one before is read without an allocation.
#[derive(Debug, Default)]
pub struct Frame {
    /// The clocks of the last replies.
    pub clocks: RawClocks,
    /// Blocks that the host did not fill, in words.
    pub refused: Vec<String>,
    /// By the plan's countersets.
    countersets: Vec<CountersetFrame>,
    described: Vec<Vec<Described>>,
    aggregates: Aggregates,
    versions: u64,
}

/// The instances of one counterset in the last replies.
#[derive(Debug, Default)]
pub struct CountersetFrame {
    version: u64,
    counters: Vec<CounterId>,
    instances: Vec<Option<Instance>>,
    /// INVARIANT: as many for each instance as there are counters, the values of one instance side by side.
    values: Vec<Option<u64>>,
    clocks: Vec<RawClocks>,
    /// How many instances the replies have had so far.
    filled: usize,
    is_other: bool,
}

/// Where the numbers of a counter are, for as long as [`CountersetFrame::version`] is the same.
#[derive(Clone, Copy, Debug)]
pub struct Columns {
    value: usize,
    base: Option<usize>,
    /// Time and frequency, where the counter has clocks of its own.
    object_clock: Option<[Option<usize>; 2]>,
}

impl Frame {
    /// Takes the replies, one of a query, which says which counterset each block is of, and those of classic objects. What a reply
    /// lacks has no instances. Without a reply of its kind a counterset stays as it is.
    pub async fn update(
        &mut self,
        plan: &PathPlan,
        data: Option<(&PathQuery, &CounterData)>,
        classic: &[RegistryValue],
    ) {
        self.clocks = RawClocks::default();
        self.refused.clear();
        self.countersets.resize_with(plan.countersets.len(), CountersetFrame::default);
        let is_replied = |counterset: &Counterset| match counterset.provider {
            Provider::V2(_) => data.is_some(),
            Provider::V1(_) => !classic.is_empty(),
        };
        let replied = || plan.countersets.iter().map(is_replied);
        let frames = self.countersets.iter_mut().zip(replied()).filter(|(_, is_replied)| *is_replied);
        frames.for_each(|(frame, _)| frame.begin());
        // Of the classic reply first, so that its clocks do not become those of the other.
        let mut described = std::mem::take(&mut self.described);
        super::describe_all(plan, classic, &mut described).await;
        for (value, described) in classic.iter().zip(&described) {
            self.read_objects(plan, value, described).await;
        }
        self.described = described;
        if let Some((query, data)) = data {
            self.read_blocks(plan, query, &data.data()).await;
        }
        for (place, (frame, is_replied)) in self.countersets.iter_mut().zip(replied()).enumerate() {
            if is_replied && let Some(aggregate) = self.aggregates.of(plan, place) {
                frame.add_aggregate(aggregate).await;
            }
            if is_replied && frame.end() {
                self.versions += 1;
                frame.version = self.versions;
            }
        }
    }

    /// The next replies are those of `plan`. The aggregates of countersets that are still the same go on.
    pub fn change_plan(&mut self, plan: &PathPlan) {
        self.countersets.clear();
        self.described.clear();
        self.aggregates.keep(plan);
    }

    /// One of the plan's countersets.
    #[must_use]
    pub fn of(&self, counterset: usize) -> Option<&CountersetFrame> {
        self.countersets.get(counterset)
    }
}

impl Frame {
    /// The blocks of a query's reply.
    async fn read_blocks(&mut self, plan: &PathPlan, query: &PathQuery, data: &QueryData<'_>) {
        self.clocks = clocks_of(data.header());
        if let Err(mismatch) = query.mapping.check_count(data.header().num_counters) {
            return self.refused.push(mismatch.to_string());
        }
        for block in data.blocks().enumerate() {
            let part = super::part_of_block(plan, query, self.clocks, block);
            self.take(part).await;
        }
    }

    /// The objects of a reply of the registry.
    async fn read_objects(&mut self, plan: &PathPlan, value: &RegistryValue, described: &[Described]) {
        let block = match DataBlock::decode(value.bytes()) {
            Ok(block) => block,
            Err(error) => return self.refused.push(error.to_string()),
        };
        self.clocks = classic_clocks_of(&block);
        for (object, described) in classic::objects_of(&block).zip(described) {
            let part = super::part_of_object(plan, self.clocks, object, described);
            self.take(part).await;
        }
    }

    async fn take(&mut self, part: Result<Option<Part<'_>>, String>) {
        match part {
            Ok(None) => {}
            Ok(Some(part)) => {
                if let Some(counterset) = self.countersets.get_mut(part.counterset) {
                    counterset.take(&part).await;
                }
            }
            Err(reason) => self.refused.push(reason),
        }
    }
}

impl CountersetFrame {
    /// Another number than before if its counters or instances are others, and than that of any other counterset.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Its instances; nothing for the only one of a counterset that has one only.
    #[must_use]
    pub fn instances(&self) -> &[Option<Instance>] {
        &self.instances
    }

    /// The clocks of the instance at a place.
    #[must_use]
    pub fn clocks(&self, instance: usize) -> Option<RawClocks> {
        self.clocks.get(instance).copied()
    }

    /// Where the numbers of a counter are. Nothing if it is no number, or the replies have no such counter.
    #[must_use]
    pub fn columns(&self, info: &CounterRegInfo) -> Option<Columns> {
        let row = properties(info.counter_type);
        if row.is_some_and(|row| row.measure == Measure::Text) {
            return None;
        }
        let place = |id: CounterId| self.counters.iter().position(|counter| *counter == id);
        let needs = row.map(|row| row.needs).unwrap_or_default();
        let base = match (needs.base, needs.multi) {
            (true, _) => place(info.base_counter_id),
            (_, true) => place(info.multi_id),
            _ => None,
        };
        let object_clock = needs.object_clock.then(|| [info.perf_time_id, info.perf_freq_id].map(place));
        let value = place(info.counter_id)?;
        Some(Columns { value, base, object_clock })
    }

    /// The number of a counter for the instance at a place; nothing where there is no number.
    #[must_use]
    pub fn reading(&self, instance: usize, columns: &Columns) -> Option<Reading> {
        let width = self.counters.len();
        let values = self.values.get(instance * width..(instance + 1) * width)?;
        let at = |place: Option<usize>| place.and_then(|place| values.get(place).copied().flatten());
        let clocks = *self.clocks.get(instance)?;
        let clocks = match columns.object_clock {
            Some([time, freq]) => clocks.with_object(at(time), at(freq)),
            None => clocks,
        };
        Some(Reading { value: at(Some(columns.value))?, base: at(columns.base), clocks })
    }

    fn begin(&mut self) {
        // What was changed by replies whose reading was interrupted is still to be reported.
        self.filled = 0;
    }

    async fn take(&mut self, part: &Part<'_>) {
        let are_known = part.reading.counter_ids().eq(self.counters.iter().copied());
        let is_first = self.filled == 0;
        if !are_known && is_first {
            self.counters.clear();
            self.counters.extend(part.reading.counter_ids());
            self.restart();
        }
        // Where the values of a part go whose counters are in another order than those of the first one.
        let columns = (!are_known && !is_first).then(|| self.columns_of(part));
        let (mut before, mut pace) = (None, Pace::default());
        for seen in part.reading.instances() {
            let place = self.filled;
            let id = Some(seen.id).filter(|id| *id != InstanceId::ANY).map(|id| id.0);
            let kept = self.instances.get(place);
            let is_same = kept.is_some_and(|kept| is_same(kept.as_ref(), part, seen.name, id));
            if !is_same {
                let before = before.get_or_insert_with(|| self.cut(place));
                self.instances.push(numbered(part, seen.name, id, before));
            }
            self.put(place, seen.values, columns.as_deref(), part.clocks);
            self.filled += 1;
            pace.step(1 + self.counters.len()).await;
        }
    }

    /// The columns of a part's counters.
    fn columns_of(&self, part: &Part<'_>) -> Vec<Option<usize>> {
        let places: HashMap<CounterId, usize> =
            self.counters.iter().enumerate().rev().map(|(place, id)| (*id, place)).collect();
        part.reading.counter_ids().map(|id| places.get(&id).copied()).collect()
    }

    /// Takes the values of the instance at `place`.
    fn put<'a>(
        &mut self,
        place: usize,
        values: impl Iterator<Item = RawValue<'a>>,
        columns: Option<&[Option<usize>]>,
        clocks: RawClocks,
    ) {
        let width = self.counters.len();
        self.values.resize(self.values.len().max((place + 1) * width), None);
        self.clocks.resize(self.clocks.len().max(place + 1), clocks);
        self.clocks[place] = clocks;
        let Some(cells) = self.values.get_mut(place * width..(place + 1) * width) else { return };
        let Some(columns) = columns else {
            let numbers = values.map(RawValue::to_u64).chain(std::iter::repeat(None));
            cells.iter_mut().zip(numbers).for_each(|(cell, number)| *cell = number);
            return;
        };
        cells.fill(None);
        for (column, value) in columns.iter().zip(values) {
            if let Some(column) = *column {
                cells[column] = value.to_u64();
            }
        }
    }

    /// Adds what the instances come to, after them.
    async fn add_aggregate(&mut self, aggregate: &mut Aggregate) {
        let (width, place, mut pace) = (self.counters.len(), self.filled, Pace::default());
        let columns: HashMap<CounterId, usize> =
            self.counters.iter().enumerate().rev().map(|(place, id)| (*id, place)).collect();
        aggregate.begin(self.clocks.first().copied().filter(|_| place > 0));
        for (instance, values) in self.instances[..place].iter().zip(self.values.chunks(width.max(1))) {
            if let Some(instance) = instance {
                aggregate.add(instance, |id| values.get(*columns.get(&id)?).copied().flatten());
            }
            pace.step(1 + width).await;
        }
        let Some(sums) = aggregate.end() else { return };
        if self.instances.get(place) != Some(&None) {
            self.cut(place);
            self.instances.push(None);
        }
        self.values.resize(self.values.len().max((place + 1) * width), None);
        let Some(cells) = self.values.get_mut(place * width..(place + 1) * width) else { return };
        cells.fill(None);
        for (id, sum) in sums {
            if let Some(column) = columns.get(&id) {
                cells[*column] = Some(sum);
            }
        }
        let clocks = self.clocks.first().copied().unwrap_or_default();
        self.clocks.truncate(place);
        self.clocks.push(clocks);
        self.filled += 1;
    }

    /// Nothing of earlier replies holds any more.
    fn restart(&mut self) {
        self.instances.clear();
        self.values.clear();
        self.clocks.clear();
        self.is_other = true;
    }

    /// The instances from `place` on are others. Returns how many of each name are before it.
    fn cut(&mut self, place: usize) -> HashMap<String, u32> {
        self.instances.truncate(place);
        self.is_other = true;
        let mut before = HashMap::new();
        for known in self.instances.iter().flatten() {
            *before.entry(known.name.clone()).or_default() += 1;
        }
        before
    }

    /// Ends the replies. Returns whether there are other instances or counters than before.
    fn end(&mut self) -> bool {
        self.is_other |= self.filled < self.instances.len();
        self.instances.truncate(self.filled);
        self.values.truncate(self.filled * self.counters.len());
        self.clocks.truncate(self.filled);
        std::mem::take(&mut self.is_other)
    }
}

/// Whether the instance that is kept is the one of a reply.
fn is_same(kept: Option<&Instance>, part: &Part<'_>, name: WideStr<'_>, id: Option<u32>) -> bool {
    match kept {
        None => part.is_single,
        Some(kept) if part.is_single || kept.id != id => false,
        Some(kept) if name.chars().next().is_none() => kept.name == part.asked_for.unwrap_or_default(),
        Some(kept) => kept.name.chars().eq(name.chars()),
    }
}

/// The instance of a reply, with the number of those of its name that are `before` it.
fn numbered(
    part: &Part<'_>,
    name: WideStr<'_>,
    id: Option<u32>,
    before: &mut HashMap<String, u32>,
) -> Option<Instance> {
    let mut name: String = name.chars().collect();
    if name.is_empty() {
        name = part.asked_for.unwrap_or_default().to_owned();
    }
    let known = before.entry(name.clone()).or_default();
    let index = *known;
    *known = known.saturating_add(1);
    (!part.is_single).then_some(Instance { name, id, index })
}
