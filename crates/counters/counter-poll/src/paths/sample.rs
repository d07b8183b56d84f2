//! One reply as cooked values.

use std::collections::{HashMap, HashSet};

use counter_types::{Cooked, Formula, Measure, RawClocks, Reading, cook, properties};
use counters::pcq::perflibv2::CounterData;
use counters::pcq::wire::CounterRegInfo;
use counters::rrp::winreg::RegistryValue;
use wire::FileTime;

use super::aggregate::Aggregates;
use super::rows::{Row, Rows};
use super::{Instance, PathMatch, PathPlan, PathQuery};
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

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number: what was read, and what is displayed.
    Number(Reading, Cooked),
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
    pub values: Vec<(Key, Value)>,
    /// Whether a value needs another sample, and the next one will do.
    pub needs_another: bool,
    /// Blocks that the host did not fill, in words.
    pub refused: Vec<String>,
}

/// What was read the last time.
#[derive(Debug, Default)]
pub struct Readings {
    readings: HashMap<Key, Reading>,
    aggregates: Aggregates,
}

impl Sample {
    /// Reads the replies: one of a query, which says which counterset each block is of, and one of classic objects.
    pub async fn read(
        plan: &PathPlan,
        data: Option<(&PathQuery, &CounterData)>,
        classic: Option<&RegistryValue>,
        before: &mut Readings,
    ) -> Self {
        let mut sample = Self::default();
        let Readings { readings, aggregates } = before;
        Rows::read(plan, data, classic, aggregates, |rows| {
            (sample.time, sample.clocks) = (rows.time, rows.clocks);
            sample.refused = rows.refused.to_vec();
            let mut seen = HashSet::new();
            let mut now = HashMap::new();
            for pick in &plan.matches {
                for row in rows.of(pick.counterset) {
                    sample.add(plan, pick, row, readings, (&mut seen, &mut now));
                }
            }
            *readings = now;
        })
        .await;
        sample
    }

    fn add(
        &mut self,
        plan: &PathPlan,
        pick: &PathMatch,
        row: &Row<'_>,
        before: &HashMap<Key, Reading>,
        (seen, now): (&mut HashSet<Key>, &mut HashMap<Key, Reading>),
    ) {
        if !pick.wants(row.instance.as_ref()) {
            return;
        }
        for counter in &pick.counters {
            let info = &plan.countersets[pick.counterset].counters[*counter].info;
            let Some(raw) = row.raw(info) else { continue };
            let key = Key { counterset: pick.counterset, instance: row.instance.clone(), counter: *counter };
            if !seen.insert(key.clone()) {
                continue;
            }
            if properties(info.counter_type).is_some_and(|row| row.measure == Measure::Text) {
                let text = text::decode(text::TextBytes::of(raw).as_slice());
                self.values.push((key, Value::Text(text)));
                continue;
            }
            let Some(reading) = row.reading(info) else {
                self.values.push((key, Value::Nothing));
                continue;
            };
            let cooked = cook(info.counter_type, before.get(&key), &reading);
            self.needs_another |= cooked == Cooked::NeedsTwo;
            now.insert(key.clone(), reading);
            self.values.push((key, Value::Number(reading, cooked)));
        }
    }
}

impl Readings {
    /// Whether nothing was read yet.
    pub fn is_empty(&self) -> bool {
        self.readings.is_empty()
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
