//! Sets that log counters: when they run, and what becomes of their logs.
//!
//! | module | job |
//! | --- | --- |
//! | `run` | the life of one set, by the state machine of `pla_engine` |
//! | `active_collector`, `open_log` | a collector of it, and its log in one segment |
//! | `log_factory`, `turns` | where a log goes, who writes to it, and what records of all logs that wait may take |
//! | `outage` | what is said while a log cannot be written |
//! | `folder`, `state` | the folder of a set, and what is kept there of its life |
//! | `work`, `report` | what is done beside the collections: limits, reports and the data manager |

mod active_collector;
mod folder;
mod log_factory;
mod open_log;
mod outage;
mod report;
mod run;
mod state;
mod turns;
mod work;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use counter_log::database::{Log, PostgresSettings, PostgresSink, SqliteSink, Tls};
use counter_log::writer::FileLog;
use counter_log::{Batch, LogSink, SinkError, SinkErrorKind, Written};
use counter_poll::Pace;
use counter_poll::paths::Frame;
use pla_engine::Moment;
use ssp::Secret;
use tokio::time::Instant;

pub(crate) use self::active_collector::ActiveCollector;
pub(crate) use self::log_factory::{LibraryOptions, LogFactory};
pub(crate) use self::open_log::OpenLog;
pub(crate) use self::run::Run;

use self::turns::Turn;
use super::config::{Postgresql, password};
use super::threads::{PASSWORDS, Place};
use crate::actions::RunEnded;
use crate::calendar;
use crate::config::StorageSettings;
use crate::counters::{Found, Kinds, Paths};
use crate::logs::Recorder;
use crate::model::{CounterCollector, Logs, Origin, Set, Start};

/// The sets of a target that log counters.
#[derive(Debug)]
pub(crate) struct Runs {
    log_factory: Arc<LogFactory>,
    runs: Vec<Run>,
    /// Sets that are gone, until their work has ended.
    leaving: Vec<Run>,
    /// What is to be taken with the next step.
    selected: Option<Vec<Selected>>,
}

/// A set as the settings have it now.
#[derive(Debug)]
struct Selected {
    name: String,
    logs: Arc<Logs>,
    start: Start,
    /// By collector: its counters of this host with their places, and how many are of others.
    paths: Vec<(Vec<(usize, counter_types::CounterPath)>, usize)>,
}

impl Runs {
    /// None yet. `machine` is the host in the names of columns, folders and files.
    pub(crate) fn new(machine: String, storage: StorageSettings) -> Self {
        let log_factory = Arc::new(LogFactory::new(machine, storage));
        Self { log_factory, runs: Vec::new(), leaving: Vec::new(), selected: None }
    }

    /// Logs go to other places from now on, if they are others.
    pub(crate) fn reconfigure(&mut self, storage: StorageSettings) {
        if !self.log_factory.has_settings(&storage) {
            self.log_factory = Arc::new(self.log_factory.reconfigured(storage));
        }
    }

    /// Whether a set has a place for its logs.
    pub(crate) fn has_place(&self, logs: &Logs) -> bool {
        logs.collectors.iter().all(|one| self.log_factory.has(&one.destination))
    }

