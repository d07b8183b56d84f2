//! Logs of 10,000 counters: as text beside a memcpy of the same bytes and beside the crate `csv`, and as Parquet.
//!
//! `cargo bench -p counter-log` prints the tables. Guarded numbers: a minute of 10,000 counters a second takes at most 60 ms as
//! CSV, a thousandth of a core, and half as long as with `csv`; 500,000 values take at most 300 ms as Parquet, journal included.
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use counter_log::parquet::{Table, journal};
use counter_log::{Batch, Column, LogHeader, RawSample, Sample, TextFormat, TextLog};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use test_support::race::{Goal, Race};

const COLUMNS: usize = 10_000;
const ROUNDS: usize = 10;

fn main() -> ExitCode {
    let text = text();
    let parquet = parquet();
    if text && parquet { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn text() -> bool {
    const OURS: &str = "CSV";
    const CRATE: &str = "csv";
    const MINUTE: &str = "a thousandth of a minute";
    let (header, batch) = (header(), batch(60));
    let log = TextLog::new(TextFormat::Csv, &header, Timestamp::UNIX_EPOCH);
    let mut text = Vec::new();
    write_text(&log, &batch, &mut text);
    let bytes = text.clone();
    let (mut copy, mut theirs) = (vec![0; bytes.len()], Vec::new());
    let results = Race::new("a minute of 10,000 counters a second as CSV", "value", (60 * COLUMNS) as u64)
        .contestant("memcpy", || black_box(&mut copy).copy_from_slice(black_box(&bytes)))
        .contestant(OURS, || write_text(&log, black_box(&batch), &mut text))
        .contestant(CRATE, || write_by_crate(black_box(&batch), &mut theirs))
        .reported(MINUTE, || Duration::from_millis(60))
        .run(ROUNDS);
    println!("  {} bytes; {} by the crate", bytes.len(), theirs.len());
    results.judge(&[
        Goal { name: OURS, yardstick: MINUTE, ratio: 1.0 },
        Goal { name: OURS, yardstick: CRATE, ratio: 0.5 },
    ])
}

fn parquet() -> bool {
    const JOURNAL: &str = "journal";
    const ROW_GROUP: &str = "row group of the journal";
    const BUDGET: &str = "300 ms";
    let (header, batch) = (header(), batch(50));
    let begin = journal::begin(&header, 4, &Table::new(&header).unwrap().footer().unwrap()).unwrap();
    let write = |bytes: &mut Vec<u8>| {
        bytes.clear();
        bytes.extend_from_slice(&begin);
        for row in black_box(&batch).rows() {
            journal::put_record(row, bytes);
        }
    };
    let mut bytes = Vec::new();
    write(&mut bytes);
    let full = bytes.clone();
    let mut copy = vec![0; full.len()];
    let mut group_bytes = 0;
    let results = Race::new("500,000 values as Parquet", "value", (50 * COLUMNS) as u64)
        .contestant("memcpy of the journal", || black_box(&mut copy).copy_from_slice(black_box(&full)))
        .contestant(JOURNAL, || write(&mut bytes))
        .contestant(ROW_GROUP, || {
            let read = journal::read(black_box(&full)).unwrap();
            let mut table = Table::new(&read.header).unwrap();
            group_bytes = table.add(&read.records).unwrap().len();
        })
        .reported(BUDGET, || Duration::from_millis(300))
        .run(ROUNDS);
    println!("  {} bytes of journal, {group_bytes} of the row group", full.len());
    results.judge(&[
        Goal { name: JOURNAL, yardstick: BUDGET, ratio: 0.1 },
        Goal { name: ROW_GROUP, yardstick: BUDGET, ratio: 0.9 },
    ])
}

fn write_text(log: &TextLog, batch: &Batch, text: &mut Vec<u8>) {
    text.clear();
    for row in batch.rows() {
        log.write_row(row, text);
    }
}

/// As one would with the crate: each value printed into a field that is kept.
fn write_by_crate(batch: &Batch, bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut builder = csv::WriterBuilder::new();
    builder.quote_style(csv::QuoteStyle::Always).terminator(csv::Terminator::CRLF);
    let mut writer = builder.from_writer(bytes);
    let mut field = String::new();
    for row in batch.rows() {
        field.clear();
        let time = TimeZone::UTC.to_datetime(row.time);
        write!(field, "{}", time.strftime("%m/%d/%Y %H:%M:%S%.3f")).unwrap();
        writer.write_field(&field).unwrap();
        for sample in row.samples {
            field.clear();
            match sample.value {
                Some(value) => write!(field, "{value}").unwrap(),
                None => field.push(' '),
            }
            writer.write_field(&field).unwrap();
        }
        writer.write_record(None::<&[u8]>).unwrap();
    }
    writer.flush().unwrap();
}

fn header() -> LogHeader {
    let column = |index: usize| Column {
        machine: "WEB1".to_owned(),
        object: "Process".to_owned(),
        parent: None,
        instance: Some(format!("instance {}", index / 25)),
        instance_index: 0,
        counter: format!("Counter {}", index % 25),
        counter_type: 0x1041_0400,
        default_scale: 0,
        time_base: 10_000_000,
    };
    LogHeader { columns: (0..COLUMNS).map(column).collect(), zone: TimeZone::UTC, description: String::new() }
}

/// A third each of counts that stand still, sizes that change, and rates with all their digits.
fn batch(records: u32) -> Batch {
    let mut batch = Batch::new(COLUMNS);
    for record in 0..records {
        let sample = |column: u32| {
            let number = f64::from(column * 31 + record * 17);
            let value = match column % 3 {
                0 => f64::from(column),
                1 => number * 4096.0,
                _ => number / 7.3,
            };
            let raw = RawSample { first: i64::from(column) << 20, second: i64::from(record), multi_count: 0 };
            Sample { value: Some(value), raw: Some(raw) }
        };
        let time = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(i64::from(record));
        batch.push(time, (0..).take(COLUMNS).map(sample));
    }
    batch
}
