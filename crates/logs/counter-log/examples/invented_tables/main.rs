//! Writes an invented log into a database, and says what it knows of each record: the program of a conformance check, which
//! kills the server meanwhile and compares the tables with what was said.
//!
//! ```text
//! invented_tables --sqlite /var/tmp/log.db --log NAME
//! invented_tables --port 5432 --database perf --user perf --password-file /run/secrets/perf --log NAME
//! ```
//!
//! Further options: `--counters 50`, `--records 400` and `--pause-ms 20` between two records; `--waiting 100`, how many records
//! wait for the database at most, before the oldest are dropped; `--cut 3`, which cuts the connection at each third
//! transaction: the server commits and its answer is lost, or the order to commit is lost; `--tls-ca FILE`.
//!
//! It prints `written 1 20` for the records 1 to 20, `dropped 21`, `failed unavailable …`, and `end`. The value of counter c in
//! record r is r + c / 1000, for c from 0. A record has every value but one: that of counter r modulo the number of counters.

mod cut;

use std::collections::VecDeque;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use counter_log::database::{Log, PostgresSettings, PostgresSink, SqliteFile, SqliteSink, Tls};
use counter_log::{Batch, Column, LogHeader, LogSink, RawSample, Sample, Written};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ssp::Secret;
use tokio::time::{MissedTickBehavior, interval};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What the command line says.
struct Options {
    sqlite: Option<PathBuf>,
    port: u16,
    database: String,
    user: String,
    password_file: Option<PathBuf>,
    tls_ca: Option<PathBuf>,
    log: String,
    counters: u32,
    records: u32,
    pause: Duration,
    waiting: usize,
    cut: Option<u32>,
}

#[tokio::main]
async fn main() -> Result<()> {
    let options = options()?;
    let header =
        LogHeader { columns: columns(options.counters), zone: TimeZone::UTC, description: String::new() };
    let log = Log::new(&options.log, header)?;
    match &options.sqlite {
        Some(path) => run(SqliteSink::new(SqliteFile::at(path)?, log), &options).await,
        None => {
            let settings = settings(&options).await?;
            run(PostgresSink::new(Arc::new(settings), log), &options).await
        }
    }
}

async fn settings(options: &Options) -> Result<PostgresSettings> {
    let mut settings = PostgresSettings::new("127.0.0.1", &options.database, &options.user);
    settings.port = options.port;
    if let Some(file) = &options.password_file {
        settings.password = Some(Secret::new(std::fs::read_to_string(file)?.trim_end()));
    }
    if let Some(file) = &options.tls_ca {
        settings.host = "localhost".to_owned();
        settings.tls = Tls::Require { ca_file: Some(file.clone()) };
    }
    settings.connect_timeout = Duration::from_secs(2);
    settings.statement_timeout = Duration::from_secs(5);
    if let Some(every) = options.cut {
        settings.port = cut::start(options.port, every).await?;
    }
    Ok(settings)
}

/// One record at each tick; those that the database does not take wait, as many as may.
async fn run(mut sink: impl LogSink, options: &Options) -> Result<()> {
    let mut waiting: VecDeque<u32> = VecDeque::new();
    let mut ticks = interval(options.pause);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut batch = Batch::new(options.counters as usize);
    for record in 1..=options.records {
        ticks.tick().await;
        waiting.push_back(record);
        if waiting.len() > options.waiting
            && let Some(oldest) = waiting.pop_front()
        {
            println!("dropped {oldest}");
        }
        write(&mut sink, &mut waiting, &mut batch, options.counters).await;
    }
    // At the end the database has some time to come back.
    for _ in 0..100 {
        if waiting.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        write(&mut sink, &mut waiting, &mut batch, options.counters).await;
    }
    for record in waiting {
        println!("dropped {record}");
    }
    sink.finish().await?;
    println!("end");
    Ok(())
}

async fn write(sink: &mut impl LogSink, waiting: &mut VecDeque<u32>, batch: &mut Batch, counters: u32) {
    batch.clear();
    for record in &*waiting {
        batch.push(time(*record), samples(*record, counters));
    }
    let Written { records, failure, .. } = sink.write(batch).await;
    let written: Vec<u32> = waiting.drain(..records).collect();
    if let [first, .., last] | [first @ last] = written[..] {
        println!("written {first} {last}");
    }
    if let Some(failure) = failure {
        println!("failed {} {}", failure.kind.as_str(), failure.message);
    }
}

fn columns(counters: u32) -> Vec<Column> {
    let column = |index: u32| Column {
        machine: "INVENTED".to_owned(),
        object: "Process".to_owned(),
        parent: None,
        instance: Some(format!("worker {}", index / 2)),
        instance_index: index % 2,
        counter: "% Processor Time".to_owned(),
        counter_type: 0x2041_0500,
        default_scale: 0,
        time_base: 10_000_000,
    };
    (0..counters).map(column).collect()
}

/// One second apart from each other.
fn time(record: u32) -> Timestamp {
    Timestamp::UNIX_EPOCH + Duration::from_secs(1_772_323_200 + u64::from(record))
}

fn samples(record: u32, counters: u32) -> impl Iterator<Item = Sample> {
    (0..counters).map(move |counter| {
        if counter == record % counters {
            return Sample::default();
        }
        let raw =
            RawSample { first: i64::from(record) << 32 | i64::from(counter), second: -1, multi_count: 1 };
        Sample { value: Some(f64::from(record) + f64::from(counter) / 1000.0), raw: Some(raw) }
    })
}

fn options() -> Result<Options> {
    let mut options = Options {
        sqlite: None,
        port: 5432,
        database: "perf".to_owned(),
        user: "perf".to_owned(),
        password_file: None,
        tls_ca: None,
        log: "Invented".to_owned(),
        counters: 50,
        records: 400,
        pause: Duration::from_millis(20),
        waiting: 100,
        cut: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(option) = words.next() {
        let value = words.next().ok_or_else(|| format!("{option} has no value"))?;
        match option.as_str() {
            "--sqlite" => options.sqlite = Some(value.into()),
            "--port" => options.port = value.parse()?,
            "--database" => options.database = value,
            "--user" => options.user = value,
            "--password-file" => options.password_file = Some(value.into()),
            "--tls-ca" => options.tls_ca = Some(value.into()),
            "--log" => options.log = value,
            "--counters" => options.counters = value.parse()?,
            "--records" => options.records = value.parse()?,
            "--pause-ms" => options.pause = Duration::from_millis(value.parse()?),
            "--waiting" => options.waiting = value.parse()?,
            "--cut" => options.cut = Some(value.parse()?),
            _ => return Err(format!("no option {option}").into()),
        }
    }
    Ok(options)
}