    /// Takes the sets as they are now, with the next step, and adds the paths of their counters.
    ///
    /// `is_own` says whether a path that names a host means this target.
    pub(crate) fn select<'a>(
        &mut self,
        sets: impl Iterator<Item = &'a Set>,
        paths: &mut Paths,
        is_own: impl Fn(&str) -> bool,
    ) {
        let log_factory = &self.log_factory;
        let own = sets.filter(|set| set.origin != Origin::Host);
        let selected = own.filter_map(|set| {
            let logs = set.logs.clone()?;
            if !logs.collectors.iter().all(|one| log_factory.has(&one.destination)) {
                return None;
            }
            let of = |collector: &Arc<CounterCollector>| {
                let own = collector.paths.iter().filter(|path| path.machine.as_deref().is_none_or(&is_own));
                let own: Vec<_> = own.map(|path| (paths.add(path, set.is_optional), path.clone())).collect();
                let others = collector.paths.len() - own.len();
                (own, others)
            };
            let paths = logs.collectors.iter().map(of).collect();
            Some(Selected { name: set.name.clone(), start: set.start, paths, logs })
        });
        self.selected = Some(selected.collect());
    }

    /// Time has passed. `is_triggered` says whether alerts want a set to run. It does not wait for disks beyond `patience`.
    pub(crate) async fn step(
        &mut self,
        is_triggered: impl Fn(&str) -> bool,
        moment: Moment,
        patience: Instant,
    ) {
        if let Some(selected) = self.selected.take() {
            self.take(selected, moment);
        }
        for run in &mut self.runs {
            if let Some(renewed) = run.renewed() {
                let mut before = std::mem::replace(run, renewed);
                before.stop(moment);
                self.leaving.push(before);
            }
        }
        for run in &mut self.leaving {
            run.step(false, moment);
            run.store(moment);
            // It may have a successor, whose logs go to other places.
            if let Some(successor) = self.runs.iter_mut().find(|other| other.name == run.name) {
                successor.compiled.add(std::mem::take(&mut run.compiled));
            }
        }
        self.leaving.retain(|run| !run.has_left());
        // Beside each other.
        self.runs.iter_mut().for_each(Run::begin_loading);
        for run in &mut self.runs {
            run.load(moment, patience).await;
            run.step(is_triggered(&run.name), moment);
            run.wait_until_compiled(moment, patience).await;
            run.store(moment);
        }
    }

    fn take(&mut self, selected: Vec<Selected>, moment: Moment) {
        let before = std::mem::take(&mut self.runs);
        let mut before: HashMap<Arc<str>, Run> =
            before.into_iter().map(|run| (Arc::clone(&run.name), run)).collect();
        self.log_factory.share(selected.iter().map(|set| set.logs.collectors.len()).sum());
        for Selected { name, logs, start, paths } in selected {
            let known = before.remove(&*name);
            let collectors = |paths: Vec<(Vec<_>, usize)>| -> Vec<ActiveCollector> {
                let all = logs.collectors.iter().zip(paths);
                all.map(|(one, (own, others))| {
                    ActiveCollector::new(Recorder::new(Arc::clone(one), own, others))
                })
                .collect()
            };
            let run = match known {
                Some(mut run) if !Arc::ptr_eq(&run.log_factory, &self.log_factory) => {
                    run.stop(moment);
                    let collectors = collectors(paths);
                    let mut new = Run::new(
                        &name,
                        (Arc::clone(&logs), start),
                        Arc::clone(&self.log_factory),
                        collectors,
                    );
                    new.count_on(&mut run);
                    self.leaving.push(run);
                    new
                }
                Some(mut run) if run.logs == logs && run.start == start => {
                    for (active, (own, _)) in run.collectors.iter_mut().zip(paths) {
                        active.recorder.place(own);
                    }
                    run
                }
                Some(mut run) => {
                    let collectors = collectors(paths);
                    run.redefine(logs, start, collectors, moment);
                    run
                }
                None => Run::new(
                    &name,
                    (Arc::clone(&logs), start),
                    Arc::clone(&self.log_factory),
                    collectors(paths),
                ),
            };
            self.runs.push(run);
        }
        for mut run in before.into_values() {
            run.stop(moment);
            self.leaving.push(run);
        }
    }

    /// Which replies are needed for what is due.
    pub(crate) fn due(&self, found: &Found, now: Duration) -> Kinds {
        self.runs.iter().fold(Kinds::default(), |all, run| all.or(run.due(found, now)))
    }

    /// Takes the samples that are due from the replies of now.
    pub(crate) async fn sample(
        &mut self,
        values: (&Found, &Frame, Kinds),
        is_triggered: impl Fn(&str) -> bool,
        now: Duration,
        moment: Moment,
    ) {
        let mut pace = Pace::default();
        for run in &mut self.runs {
            // An alert may have started it just now.
            run.follow(is_triggered(&run.name), moment);
            run.sample(values, now, moment, &mut pace).await;
        }
    }

    /// Stores what has to outlive the process.
    pub(crate) fn store(&mut self, moment: Moment) {
        self.runs.iter_mut().chain(&mut self.leaving).for_each(|run| run.store(moment));
    }

    /// Segments that have ended since the last call, of sets with a task.
    pub(crate) fn take_ended(&mut self) -> Vec<RunEnded> {
        self.runs.iter_mut().chain(&mut self.leaving).flat_map(|run| std::mem::take(&mut run.ended)).collect()
    }

    /// Counters of the logs of a set that are of other hosts.
    pub(crate) fn counters_elsewhere(&self, set: &str) -> usize {
        let runs = self.runs.iter().filter(|run| &*run.name == set);
        runs.flat_map(|run| &run.collectors).map(ActiveCollector::counters_elsewhere).sum()
    }

    pub(crate) fn all(&self) -> &[Run] {
        &self.runs
    }

    /// Ends all logs by `deadline`.
    pub(crate) async fn end(self, deadline: Instant) {
        let moment = calendar::now();
        let mut ends = tokio::task::JoinSet::new();
        for run in self.runs.into_iter().chain(self.leaving) {
            ends.spawn(run.end(moment, deadline));
        }
        while ends.join_next().await.is_some() {}
    }
}

