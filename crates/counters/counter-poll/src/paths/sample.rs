//! One reply as cooked values.

use std::collections::{HashMap, HashSet};

use counter_types::{Cooked, Formula, Measure, RawClocks, Reading, cook, properties};
use ms_dtyp::FileTime;
use ms_pcq::perflibv2::CounterData;
use ms_pcq::types::{CounterId, InstanceId, InstanceType};
use ms_pcq::wire::{CounterRegInfo, QueryData, RawValue};
use ms_rrp::winreg::RegistryValue;
use perflib_v1::{DataBlock, Definitions, ObjectType};

use super::{PathMatch, PathPlan, PathQuery};
use crate::classic::{self, Identities, ObjectReading};
use crate::reading::{Reading as ReplyReading, clocks_of};
use crate::survey::Counterset;
use crate::{Provider, text};

/// What a value belongs to, from reply to reply.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which of the plan's countersets.
    pub counterset: usize,
    /// Nothing where a counterset has one only.
    pub instance: Option<Instance>,
    /// Which of the counterset's counters.
    pub counter: usize,
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

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number: what was read, and what is displayed.
    Number(Reading, Cooked),
    /// A text.
    Text(String),
    /// Neither: a label, or something of another width than it should have.
    Nothing,
}

/// All values of one reply, in the order of the paths.
#[derive(Debug, Default)]
pub struct Sample {
    /// When the host took it, by its clock.
    pub time: FileTime,
    /// The clocks of all values.
    pub clocks: RawClocks,
    /// Each value once.
    pub values: Vec<(Key, Value)>,
    /// Whether a value needs another sample, and the next one will do.
    pub needs_another: bool,
    /// Blocks that the host did not fill, in words.
    pub refused: Vec<String>,
}

/// What was read the last time.
#[derive(Debug, Default)]
pub struct Readings(HashMap<Key, Reading>);

/// One instance in a reply.
struct Row<'a> {
    instance: Option<Instance>,
    clocks: RawClocks,
    values: HashMap<CounterId, RawValue<'a>>,
}

impl Sample {
    /// Reads the replies: one of a query, which says which counterset each block is of, and one of classic objects.
    pub fn read(
        plan: &PathPlan,
        data: Option<(&PathQuery, &CounterData)>,
        classic: Option<&RegistryValue>,
        before: &mut Readings,
    ) -> Self {
        let mut sample = Self::default();
        let mut rows: Vec<Vec<Row<'_>>> = Vec::new();
        rows.resize_with(plan.countersets.len(), Vec::new);
        // Of the classic reply, so that its clocks do not become those of the other.
        let described: Vec<(Definitions, Identities)> =
            classic.map_or_else(Vec::new, |value| describe(plan, value));
        if let Some(value) = classic {
            sample.add_objects(plan, value, &described, &mut rows);
        }
        let data = data.map(|(query, data)| (query, data.data()));
        if let Some((query, data)) = &data {
            sample.add_blocks(plan, query, data, &mut rows);
        }
        let mut seen = HashSet::new();
        let mut now = HashMap::new();
        for pick in &plan.matches {
            for row in &rows[pick.counterset] {
                sample.add(plan, pick, row, before, (&mut seen, &mut now));
            }
        }
        before.0 = now;
        sample
    }

    /// Takes the blocks of a query's reply.
    fn add_blocks<'a>(
        &mut self,
        plan: &PathPlan,
        query: &PathQuery,
        data: &QueryData<'a>,
        rows: &mut [Vec<Row<'a>>],
    ) {
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
                    add_rows(&mut rows[*counterset], &block, clocks, is_single, asked_for);
                }
                // No such instance now.
                Ok(block) if block.status == ms_dtyp::Win32Error::ERROR_NO_DATA => {}
                Ok(block) => refused.push(format!("counterset `{name}`: {}", block.status)),
                Err(error) => refused.push(format!("counterset `{name}`: {error}")),
            }
        }
    }

    /// Takes the objects of a reply of the registry.
    fn add_objects<'a>(
        &mut self,
        plan: &PathPlan,
        value: &'a RegistryValue,
        described: &'a [(Definitions, Identities)],
        rows: &mut [Vec<Row<'a>>],
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
            add_rows(&mut rows[place], &reading, classic::with_clock_of(&object, clocks), is_single, None);
        }
    }

    fn add(
        &mut self,
        plan: &PathPlan,
        pick: &PathMatch,
        row: &Row<'_>,
        before: &Readings,
        (seen, now): (&mut HashSet<Key>, &mut HashMap<Key, Reading>),
    ) {
        if row.instance.as_ref().is_some_and(|instance| !pick.wants(&instance.name, instance.index)) {
            return;
        }
        for counter in &pick.counters {
            let info = &plan.countersets[pick.counterset].counters[*counter].info;
            let Some(raw) = row.values.get(&info.counter_id) else { continue };
            let key = Key { counterset: pick.counterset, instance: row.instance.clone(), counter: *counter };
            if !seen.insert(key.clone()) {
                continue;
            }
            if properties(info.counter_type).is_some_and(|row| row.measure == Measure::Text) {
                let text = text::decode(text::TextBytes::of(raw).as_slice());
                self.values.push((key, Value::Text(text)));
                continue;
            }
            let Some(reading) = reading(info, raw, &row.values, row.clocks) else {
                self.values.push((key, Value::Nothing));
                continue;
            };
            let cooked = cook(info.counter_type, before.0.get(&key), &reading);
            self.needs_another |= cooked == Cooked::NeedsTwo;
            now.insert(key.clone(), reading);
            self.values.push((key, Value::Number(reading, cooked)));
        }
    }
}

/// The number with what its type needs beside it; nothing where there is no number.
fn reading(
    info: &CounterRegInfo,
    raw: &RawValue<'_>,
    values: &HashMap<CounterId, RawValue<'_>>,
    clocks: RawClocks,
) -> Option<Reading> {
    let value = raw.to_u64()?;
    let of = |id: CounterId| values.get(&id).and_then(|raw| raw.to_u64());
    let needs = properties(info.counter_type).map(|row| row.needs).unwrap_or_default();
    let base = match (needs.base, needs.multi) {
        (true, _) => of(info.base_counter_id),
        (_, true) => of(info.multi_id),
        _ => None,
    };
    let clocks = match needs.object_clock {
        true => clocks.with_object(of(info.perf_time_id), of(info.perf_freq_id)),
        false => clocks,
    };
    Some(Reading { value, base, clocks })
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
        let same = |row: &&Row<'_>| row.instance.as_ref().is_some_and(|known| known.name == name);
        let index = u32::try_from(rows.iter().filter(same).count()).unwrap_or(u32::MAX);
        let instance = (!is_single).then_some(Instance { name, id, index });
        rows.push(Row { instance, clocks, values });
    }
}

impl Readings {
    /// Whether nothing was read yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Key {
    /// The path of this one value, without a machine.
    pub fn path(&self, plan: &PathPlan) -> String {
        let counterset = &plan.countersets[self.counterset];
        let instance = self.instance.as_ref().map(|instance| format!("({})", instance.shown()));
        let counter = &counterset.counters[self.counter].name;
        format!("\\{}{}\\{counter}", counterset.name.text, instance.unwrap_or_default())
    }
}

/// Whether what is displayed is the number that was read, all of its 64 bits.
pub fn is_shown_as_read(info: &CounterRegInfo) -> bool {
    properties(info.counter_type).is_some_and(|row| row.formula == Formula::Value)
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
