//! Invented logs.

use counter_log::database::Log;
use counter_log::{Batch, Column, LogHeader, RawSample, Sample};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The time 2026-03-01 00:00:00 UTC.
const START_S: i64 = 1_772_323_200;

/// A log with so many counters of a host: instances of `% Processor Time`.
pub(crate) fn log(name: &str, machine: &str, counters: u32) -> Log {
    let columns = (0..counters).map(|index| Column {
        machine: machine.to_owned(),
        object: "Processor".to_owned(),
        parent: None,
        instance: Some(index.to_string()),
        instance_index: 0,
        counter: "% Processor Time".to_owned(),
        counter_type: 0x2161_0500,
        default_scale: 0,
        time_base: 10_000_000,
    });
    let zone = TimeZone::get("Europe/Berlin").expect("the bundled database has it");
    let header = LogHeader { columns: columns.collect(), zone, description: String::new() };
    Log::new(name, header).expect("the name is harmless")
}

/// One record a second. The value of counter c in record r is r + c / 1000.
pub(crate) fn batch(counters: u32, records: std::ops::Range<u32>) -> Batch {
    let mut batch = Batch::new(counters as usize);
    for record in records {
        let time = Timestamp::from_second(START_S + i64::from(record)).expect("it is near now");
        let sample = |counter: u32| Sample {
            value: Some(f64::from(record) + f64::from(counter) / 1000.0),
            raw: Some(RawSample { first: i64::from(record), second: -1, multi_count: 1 }),
        };
        batch.push(time, (0..counters).map(sample));
    }
    batch
}
