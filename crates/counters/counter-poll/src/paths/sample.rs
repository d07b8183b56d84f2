//! One reply as cooked values.

use std::collections::{HashMap, HashSet};

use counter_types::{Cooked, Formula, Measure, RawClocks, Reading, cook, properties};
use ms_dtyp::FileTime;
use ms_pcq::perflibv2::CounterData;
use ms_pcq::types::{CounterId, InstanceId, InstanceType};
use ms_pcq::wire::{Block, CounterRegInfo, DataHeader, RawValue};

use super::{PathMatch, PathPlan, PathQuery};
use crate::text;

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
#[derive(Debug)]
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
    values: HashMap<CounterId, RawValue<'a>>,
}

impl Sample {
    /// Reads a reply. `query` says which counterset each block is of.
    pub fn read(plan: &PathPlan, query: &PathQuery, data: &CounterData, before: &mut Readings) -> Self {
        let data = data.data();
        let clocks = clocks(data.header());
        let (mut rows, mut refused): (Vec<Vec<Row<'_>>>, _) = (Vec::new(), Vec::new());
        rows.resize_with(plan.countersets.len(), Vec::new);
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
                    add_rows(&mut rows[*counterset], &block, is_single, asked_for);
                }
                // No such instance now.
                Ok(block) if block.status == ms_dtyp::Win32Error::ERROR_NO_DATA => {}
                Ok(block) => refused.push(format!("counterset `{name}`: {}", block.status)),
                Err(error) => refused.push(format!("counterset `{name}`: {error}")),
            }
        }
        let mut sample = Self {
            time: data.header().perf_time_100ns,
            clocks,
            values: Vec::new(),
            needs_another: false,
            refused,
        };
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
            let Some(reading) = reading(info, raw, &row.values, self.clocks) else {
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

fn clocks(header: &DataHeader) -> RawClocks {
    RawClocks {
        perf_time: header.perf_time_stamp,
        perf_freq: header.perf_freq,
        time_100ns: header.perf_time_100ns.0,
        object_time: None,
        object_freq: None,
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
    let clocks = if needs.object_clock {
        RawClocks { object_time: of(info.perf_time_id), object_freq: of(info.perf_freq_id), ..clocks }
    } else {
        clocks
    };
    Some(Reading { value, base, clocks })
}

fn add_rows<'a>(rows: &mut Vec<Row<'a>>, block: &Block<'a>, is_single: bool, asked_for: Option<&str>) {
    let ids: Vec<CounterId> = block.counters().ids().collect();
    for instance in block.instances() {
        // A host may name a counter twice; the first one counts.
        let mut values = HashMap::with_capacity(ids.len());
        for (id, value) in ids.iter().zip(instance.values) {
            values.entry(*id).or_insert(value);
        }
        let mut name: String = instance.name.chars().collect();
        if name.is_empty() {
            name = asked_for.unwrap_or_default().to_owned();
        }
        let id = Some(instance.instance_id).filter(|id| *id != InstanceId::ANY).map(|id| id.0);
        let same = |row: &&Row<'_>| row.instance.as_ref().is_some_and(|known| known.name == name);
        let index = u32::try_from(rows.iter().filter(same).count()).unwrap_or(u32::MAX);
        let instance = (!is_single).then_some(Instance { name, id, index });
        rows.push(Row { instance, values });
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
