//! Records of counters: the columns of a log, and its samples.
//!
//! | module | job |
//! | --- | --- |
//! | `bound` | where their values are in the replies |
//! | `recorder` | which counters and instances are columns, fixed when a log begins; when a collector is due, and what a record has |
//!
//! The numbers that PDH keeps of a sample are made here, by `raw_sample`.

mod bound;
mod recorder;

use counter_log::RawSample;
use counter_poll::paths::{Instance, PathMatch};
use counter_types::{
    Clock, CounterPath, CounterType, Formula, Measure, Properties, RawClocks, Reading, properties,
};

pub(crate) use self::recorder::{HeaderContext, Recorder};

/// The counter paths of a log with their places among those that are asked for.
type Paths = [(usize, CounterPath)];

/// Whether a path means an instance; the only one of a counterset always.
fn wants(path: &PathMatch, instance: Option<&Instance>) -> bool {
    path.wants(instance)
}

/// What an instance is known by from reply to reply.
fn key(instance: &Instance) -> (String, u32) {
    (instance.name.to_lowercase(), instance.index)
}

fn is_text(counter_type: CounterType) -> bool {
    properties(counter_type).is_some_and(|row| matches!(row.measure, Measure::Text | Measure::Nothing))
}

// The numbers that PDH keeps of a sample, `PDH_RAW_COUNTER`: those from which the value of two samples is computed.

/// `FirstValue`, `SecondValue` and `MultiCount`. The second value is what the formula divides by: the base where the type has
/// one, else the clock.
fn raw_sample(counter_type: CounterType, reading: &Reading) -> RawSample {
    let Reading { value, base, clocks } = reading;
    let first = value.cast_signed();
    let Some(row) = properties(counter_type) else { return RawSample { first, second: 0, multi_count: 1 } };
    let second = if row.needs.base { base.unwrap_or_default() } else { clock_of(row, clocks) };
    let multi_count = if row.needs.multi {
        base.and_then(|things| u32::try_from(things).ok()).unwrap_or_default()
    } else {
        1
    };
    RawSample { first, second: second.cast_signed(), multi_count }
}

/// Ticks in a second of the clock that the second value, or the first one, is of.
fn time_base(counter_type: CounterType, clocks: &RawClocks) -> u64 {
    let Some(row) = properties(counter_type) else { return clocks.perf_freq };
    match row.clock {
        Clock::HundredNanoseconds => INTERVALS_PER_SECOND,
        Clock::Object => clocks.object_freq.unwrap_or(clocks.perf_freq),
        Clock::PerfTime | Clock::None => clocks.perf_freq,
    }
}

fn clock_of(row: &Properties, clocks: &RawClocks) -> u64 {
    let has_time =
        row.formula.needs_two() && row.formula != Formula::Delta || row.formula == Formula::Elapsed;
    match row.clock {
        _ if !has_time => 0,
        Clock::None => 0,
        Clock::PerfTime => clocks.perf_time,
        Clock::HundredNanoseconds => clocks.time_100ns,
        Clock::Object => clocks.object_time.unwrap_or(clocks.perf_time),
    }
}

const INTERVALS_PER_SECOND: u64 = wire::FileTime::INTERVALS_PER_SECOND;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counter_type: CounterType) -> (i64, i64, u32) {
        let clocks = RawClocks {
            perf_time: 7,
            perf_freq: 3,
            time_100ns: 9,
            object_time: Some(11),
            object_freq: Some(5),
        };
        let RawSample { first, second, multi_count } =
            raw_sample(counter_type, &Reading { value: 40, base: Some(4), clocks });
        (first, second, multi_count)
    }

    // The Win32 page "PDH_RAW_COUNTER" and those of the counter types: a rate has its time, a fraction its base.
    #[test]
    fn the_second_value_is_the_base_or_the_clock_of_the_formula() {
        let table = [
            (CounterType::PERF_COUNTER_LARGE_RAWCOUNT, (40, 0, 1)),
            (CounterType::PERF_COUNTER_BULK_COUNT, (40, 7, 1)),
            (CounterType::PERF_100NSEC_TIMER, (40, 9, 1)),
            (CounterType::PERF_RAW_FRACTION, (40, 4, 1)),
            (CounterType::PERF_AVERAGE_BULK, (40, 4, 1)),
            (CounterType::PERF_ELAPSED_TIME, (40, 11, 1)),
            (CounterType::PERF_COUNTER_MULTI_TIMER, (40, 7, 4)),
            (CounterType::PERF_COUNTER_DELTA, (40, 0, 1)),
        ];
        for (counter_type, expected) in table {
            assert_eq!(of(counter_type), expected, "{counter_type:?}");
        }
    }
}
