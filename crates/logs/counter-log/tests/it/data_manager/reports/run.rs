//! An invented run of a data collector set.

use counter_log::data_manager::reports::{Gap, RunFacts, RunFile, Source, Statistics};
use counter_log::{Batch, Column, Sample};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A run: the columns of its log, and their figures.
pub(crate) struct Run {
    pub(crate) columns: Vec<Column>,
    pub(crate) statistics: Statistics,
    pub(crate) facts: RunFacts,
}

/// 2026-11-26 13:00 in Berlin.
pub(crate) const START: i64 = 1_795_694_400;

pub(crate) fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(START + seconds).expect("the time is within this century")
}

pub(crate) fn column(object: &str, instance: Option<&str>, counter: &str) -> Column {
    Column {
        machine: "web1".to_owned(),
        object: object.to_owned(),
        parent: None,
        instance: instance.map(str::to_owned),
        instance_index: 0,
        counter: counter.to_owned(),
        counter_type: 0,
        default_scale: 0,
        time_base: 10_000_000,
    }
}

impl Run {
    /// A run with these columns, each of which has these values, one a second.
    pub(crate) fn of(columns: Vec<(Column, Vec<f64>)>) -> Self {
        let records = columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
        let mut statistics = Statistics::new(columns.len());
        let mut batch = Batch::new(columns.len());
        for record in 0..records {
            let value = |values: &[f64]| Sample { value: values.get(record).copied(), raw: None };
            let second = i64::try_from(record).expect("a run has few records");
            batch.push(time(second), columns.iter().map(|(_, values)| value(values)));
        }
        batch.rows().for_each(|row| statistics.add(row));
        let facts = RunFacts {
            set: "Shop & Sons".to_owned(),
            host: "web1".to_owned(),
            start: time(0),
            end: time(3671),
            zone: TimeZone::get("Europe/Berlin").expect("the bundled database has it"),
            serial_number: Some(11),
            files: vec![RunFile { name: "Shop.csv".to_owned(), bytes: 123_456, records: Some(3600) }],
            gaps: vec![Gap {
                start: time(100),
                end: time(160),
                reason: "the host did not answer".to_owned(),
            }],
            records: Some(3600),
            records_lost: Some(2),
            remarks: vec!["The set asks for the binary format; the log is written as CSV.".to_owned()],
        };
        Self { columns: columns.into_iter().map(|(column, _)| column).collect(), statistics, facts }
    }

    /// Processors, disks and memory.
    pub(crate) fn server() -> Self {
        let mut columns = Vec::new();
        for (instance, busy) in [("_Total", 87.5), ("0", 75.0), ("1", 100.0)] {
            columns.push((
                column("Processor", Some(instance), "% Processor Time"),
                vec![busy - 10.0, busy, busy + 10.0],
            ));
            columns.push((column("Processor", Some(instance), "Interrupts/sec"), vec![1201.5, 2409.25]));
        }
        for (instance, time) in [("_Total", 0.004), ("0 C:", 0.000_2), ("1 D:", 0.031)] {
            columns
                .push((column("PhysicalDisk", Some(instance), "Avg. Disk sec/Read"), vec![time, time * 1.5]));
            columns.push((
                column("PhysicalDisk", Some(instance), "Current Disk Queue Length"),
                vec![0.0, 1.0, 7.0],
            ));
        }
        columns.push((column("Memory", None, "Committed Bytes"), vec![20_261_367_808.0, 20_361_367_808.0]));
        columns.push((column("Memory", None, "Pages/sec"), vec![]));
        for number in 0..40 {
            let name = format!("worker{number:02}");
            columns.push((column("Process", Some(&name), "% Processor Time"), vec![f64::from(number) / 3.0]));
        }
        Self::of(columns)
    }

    pub(crate) fn source(&self) -> Source<'_> {
        Source { columns: &self.columns, statistics: &self.statistics, facts: &self.facts }
    }
}
