//! Writes logs of invented values into a folder: `invented.csv`, `invented.tsv` and `invented.parquet`, each through a queue.
//!
//! `cargo run -p counter-log --example invented_log -- FOLDER`. What reads them computes the same values:
//! `crates/xtask/peers/read_logs.py`.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use counter_log::writer::{Existing, FileFormat, FileLog, FileOptions, OpenFolder, QueueOptions, log_queue};
use counter_log::{Column, LogHeader, RawSample, Sample};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// One every 250 ms for half an hour, so that a Parquet file has several row groups.
const RECORDS: u32 = 7_200;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).ok_or("usage: invented_log FOLDER")?;
    let open: OpenFolder = Arc::new(move || Dir::open_ambient_dir(&folder, ambient_authority()));
    let columns = columns();
    let count = columns.len();
    let description = "Invented, with \"quotes\"".to_owned();
    let header = Arc::new(LogHeader { columns, zone: TimeZone::get("Europe/Berlin")?, description });
    let start: Timestamp = "2026-01-31T22:59:00Z".parse()?;
    for (name, format) in [
        ("invented.csv", FileFormat::Csv),
        ("invented.tsv", FileFormat::Tsv),
        ("invented.parquet", FileFormat::Parquet),
    ] {
        let options = FileOptions { format, existing: Existing::Replace, circular_bytes_max: None };
        let sink = FileLog::new(Arc::clone(&open), name, Arc::clone(&header), options);
        let (queue, writer) = log_queue(count, sink, &QueueOptions::default());
        let writing = tokio::spawn(writer.run());
        for record in 0..RECORDS {
            let time = start + SignedDuration::from_millis(i64::from(record) * 250);
            queue.push(time, (0..count).map(|column| sample(record, column)));
            tokio::task::yield_now().await;
        }
        let counts = queue.finish(Instant::now() + Duration::from_secs(60)).await;
        writing.await?;
        println!("{name}: {} records, {} dropped, {} bytes", counts.written, counts.dropped, counts.bytes);
    }
    Ok(())
}

fn columns() -> Vec<Column> {
    let column =
        |object: &str, parent: Option<&str>, instance: Option<&str>, instance_index, counter: &str| Column {
            machine: "WEB1".to_owned(),
            object: object.to_owned(),
            parent: parent.map(str::to_owned),
            instance: instance.map(str::to_owned),
            instance_index,
            counter: counter.to_owned(),
            counter_type: 0x1041_0400,
            default_scale: 0,
            time_base: 10_000_000,
        };
    vec![
        column("Memory", None, None, 0, "Pages/sec"),
        column("Thread", Some("svchost"), Some("3"), 0, "% Processor Time"),
        column("Process", None, Some("svchost"), 1, "Working Set"),
        column("Netzwerkadapter", None, Some("Größe, \"quoted\""), 0, "Bytes/s"),
    ]
}

/// Every fifth is missing; the others are of all sizes.
fn sample(record: u32, column: usize) -> Sample {
    let column = u32::try_from(column).unwrap_or(0);
    let number = f64::from(record * 4 + column);
    let value = match column {
        0 => number / 7.0,
        1 => number * 1e-9,
        2 => number * 1e12,
        _ => -number,
    };
    let is_missing = (record + column).is_multiple_of(5);
    let raw = RawSample { first: i64::from(record) << 32, second: i64::from(column), multi_count: 1 };
    Sample { value: (!is_missing).then_some(value), raw: (!is_missing).then_some(raw) }
}
