//! The instances of a reply, each with what was read of it.

use std::collections::HashMap;

use counter_types::{Measure, RawClocks, Reading, properties};
use counters::pcq::perflibv2::CounterData;
use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::{CounterRegInfo, QueryData, RawValue};
use counters::perflib_v1::DataBlock;
use counters::rrp::winreg::RegistryValue;
use wire::FileTime;

use super::aggregate::{Aggregate, Aggregates};
use super::{Described, Instance, Part, PathPlan, PathQuery};
use crate::classic;
use crate::reading::{classic_clocks_of, clocks_of};

/// The instances of all countersets in one reply, or in one of a query and one of classic objects.
#[derive(Debug)]
pub struct Rows<'a> {
    /// When the host took it, by its clock.
    pub time: FileTime,
    /// The clocks of all values.
    pub clocks: RawClocks,
    /// Blocks that the host did not fill, in words.
    pub refused: Vec<String>,
    /// By the plan's countersets.
    rows: Vec<Vec<Row<'a>>>,
}

/// One instance in a reply.
#[derive(Debug)]
pub struct Row<'a> {
    /// The instance; nothing where a counterset has one only.
    pub instance: Option<Instance>,
    clocks: RawClocks,
    values: HashMap<CounterId, RawValue<'a>>,
}

impl Rows<'_> {
    /// Reads the replies, one of a query, which says which counterset each block is of, and one of classic objects, and
    /// hands over what is in them.
    pub async fn read<R>(
        plan: &PathPlan,
        data: Option<(&PathQuery, &CounterData)>,
        classic: Option<&RegistryValue>,
        aggregates: &mut Aggregates,
        take: impl FnOnce(&Rows<'_>) -> R,
    ) -> R {
        // Of the classic reply, so that its clocks do not become those of the other.
        let classic = classic.map(std::slice::from_ref).unwrap_or_default();
        let mut described: Vec<Vec<Described>> = Vec::new();
        super::describe_all(plan, classic, &mut described).await;
        let mut rows = Rows {
            time: FileTime::default(),
            clocks: RawClocks::default(),
            refused: Vec::new(),
            rows: Vec::new(),
        };
        rows.rows.resize_with(plan.countersets.len(), Vec::new);
        for (value, described) in classic.iter().zip(&described) {
            rows.read_objects(plan, value, described);
        }
        let data = data.map(|(query, data)| (query, data.data()));
        if let Some((query, data)) = &data {
            rows.read_blocks(plan, query, data);
        }
        for (place, rows_of) in rows.rows.iter_mut().enumerate() {
            if let Some(aggregate) = aggregates.of(plan, place) {
                add_aggregate(rows_of, aggregate);
            }
        }
        take(&rows)
    }
}

impl<'a> Rows<'a> {
    /// The instances of one of the plan's countersets.
    #[must_use]
    pub fn of(&self, counterset: usize) -> &[Row<'a>] {
        self.rows.get(counterset).map_or(&[], Vec::as_slice)
    }
}

impl<'a> Rows<'a> {
    /// The blocks of a query's reply.
    fn read_blocks(&mut self, plan: &PathPlan, query: &'a PathQuery, data: &QueryData<'a>) {
        (self.time, self.clocks) = (data.header().perf_time_100ns, clocks_of(data.header()));
        if let Err(mismatch) = query.mapping.check_count(data.header().num_counters) {
            return self.refused.push(mismatch.to_string());
        }
        for block in data.blocks().enumerate() {
            self.take(super::part_of_block(plan, query, self.clocks, block));
        }
    }

    /// The objects of a reply of the registry.
    fn read_objects(&mut self, plan: &PathPlan, value: &'a RegistryValue, described: &'a [Described]) {
        let block = match DataBlock::decode(value.bytes()) {
            Ok(block) => block,
            Err(error) => return self.refused.push(error.to_string()),
        };
        (self.time, self.clocks) = (block.header.perf_time_100ns, classic_clocks_of(&block));
        for (object, described) in classic::objects_of(&block).zip(described) {
            self.take(super::part_of_object(plan, self.clocks, object, described));
        }
    }

    fn take(&mut self, part: Result<Option<Part<'a>>, String>) {
        match part {
            Ok(None) => {}
            Ok(Some(part)) => {
                if let Some(rows) = self.rows.get_mut(part.counterset) {
                    add_rows(rows, &part);
                }
            }
            Err(reason) => self.refused.push(reason),
        }
    }
}

impl<'a> Row<'a> {
    /// What was read of a counter.
    pub(super) fn raw(&self, info: &CounterRegInfo) -> Option<&RawValue<'a>> {
        self.values.get(&info.counter_id)
    }

    /// The number of a counter with what its type needs beside it; nothing where there is no number.
    #[must_use]
    pub fn reading(&self, info: &CounterRegInfo) -> Option<Reading> {
        let row = properties(info.counter_type);
        if row.is_some_and(|row| row.measure == Measure::Text) {
            return None;
        }
        let value = self.raw(info)?.to_u64()?;
        let of = |id: CounterId| self.values.get(&id).and_then(|raw| raw.to_u64());
        let needs = row.map(|row| row.needs).unwrap_or_default();
        let base = match (needs.base, needs.multi) {
            (true, _) => of(info.base_counter_id),
            (_, true) => of(info.multi_id),
            _ => None,
        };
        let clocks = match needs.object_clock {
            true => self.clocks.with_object(of(info.perf_time_id), of(info.perf_freq_id)),
            false => self.clocks,
        };
        Some(Reading { value, base, clocks })
    }
}

fn add_aggregate(rows: &mut Vec<Row<'_>>, aggregate: &mut Aggregate) {
    aggregate.begin(rows.first().map(|row| row.clocks));
    for row in &*rows {
        if let Some(instance) = &row.instance {
            aggregate.add(instance, |id| row.values.get(&id).and_then(|value| value.to_u64()));
        }
    }
    if let (Some(values), Some(last)) = (aggregate.end(), rows.last()) {
        let values = values.map(|(id, value)| (id, RawValue::U64(value))).collect();
        rows.push(Row { instance: None, clocks: last.clocks, values });
    }
}

fn add_rows<'a>(rows: &mut Vec<Row<'a>>, part: &Part<'a>) {
    let Part { reading, clocks, is_single, asked_for, .. } = part;
    let ids: Vec<CounterId> = reading.counter_ids().collect();
    // Instances of one name are numbered over all blocks.
    let mut before: HashMap<String, u32> = HashMap::new();
    for known in rows.iter().filter_map(|row| row.instance.as_ref()) {
        *before.entry(known.name.clone()).or_default() += 1;
    }
    for instance in reading.instances() {
        // A host may name a counter twice; the first one counts.
        let mut values = HashMap::with_capacity(ids.len());
        for (id, value) in ids.iter().zip(instance.values) {
            values.entry(*id).or_insert(value);
        }
        let mut name: String = instance.name.chars().collect();
        if name.is_empty() {
            name = asked_for.unwrap_or_default().to_owned();
        }
        let id = Some(instance.id).filter(|id| *id != InstanceId::ANY).map(|id| id.0);
        let known = before.entry(name.clone()).or_default();
        let index = *known;
        *known = known.saturating_add(1);
        let instance = (!is_single).then_some(Instance { name, id, index });
        rows.push(Row { instance, clocks: *clocks, values });
    }
}
