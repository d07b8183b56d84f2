use std::collections::{HashMap, HashSet};

use counters::pcq::types::{Attrib, CounterId};
use counters::pcq::wire::CounterRegInfo;

use super::formula::Formula;
use crate::exposition::{Exposition, Part};
use crate::properties::{Properties, properties};
use crate::quantity::quantity;
use crate::unit::{Unit, unit_of_name};

/// One family of a counterset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The counter whose name it carries.
    pub item: CounterId,
    /// The counter whose values it shows: another one for part `base`.
    pub source: CounterId,
    /// How they are exported.
    pub exposition: Exposition,
    /// The counters of the same instance that are its clock.
    pub clock: ObjectClock,
    /// The formula of the counter's type, or [`Formula::Value`] if its divisor is missing. Part `base` has one,
    /// too, but is displayed by the counter whose base it is.
    pub formula: Formula,
}

/// The counters that `PerfTimeId` and `PerfFreqId` name, if the scale needs them and they exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ObjectClock {
    pub time: Option<CounterId>,
    pub freq: Option<CounterId>,
}

/// The families of a counterset of which only the counters are known; see [`plan_of`].
pub fn plan<'n>(counters: &[CounterRegInfo], name_of: impl Fn(CounterId) -> Option<&'n str>) -> Vec<Family> {
    plan_of("", counters, name_of)
}

/// The families of the counterset with that English name, in the order of registration; `name_of` returns English
/// names of counters.
///
/// A base is exported with each counter that is divided by it, or alone if there is no such counter. Hidden
/// counters ([`Attrib::NO_DISPLAYABLE`]) are exported only as a base. If an id occurs twice, the first one is used.
pub fn plan_of<'n>(
    counterset: &str,
    counters: &[CounterRegInfo],
    name_of: impl Fn(CounterId) -> Option<&'n str>,
) -> Vec<Family> {
    let known = CounterIndex::new(counters);
    let mut families = Vec::with_capacity(counters.len());
    for (index, counter) in counters.iter().enumerate() {
        if !known.is_first(index, counter) {
            continue;
        }
        let unit = name_of(counter.counter_id).map_or(Unit::None, unit_of_name);
        let Some(row) = properties(counter.counter_type) else {
            families.extend(
                shown(counter).then(|| known.family(counter, counter.counter_id, Exposition::UNKNOWN)),
            );
            continue;
        };
        if row.is_base && known.bases.contains(&counter.counter_id) {
            continue;
        }
        if let Some(exposition) = Exposition::of(row, unit).filter(|_| shown(counter)) {
            let quantity = name_of(counter.counter_id).and_then(|name| quantity(counterset, name));
            let exposition = quantity.map_or(exposition, |quantity| quantity.applied(exposition, row));
            families.push(known.family(counter, counter.counter_id, exposition));
            families.extend(known.base_family(counter, row));
        }
    }
    families
}

/// The counters of a set by their ids. The host decides their number, so lists are not searched.
struct CounterIndex<'a> {
    /// The first of each id, and its index.
    by_id: HashMap<CounterId, (usize, &'a CounterRegInfo)>,
    /// The bases of shown counters.
    bases: HashSet<CounterId>,
}

impl<'a> CounterIndex<'a> {
    fn new(counters: &'a [CounterRegInfo]) -> Self {
        let mut by_id = HashMap::with_capacity(counters.len());
        for (index, counter) in counters.iter().enumerate() {
            by_id.entry(counter.counter_id).or_insert((index, counter));
        }
        let base_of = |counter| base_id(counter, properties(counter.counter_type)?);
        let bases = counters.iter().filter(|counter| shown(counter)).filter_map(base_of).collect();
        Self { by_id, bases }
    }

    fn is_first(&self, index: usize, counter: &CounterRegInfo) -> bool {
        self.by_id.get(&counter.counter_id).is_some_and(|&(first, _)| first == index)
    }

    fn find(&self, id: CounterId) -> Option<&'a CounterRegInfo> {
        self.by_id.get(&id).filter(|_| id != CounterId::NONE).map(|&(_, counter)| counter)
    }

    fn base_family(&self, counter: &CounterRegInfo, row: &Properties) -> Option<Family> {
        let base = self.find(base_id(counter, row)?)?;
        let exposition = Exposition::of_base(properties(base.counter_type), row);
        Some(self.family(counter, base.counter_id, exposition))
    }

    /// The formula of a counter, if everything that it needs exists.
    fn formula(&self, item: &CounterRegInfo) -> Option<Formula> {
        let row = properties(item.counter_type)?;
        let has_base = base_id(item, row).is_none_or(|base| self.find(base).is_some());
        let without = row.can_lack_base().then_some(Formula::Busy);
        if has_base { Some(row.formula) } else { without }
    }

    fn family(&self, item: &CounterRegInfo, source: CounterId, exposition: Exposition) -> Family {
        let needs_clock = properties(item.counter_type).is_some_and(|row| row.needs.object_clock);
        let there = |id| self.find(id).filter(|_| needs_clock).map(|counter| counter.counter_id);
        let clock = ObjectClock { time: there(item.perf_time_id), freq: there(item.perf_freq_id) };
        let formula = self.formula(item).filter(|_| exposition.part != Part::Base).unwrap_or(Formula::Value);
        Family { item: item.counter_id, source, exposition, clock, formula }
    }
}

fn shown(counter: &CounterRegInfo) -> bool {
    !counter.attrib.contains(Attrib::NO_DISPLAYABLE)
}

/// The id of a counter's divisor.
const fn base_id(counter: &CounterRegInfo, row: &Properties) -> Option<CounterId> {
    if row.needs.multi {
        Some(counter.multi_id)
    } else if row.needs.base {
        Some(counter.base_counter_id)
    } else {
        None
    }
}
