//! Rows of `CounterData` a second, with their primary key: 1,000 counters × 200 records, in batches of 50 records, into an empty
//! database; and 10,000 counters × 20 records, where each record is a batch.
//!
//! `cargo bench -p counter-log --bench rows` prints the tables, in seconds of the clock on the wall. Guarded numbers: 50,000 rows a second
//! into SQLite, and at most 1.5 times what a plain loop of `rusqlite` takes over the same table. With
//! `LOG_DATABASE_POSTGRES=PORT/DATABASE/USER`, and `LOG_DATABASE_PASSWORD` if it takes one, a server of PostgreSQL on this
//! machine takes part, with the first guard.
//!
//! | on two cores of a shared machine | rows a second |
//! | --- | --- |
//! | SQLite, 1,000 counters | 425,000 |
//! | SQLite, 10,000 counters | 233,000 |
//! | PostgreSQL 15, 1,000 counters | 515,000 |
//! | PostgreSQL 15, 10,000 counters | 469,000 |
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use counter_log::database::{Log, PostgresSettings, PostgresSink, SqliteFile, SqliteSink};
use counter_log::{Batch, Column, LogHeader, LogSink, RawSample, Sample};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rusqlite::{Connection, params};
use test_support::race::{Goal, Race};
use tokio::runtime::Runtime;

const ROUNDS: usize = 3;
const PLAIN: &str = "a plain loop of rusqlite";
const SQLITE: &str = "SqliteSink";
const POSTGRES: &str = "PostgresSink";
const GOAL: Goal<'static> = Goal { name: SQLITE, yardstick: PLAIN, ratio: 1.5 };
const ROWS_A_SECOND_MIN: f64 = 50_000.0;

/// How much is written.
#[derive(Clone, Copy)]
struct Workload {
    name: &'static str,
    counters: u32,
    batches: u32,
    records: u32,
}

const WORKLOADS: [Workload; 2] = [
    Workload { name: "1,000 counters × 50 records × 4", counters: 1_000, batches: 4, records: 50 },
    Workload { name: "10,000 counters × 1 record × 20", counters: 10_000, batches: 20, records: 1 },
];

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let holds = WORKLOADS.map(|workload| race(&runtime, workload));
    if holds == [true; 2] { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn race(runtime: &Runtime, workload: Workload) -> bool {
    let batches: Vec<Batch> = (0..workload.batches).map(|index| batch(workload, index)).collect();
    let rows = u64::from(workload.counters * workload.batches * workload.records);
    let settings = postgres_settings();
    let mut round = 0;
    let mut race = Race::new(workload.name, "row", rows)
        .by_the_wall()
        .reported(PLAIN, || plain(&batches))
        .reported(SQLITE, || sqlite(runtime, workload, &batches));
    if let Some(settings) = &settings {
        race = race.reported(POSTGRES, || {
            round += 1;
            let name = format!("{} {round}, {:?}", workload.name, std::time::SystemTime::now());
            let sink = PostgresSink::new(Arc::clone(settings), log(&name, workload));
            runtime.block_on(write(sink, &batches))
        });
    }
    let results = race.run(ROUNDS);
    let mut holds = results.judge(&[GOAL]);
    for name in [SQLITE, POSTGRES] {
        let Some(nanos) = results.nanos_a_unit(name) else { continue };
        let rate = 1e9 / nanos;
        println!("  {name}: {rate:.0} rows a second; at least {ROWS_A_SECOND_MIN} are wanted");
        holds &= rate * 2.0 >= ROWS_A_SECOND_MIN;
    }
    holds
}

async fn write(mut sink: impl LogSink, batches: &[Batch]) -> Duration {
    let begun = Instant::now();
    for batch in batches {
        let written = sink.write(batch).await;
        assert_eq!((written.records, written.failure), (batch.len(), None));
    }
    sink.finish().await.unwrap();
    begun.elapsed()
}

fn sqlite(runtime: &Runtime, workload: Workload, batches: &[Batch]) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let file = SqliteFile::at(&folder.path().join("log.db")).unwrap();
    runtime.block_on(write(SqliteSink::new(file, log("Bench", workload)), batches))
}

/// The same table, a transaction for each batch, and a statement that is prepared once.
fn plain(batches: &[Batch]) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = Connection::open(folder.path().join("log.db")).unwrap();
    let begun = Instant::now();
    let set_up = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536; \
                  CREATE TABLE CounterData (GUID CHAR(36) NOT NULL, CounterID INT NOT NULL, RecordIndex INT NOT NULL, \
                  CounterDateTime CHAR(24) NOT NULL, CounterValue FLOAT NOT NULL, FirstValueA INT, FirstValueB INT, \
                  SecondValueA INT, SecondValueB INT, MultiCount INT, PRIMARY KEY (GUID, CounterID, RecordIndex)) \
                  WITHOUT ROWID";
    connection.execute_batch(set_up).unwrap();
    let mut index = 0;
    for batch in batches {
        let transaction = connection.transaction().unwrap();
        let sql = "INSERT INTO CounterData VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let mut insert = transaction.prepare(sql).unwrap();
        for row in batch.rows() {
            index += 1;
            for (counter, sample) in (1_i64..).zip(row.samples) {
                let (id, time) = ("6F9619FF-8B86-4D11-B42D-00C04FC964FF", "2026-03-01 00:00:00.000");
                let values = params![id, counter, index, time, sample.value, 1, 2, 3, 4, 5];
                insert.execute(values).unwrap();
            }
        }
        drop(insert);
        transaction.commit().unwrap();
    }
    connection.close().unwrap();
    begun.elapsed()
}

fn postgres_settings() -> Option<Arc<PostgresSettings>> {
    let text = std::env::var("LOG_DATABASE_POSTGRES").ok()?;
    let mut parts = text.split('/');
    let port = parts.next()?.parse().ok()?;
    let settings = PostgresSettings::new("127.0.0.1", parts.next()?, parts.next()?);
    let password = std::env::var("LOG_DATABASE_PASSWORD").ok().map(ssp::Secret::new);
    Some(Arc::new(PostgresSettings { port, password, ..settings }))
}

fn log(name: &str, workload: Workload) -> Log {
    let column = |index: u32| Column {
        machine: "WEB1".to_owned(),
        object: "Process".to_owned(),
        parent: None,
        instance: Some(format!("worker {index}")),
        instance_index: 0,
        counter: "% Processor Time".to_owned(),
        counter_type: 0x2041_0500,
        default_scale: 0,
        time_base: 10_000_000,
    };
    let columns = (0..workload.counters).map(column).collect();
    Log::new(name, LogHeader { columns, zone: TimeZone::UTC, description: String::new() }).unwrap()
}

fn batch(workload: Workload, index: u32) -> Batch {
    let mut batch = Batch::new(workload.counters as usize);
    for record in 0..workload.records {
        let second = 1_772_323_200 + i64::from(index * workload.records + record);
        let sample = |counter: u32| Sample {
            value: Some(f64::from(record) + f64::from(counter) / 7.0),
            raw: Some(RawSample { first: second << 20, second, multi_count: 0 }),
        };
        batch.push(Timestamp::from_second(second).unwrap(), (0..workload.counters).map(sample));
    }
    batch
}