// Where the records of a log go.

/// A file or tables.
enum AnySink {
    File(Box<FileLog>),
    Sqlite(Box<SqliteSink>, Turn),
    Postgresql(Box<Server>, Turn),
    /// One that cannot be written to.
    Refused(SinkError),
}

/// A server, with whose password is read with the first records.
struct Server {
    settings: Arc<Postgresql>,
    log: Log,
    sink: Option<PostgresSink>,
}

impl Server {
    const fn new(settings: Arc<Postgresql>, log: Log) -> Self {
        Self { settings, log, sink: None }
    }

    async fn sink(&mut self) -> Result<&mut PostgresSink, SinkError> {
        if self.sink.is_none() {
            let settings = Arc::new(connection(&self.settings).await?);
            self.sink = Some(PostgresSink::new(settings, self.log.clone()));
        }
        let missing = || SinkError { kind: SinkErrorKind::Other, message: "no connection".to_owned() };
        self.sink.as_mut().ok_or_else(missing)
    }
}

async fn connection(settings: &Postgresql) -> Result<PostgresSettings, SinkError> {
    let Postgresql { host, port, database, user, password_file, tls, ca_file } = settings.clone();
    let mut made = PostgresSettings::new(&host, &database, &user);
    made.port = port;
    made.tls = match tls {
        Some(false) => Tls::Off,
        Some(true) => Tls::Require { ca_file },
        None if ca_file.is_some() => Tls::Require { ca_file },
        None => made.tls,
    };
    if let Some(path) = password_file {
        let read = PASSWORDS.run(vec![Place::of_file(&path)], move || password(&path).map(Secret::new)).await;
        let failed = |message: String| SinkError { kind: SinkErrorKind::Denied, message };
        made.password = Some(read.flatten().map_err(failed)?);
    }
    Ok(made)
}

impl LogSink for AnySink {
    async fn write(&mut self, batch: &Batch) -> Written {
        let failure = |failure| Written { failure: Some(failure), ..Written::default() };
        match self {
            Self::File(sink) => sink.write(batch).await,
            Self::Sqlite(sink, turn) => match turn.wait().await {
                Ok(()) => sink.write(batch).await,
                Err(error) => failure(error),
            },
            Self::Postgresql(server, turn) => match turn.wait().await {
                Ok(()) => match server.sink().await {
                    Ok(sink) => sink.write(batch).await,
                    Err(error) => failure(error),
                },
                Err(error) => failure(error),
            },
            Self::Refused(error) => failure(error.clone()),
        }
    }

    async fn finish(&mut self) -> Result<u64, SinkError> {
        match self {
            Self::File(sink) => sink.finish().await,
            Self::Sqlite(sink, _) => sink.finish().await,
            Self::Postgresql(server, _) => match &mut server.sink {
                Some(sink) => sink.finish().await,
                None => Ok(0),
            },
            Self::Refused(_) => Ok(0),
        }
    }
}

#[cfg(test)]
mod logged;

#[cfg(test)]
mod tests;
