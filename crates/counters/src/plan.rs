use ms_pcq::types::{Attrib, CounterId};
use ms_pcq::wire::CounterRegInfo;

use crate::exposition::Exposition;
use crate::properties::{Properties, properties};
use crate::unit::{Unit, unit_of_name};

/// One family that a counterset gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The counter whose name it carries.
    pub item: CounterId,
    /// The counter whose values it shows: another one for part `base`.
    pub source: CounterId,
    /// How they go out.
    pub exposition: Exposition,
    /// The counters of the same instance that are its clock.
    pub clock: ObjectClock,
}

/// The counters that `PerfTimeId` and `PerfFreqId` name, where the scale asks for them and they are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ObjectClock {
    /// The clock.
    pub time: Option<CounterId>,
    /// Its frequency.
    pub freq: Option<CounterId>,
}

/// Which families a counterset gives, in the order of registration; `name_of` answers English names.
///
/// A base goes out with each counter that is divided by it, and alone only where nobody is. Counters that are not
/// to be shown ([`Attrib::NO_DISPLAYABLE`]) go out as a base only. Of an id that occurs twice the first counts.
pub fn plan<'n>(counters: &[CounterRegInfo], name_of: impl Fn(CounterId) -> Option<&'n str>) -> Vec<Family> {
    let mut families = Vec::with_capacity(counters.len());
    for (index, counter) in counters.iter().enumerate() {
        if counters[..index].iter().any(|earlier| earlier.counter_id == counter.counter_id) {
            continue;
        }
        let unit = name_of(counter.counter_id).map_or(Unit::None, unit_of_name);
        let Some(row) = properties(counter.counter_type) else {
            families.extend(
                shown(counter).then(|| family(counter, counter.counter_id, Exposition::UNKNOWN, counters)),
            );
            continue;
        };
        if row.is_base && is_referred_to(counter.counter_id, counters) {
            continue;
        }
        if let Some(exposition) = Exposition::of(row, unit).filter(|_| shown(counter)) {
            families.push(family(counter, counter.counter_id, exposition, counters));
            families.extend(base_family(counter, row, counters));
        }
    }
    families
}

fn shown(counter: &CounterRegInfo) -> bool {
    !counter.attrib.contains(Attrib::NO_DISPLAYABLE)
}

/// The id by which a counter names what it is divided by.
const fn base_id(counter: &CounterRegInfo, row: &Properties) -> Option<CounterId> {
    if row.needs.multi {
        Some(counter.multi_id)
    } else if row.needs.base {
        Some(counter.base_counter_id)
    } else {
        None
    }
}

fn is_referred_to(id: CounterId, counters: &[CounterRegInfo]) -> bool {
    let names_it = |counter: &CounterRegInfo| {
        properties(counter.counter_type).and_then(|row| base_id(counter, row)) == Some(id)
    };
    counters.iter().any(|counter| shown(counter) && names_it(counter))
}

fn base_family(counter: &CounterRegInfo, row: &Properties, counters: &[CounterRegInfo]) -> Option<Family> {
    let base = find(base_id(counter, row)?, counters)?;
    let exposition = Exposition::of_base(properties(base.counter_type), row);
    Some(family(counter, base.counter_id, exposition, counters))
}

fn family(
    item: &CounterRegInfo,
    source: CounterId,
    exposition: Exposition,
    counters: &[CounterRegInfo],
) -> Family {
    let needs_clock = properties(item.counter_type).is_some_and(|row| row.needs.object_clock);
    let there = |id| find(id, counters).filter(|_| needs_clock).map(|counter| counter.counter_id);
    let clock = ObjectClock { time: there(item.perf_time_id), freq: there(item.perf_freq_id) };
    Family { item: item.counter_id, source, exposition, clock }
}

fn find(id: CounterId, counters: &[CounterRegInfo]) -> Option<&CounterRegInfo> {
    counters.iter().find(|counter| id != CounterId::NONE && counter.counter_id == id)
}
