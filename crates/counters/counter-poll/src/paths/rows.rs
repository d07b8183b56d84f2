//! The instances of a reply, each with what was read of it.

use std::collections::HashMap;

use counter_types::{Measure, RawClocks, Reading, properties};
use ms_dtyp::FileTime;
use ms_pcq::perflibv2::CounterData;
use ms_pcq::types::{CounterId, InstanceId};
use ms_pcq::wire::{CounterRegInfo, RawValue};
use ms_rrp::winreg::RegistryValue;

use super::replies::{self, Described, Part, Receiver};
use super::{PathPlan, PathQuery};
use crate::reading::Reading as ReplyReading;

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
        let classic = classic.map(std::slice::from_ref).unwrap_or_default();
        let mut described: Vec<Vec<Described>> = Vec::new();
        replies::describe_all(plan, classic, &mut described);
        let mut rows = Rows {
            time: FileTime::default(),
            clocks: RawClocks::default(),
            refused: Vec::new(),
            rows: Vec::new(),
        };
        rows.rows.resize_with(plan.countersets.len(), Vec::new);
        for (value, described) in classic.iter().zip(&described) {
            replies::read_objects(plan, value, described, &mut rows);
        }
        let data = data.map(|(query, data)| (query, data.data()));
        if let Some((query, data)) = &data {
            replies::read_blocks(plan, query, data, &mut rows);
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

impl<'a> Receiver<'a> for Rows<'a> {
    fn begin(&mut self, time: FileTime, clocks: RawClocks) {
        (self.time, self.clocks) = (time, clocks);
    }

    fn refuse(&mut self, reason: String) {
        self.refused.push(reason);
    }

    fn take(&mut self, part: Part<'_, impl ReplyReading<'a>>) {
        let Some(rows) = self.rows.get_mut(part.counterset) else { return };
        add_rows(rows, part.reading, part.clocks, part.is_single, part.asked_for);
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
