//! Replies in, states of alerts and records of logs out, as in each collection: what a benchmark and a test of allocations measure.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use counter_poll::Pace;
use counter_poll::paths::{PathPlan, PathQuery};
use counter_types::CounterPath;
use counters::pcq::perflibv2::CounterData;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::time::Instant;

use crate::alert_table::{AlertTable, WatchedAlert};
use crate::config::StorageSettings;
use crate::counters::{Counters, Kinds, Paths};
use crate::logs::{HeaderContext, Recorder};
use crate::model::{
    Alert, CounterCollector, Destination, LogFormat, Name, Origin, SampleInterval, Set, Start,
};
use crate::runs::{LogFactory, OpenLog};

/// The alerts of one target.
#[derive(Debug, Default)]
pub struct Alerts {
    alert_table: AlertTable,
    counters: Counters,
    recorder: Option<Recorder>,
    log_factory: Option<LogFactory>,
    log: Option<OpenLog>,
    turns: usize,
}

impl Alerts {
    /// Takes alerts with these thresholds, as far as they are some. Returns the paths of their counters.
    pub fn select(&mut self, thresholds: &[String]) -> Vec<CounterPath> {
        let alert = |(number, threshold): (usize, &String)| {
            Some(Alert {
                name: number.to_string(),
                threshold: threshold.parse().ok()?,
                interval: SampleInterval::DEFAULT,
                hold: Duration::ZERO,
                logs_events: false,
                task: None,
                start_set: None,
                is_optional: false,
            })
        };
        let alerts = thresholds.iter().enumerate().filter_map(alert).collect();
        let set = Set {
            name: "Measured".to_owned(),
            origin: Origin::Configuration,
            start: Start::Always,
            duration: Duration::ZERO,
            alerts,
            logs: None,
            is_optional: false,
            collectors: Default::default(),
            problems: Vec::new(),
            problems_left_out: 0,
        };
        let mut paths = Paths::default();
        self.alert_table.select(std::iter::once(&set), &mut paths, |_| true);
        paths.into_list().0
    }

    /// The paths mean this.
    pub fn found(&mut self, plan: PathPlan, paths: usize) {
        self.counters.take(plan, paths);
    }

    /// Judges what is due on a reply.
    pub fn judge(&mut self, query: &PathQuery, data: &CounterData, now: Duration) {
        run(self.counters.read(Some((query, data)), false));
        if let Some(found) = self.counters.found() {
            let replied = Kinds { version_2: true, classic: false };
            let (_, turns) = run(self.alert_table.judge(found, self.counters.frame(), replied, now));
            self.turns = turns;
        }
    }

    /// Logs the counters of these paths, too, which are all that were found.
    pub fn log(&mut self, paths: Vec<CounterPath>) {
        let collector = CounterCollector {
            name: "Measured".to_owned(),
            paths: paths.clone(),
            interval: SampleInterval::DEFAULT,
            destination: Destination::Database { database: String::new(), log: String::new() },
            records_max: None,
        };
        self.recorder = Some(Recorder::new(Arc::new(collector), paths.into_iter().enumerate().collect(), 0));
    }

    /// Makes a record of a reply. Returns how many of its columns have values.
    pub fn record(&mut self, query: &PathQuery, data: &CounterData, now: Duration) -> usize {
        run(self.counters.read(Some((query, data)), false));
        let Some((found, recorder)) = self.counters.found().zip(self.recorder.as_mut()) else { return 0 };
        let (frame, replied) = (self.counters.frame(), Kinds { version_2: true, classic: false });
        let opening = HeaderContext { machine: "web1", zone: &TimeZone::UTC, description: "" };
        let mut pace = Pace::default();
        let (_, began) = run(recorder.begin(found, frame, replied, now, &opening, &mut pace));
        let time = (now, Timestamp::UNIX_EPOCH);
        let (record, sampled) = run(recorder.sample(found, frame, replied, time, &mut pace));
        self.turns = began + sampled;
        record.map_or(0, |(_, samples)| samples.iter().filter(|sample| sample.value.is_some()).count())
    }

    /// How often the last judging, or the last record, let other tasks run.
    #[must_use]
    pub const fn turns(&self) -> usize {
        self.turns
    }

    /// Instances that are not in the log, or not with all of their counters.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.recorder.as_ref().map_or(0, Recorder::left_out)
    }

    /// Logs go to files below this directory. Must be followed by [`write`](Self::write) inside a runtime of tokio.
    pub fn log_to(&mut self, directory: PathBuf) {
        let storage = StorageSettings { directory: Some(directory), ..StorageSettings::default() };
        self.log_factory = Some(LogFactory::new("web1".to_owned(), storage));
    }

    /// Makes a record of a reply, and passes it to the log, which begins with the first one.
    pub fn write(&mut self, query: &PathQuery, data: &CounterData, now: Duration) {
        run(self.counters.read(Some((query, data)), false));
        let (Some(found), Some(recorder)) = (self.counters.found(), self.recorder.as_mut()) else { return };
        let (frame, replied) = (self.counters.frame(), Kinds { version_2: true, classic: false });
        let opening = HeaderContext { machine: "web1", zone: &TimeZone::UTC, description: "" };
        let began = Timestamp::UNIX_EPOCH;
        let mut pace = Pace::default();
        let (header, _) = run(recorder.begin(found, frame, replied, now, &opening, &mut pace));
        if let (Some(header), Some(log_factory)) = (header, &self.log_factory) {
            let name = Name { base: "counters".to_owned(), ..Name::default() };
            let destination =
                Destination::File { format: LogFormat::Csv, name, overwrites: false, is_circular: false };
            let collector = CounterCollector { destination, ..CounterCollector::clone(&recorder.collector) };
            let state = log_factory.state("Measured");
            let of = (&TimeZone::UTC, &collector);
            self.log = log_factory.open(state.as_ref(), of, (1, "run", began, None), &mut Vec::new(), header);
        }
        let (record, _) = run(recorder.sample(found, frame, replied, (now, began + now), &mut pace));
        if let (Some((time, samples)), Some(log)) = (record, &mut self.log) {
            log.push(time, samples);
        }
    }

    /// Ends the log. Returns how many records are in its file.
    pub async fn close(&mut self) -> u64 {
        let Some(log) = self.log.take() else { return 0 };
        log.close(Instant::now() + CLOSE_MAX).await.counts.written
    }

    /// The samples that fired so far.
    #[must_use]
    pub fn fired(&self) -> u64 {
        self.alert_table.alerts().iter().map(WatchedAlert::triggered).sum()
    }
}

const CLOSE_MAX: Duration = Duration::from_secs(60);

/// Runs what lets other tasks run in between; there are none here. Returns how often it did.
fn run<T>(work: impl Future<Output = T>) -> (T, usize) {
    let (mut work, mut turns) = (pin!(work), 0);
    loop {
        if let Poll::Ready(output) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return (output, turns);
        }
        turns += 1;
    }
}
