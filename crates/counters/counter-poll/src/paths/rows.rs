//! The instances of a reply, each with what was read of it.

use std::collections::HashMap;

use counter_types::{Measure, RawClocks, Reading, properties};
use ms_dtyp::FileTime;
use ms_pcq::perflibv2::CounterData;
use ms_pcq::types::{CounterId, InstanceId, InstanceType};
use ms_pcq::wire::{CounterRegInfo, QueryData, RawValue};
use ms_rrp::winreg::RegistryValue;
use perflib_v1::{DataBlock, Definitions, ObjectType};

use super::{PathPlan, PathQuery};
use crate::Provider;
use crate::classic::{self, Identities, ObjectReading};
use crate::reading::{Reading as ReplyReading, clocks_of};
use crate::survey::Counterset;

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

/// An instance of a counterset.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    /// Its name.
    pub name: String,
    /// Its number, where the reply tells it.
    pub id: Option<u32>,
    /// How many of its name are before it.
    pub index: u32,
}

impl Rows<'_> {
    /// Reads the replies, one of a query, which says which counterset each block is of, and one of classic objects, and
    /// hands over what is in them.
    pub fn read<R>(
        plan: &PathPlan,
        data: Option<(&PathQuery, &CounterData)>,
        classic: Option<&RegistryValue>,
        take: impl FnOnce(&Rows<'_>) -> R,
    ) -> R {
        // Of the classic reply, so that its clocks do not become those of the other.
        let described: Vec<(Definitions, Identities)> =
            classic.map_or_else(Vec::new, |value| describe(plan, value));
        let mut rows = Rows {
            time: FileTime::default(),
            clocks: RawClocks::default(),
            refused: Vec::new(),
            rows: Vec::new(),
        };
        rows.rows.resize_with(plan.countersets.len(), Vec::new);
        if let Some(value) = classic {
            rows.add_objects(plan, value, &described);
        }
        let data = data.map(|(query, data)| (query, data.data()));
        if let Some((query, data)) = &data {
            rows.add_blocks(plan, query, data);
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

    /// Takes the blocks of a query's reply.
    fn add_blocks(&mut self, plan: &PathPlan, query: &PathQuery, data: &QueryData<'a>) {
        let clocks = clocks_of(data.header());
        (self.time, self.clocks) = (data.header().perf_time_100ns, clocks);
        let refused = &mut self.refused;
        let blocks = query.mapping.check_count(data.header().num_counters);
        let blocks = blocks.map_err(|mismatch| refused.push(mismatch.to_string())).is_ok();
        for (index, block) in data.blocks().take_while(|_| blocks).enumerate() {
            let which = query.mapping.identifier_of(u32::try_from(index).unwrap_or(u32::MAX));
            let Some((counterset, identifier)) = which.and_then(|which| query.added.get(which)) else {
                continue;
            };
            let asked_for = identifier.instance_name.as_deref().filter(|name| *name != "*");
            let name = &plan.countersets[*counterset].name.text;
            match block {
                Ok(block) if block.status.is_success() => {
                    let is_single = plan.countersets[*counterset].instance_type == InstanceType::SINGLE;
                    add_rows(&mut self.rows[*counterset], &block, clocks, is_single, asked_for);
                }
                // No such instance now.
                Ok(block) if block.status == ms_dtyp::Win32Error::ERROR_NO_DATA => {}
                Ok(block) => refused.push(format!("counterset `{name}`: {}", block.status)),
                Err(error) => refused.push(format!("counterset `{name}`: {error}")),
            }
        }
    }

    /// Takes the objects of a reply of the registry.
    fn add_objects(
        &mut self,
        plan: &PathPlan,
        value: &'a RegistryValue,
        described: &'a [(Definitions, Identities)],
    ) {
        let block = match DataBlock::decode(value.bytes()) {
            Ok(block) => block,
            Err(error) => return self.refused.push(error.to_string()),
        };
        let clocks = classic::clocks_of(&block);
        (self.time, self.clocks) = (block.header.perf_time_100ns, clocks);
        for (object, (definitions, identities)) in block.objects().zip(described) {
            let object = match object {
                Ok(object) => object,
                Err(bad) => {
                    self.refused.push(bad.to_string());
                    continue;
                }
            };
            let Some(place) = place_of(plan, &object) else { continue };
            let counterset = &plan.countersets[place];
            if definitions.fields().len() != counterset.counters.len() {
                self.refused.push(format!("counterset `{}` has other counters by now", counterset.name.text));
                continue;
            }
            let reading = ObjectReading::new(definitions.fields(), object.instances(), identities);
            let is_single = counterset.instance_type == InstanceType::SINGLE;
            add_rows(
                &mut self.rows[place],
                &reading,
                classic::with_clock_of(&object, clocks),
                is_single,
                None,
            );
        }
    }
}

impl Instance {
    /// Its name, with a number where others of this name are before it.
    pub fn shown(&self) -> String {
        match self.index {
            0 => self.name.clone(),
            index => format!("{}#{index}", self.name),
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

/// Which of the plan's countersets a classic object is.
fn place_of(plan: &PathPlan, object: &ObjectType<'_>) -> Option<usize> {
    let is_it = |one: &Counterset| one.provider == Provider::V1(object.name_index);
    plan.countersets.iter().position(is_it)
}

/// Counters, and identities of instances, of each object of a reply.
fn describe(plan: &PathPlan, value: &RegistryValue) -> Vec<(Definitions, Identities)> {
    let Ok(block) = DataBlock::decode(value.bytes()) else { return Vec::new() };
    let described = block.objects().map(|object| {
        let mut described = (Definitions::default(), Identities::default());
        if let Ok(object) = object {
            let counterset = place_of(plan, &object).map(|place| &plan.countersets[place]);
            described.0.update(&object);
            described.1.update(&block, &object, counterset.and_then(Counterset::number));
        }
        described
    });
    described.collect()
}

fn add_rows<'a>(
    rows: &mut Vec<Row<'a>>,
    reading: &impl ReplyReading<'a>,
    clocks: RawClocks,
    is_single: bool,
    asked_for: Option<&str>,
) {
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
        rows.push(Row { instance, clocks, values });
    }
}
