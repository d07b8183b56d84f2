//! One collection, from any state after the last one.

mod host_sets;

use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use com::dcom::RESOLVER_PORT;
use counter_types::same_name;
use host_session::Recovery;
use plugin_sdk::{
    Collection, Coverage, DeclaredReason, End, Failure, FamilyKey, GeneralReason, Problem, Selects, Setup,
    Source, Stage, Target, Transport,
};
use plugin_session::{
    AttemptError, Backoff, DCOM_TRANSPORT, HostConnection, HostSource, KeptConnection as _, Retry,
    SMB_TRANSPORT, failure_of,
};
use tokio::time::Instant;

use self::host_sets::share;
use super::actions::Moment;
use super::clock::ReplyKind;
use super::counters::Found;
use crate::actions::Actions;
use crate::alert_table::{AlertTable, WatchedAlert};
use crate::clock::SampleClock;
use crate::config::{self, Module, Settings, StorageSettings};
use crate::counters::{Counters, Fetched, Kinds, Paths};
use crate::events::Reporter;
use crate::host::{HostSet, LiveSets, LocalTime, Starter};
use crate::model::Set;
use crate::reasons::REASONS;
use crate::runs::Runs;
use crate::series::{self, AlertSeries};
use crate::sets::{self, LoadedSet};
use crate::{PERFLIB, calendar};

/// The alerts of one host.
#[derive(Debug)]
pub(crate) struct PlaSource {
    connection: HostConnection<counter_poll::paths::PathQuery>,
    target: Target,
    sets: Vec<LoadedSet>,
    /// Those of the host.
    live: LiveSets,
    starter: Starter,
    local_time: LocalTime,
    /// Of the counters, while the host's sets can be read.
    counters_backoff: Backoff,
    alert_table: AlertTable,
    counters: Counters,
    clock: SampleClock,
    reporter: Reporter,
    actions: Actions,
    runs: Runs,
    series: AlertSeries,
    /// Alerts that the settings do not have any more, and whose series are still there.
    removed: Vec<WatchedAlert>,
    round: u64,
    /// Whether there were no samples since the last round.
    is_gap: bool,
    is_on_demand: bool,
}

impl Source for PlaSource {
    const NAME: &'static str = "pla";
    const HELP: &'static str =
        "Alerts of data collector sets, judged on the performance counters of a Windows host";
    const REASONS: &'static [DeclaredReason] = &REASONS;
    const SHOWN: &'static [&'static str] = config::SHOWN;
    const TRANSPORTS: &'static [Transport] = &[SMB_TRANSPORT, DCOM_TRANSPORT];
    const KEEPS_FILES: bool = true;
    type Settings = Settings;

    fn check(settings: &Settings, target: &Target) -> Vec<Problem> {
        let mut problems = match config::compile(settings) {
            // One that is asked on demand writes nothing, and gets no folder.
            Ok(module) if target.is_on_demand => config::warnings(settings, &module),
            Ok(module) => {
                [config::check_storage(settings, &module), config::warnings(settings, &module)].concat()
            }
            Err(problems) => problems,
        };
        // Without a host only the settings are checked.
        if target.identity.is_empty() && !target.host.is_empty() {
            problems.push(Problem::new(Problem::NO_IDENTITY, "the host asks who logs on"));
        }
        problems
    }

    fn selects(_: &Settings, family: &FamilyKey) -> Selects {
        if series::is_of_alerts(family) { Selects::Yes } else { Selects::No(Vec::new()) }
    }

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let Setup { settings, target, handle } = setup;
        let is_on_demand = target.is_on_demand;
        let Module { sets, wanted, control, .. } = config::compile(&settings)?;
        let (tasks, storage) = (config::tasks(&settings), StorageSettings::new(&settings, is_on_demand));
        let transport = settings.transport;
        let at = |port| host_session::Target::new(target.host.clone(), port);
        let smb = at(transport.smb_port(target.port).unwrap_or(SMB_PORT));
        let dcom = at(transport.dcom.port.unwrap_or(RESOLVER_PORT));
        let mut source = Self {
            connection: HostConnection::new(smb, PERFLIB, transport.clone()),
            live: LiveSets::new(dcom.clone(), wanted, transport.clone()),
            starter: Starter::new(dcom, transport),
            actions: Actions::new(&target.name, &target.host),
            runs: Runs::new(target.name.clone(), storage),
            target,
            sets: sets::loaded(sets),
            local_time: LocalTime::default(),
            counters_backoff: Backoff::default(),
            alert_table: AlertTable::default(),
            counters: Counters::default(),
            clock: SampleClock::default(),
            reporter: Reporter::new(handle),
            series: AlertSeries::default(),
            removed: Vec::new(),
            round: 0,
            is_gap: false,
            is_on_demand,
        };
        source.actions.allow(tasks, control);
        source.select();
        Ok(source)
    }

    fn reconfigure(&mut self, settings: Settings) {
        // Per the calling order of a source the settings were checked before; invalid ones change nothing.
        let Ok(Module { sets, wanted, control, .. }) = config::compile(&settings) else { return };
        self.sets = sets::loaded(sets);
        self.actions.allow(config::tasks(&settings), control);
        self.connection.reconfigure(settings.transport.clone());
        self.starter.reconfigure(settings.transport.clone());
        self.runs.reconfigure(StorageSettings::new(&settings, self.is_on_demand));
        self.live.reconfigure(wanted, settings.transport);
        self.counters_backoff.forget();
        self.counters.forget_failures();
        self.local_time.forget_failures();
        self.select();
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        let mut has_changed = sets::reload(&mut self.sets).await;
        if self.live.is_used() {
            has_changed |= self.live.step(collection, share(collection)).await;
        }
        if has_changed {
            self.select();
        }
        self.counters.begin(collection.began());
        let moment = calendar::moment(collection.began());
        if !self.is_on_demand {
            let patience = patience(collection);
            self.runs.step(|set| self.actions.is_running(set), moment, patience).await;
        }
        let collected = if self.live.is_used() {
            self.collect_beside_sets(collection).await
        } else {
            let collected = plugin_session::collect(self, collection).await;
            self.is_gap |= collected.is_err();
            collected
        };
        for ended in self.runs.take_ended() {
            self.actions.run_ended(&ended, SystemTime::now());
        }
        self.runs.store(moment);
        self.start_on_host(collection).await;
        collected
    }

    async fn end(mut self, end: End) {
        self.actions.end().await;
        let deadline = Instant::from_std(end.deadline);
        let rest = deadline.saturating_duration_since(Instant::now());
        self.runs.end(Instant::now() + rest * 2 / 3).await;
        self.live.release(deadline).await;
        self.starter.release(deadline).await;
    }
}

impl HostSource for PlaSource {
    type Connection = HostConnection<counter_poll::paths::PathQuery>;

    fn connection(&mut self) -> &mut Self::Connection {
        &mut self.connection
    }

    async fn attempt(
        &mut self,
        collection: &mut Collection,
        deadline: Instant,
    ) -> Result<Coverage, AttemptError> {
        if self.connection.take_was_away() {
            self.counters.forget_failures();
            self.local_time.forget_failures();
        }
        let was_connected = self.connection.missing() != Recovery::Connection;
        self.counters.begin_attempt(was_connected);
        self.clock.pass(collection.began());
        if !self.needs_host() {
            // The values that are shown stay those of the last samples.
            self.judge_and_show(&Fetched::default(), collection).await;
            return Ok(self.coverage(None));
        }
        let mut open = self.connection.take(collection, deadline).await?;
        let timer = open.begin_calls(collection);
        let stalls = self.counters.stalls_met();
        let mut fetched =
            self.counters.search(&mut open, collection, deadline).await.map(|()| Fetched::default());
        if fetched.is_ok() && !self.is_on_demand {
            fetched = self.counters.fetch(self.due(), &mut open, collection, deadline).await;
        }
        let has_values = fetched.as_ref().is_ok_and(|fetched| fetched.data.is_some());
        if let Err(lost) = open.check_connected(has_values) {
            open.end_calls(timer, collection);
            let wants_classic = self.counters.wants_classic();
            self.counters.lose_connection();
            if !was_connected && wants_classic {
                // They may be what ends each new connection.
                self.counters.refuse_classic(&lost.failure);
            }
            return Err(lost);
        }
        if fetched.is_ok() && self.live.sets().any(|set| !set.schedules.is_empty()) {
            self.local_time.read(&mut open, collection, deadline).await;
        }
        open.end_calls(timer, collection);
        let fetched = match fetched {
            Ok(fetched) => fetched,
            Err(error) if self.counters.stalls_met() > stalls => {
                // One provider hangs, but the host does not: the others are asked about over another pipe.
                self.connection.put_back(open);
                let retry = if stalls < STALLS_MAX { Retry::Always } else { Retry::IfLost };
                return Err(AttemptError { failure: failure_of(&error), retry: retry(Recovery::Pipe) });
            }
            Err(error) => return Err(self.connection.fail(open, &error, collection, deadline).await),
        };
        if fetched.replied().any() {
            collection.enter(Stage::Decode);
            let query = open.handles().as_ref();
            self.counters.read(query.zip(fetched.data.as_ref()), fetched.has_classic).await;
        }
        // Judging may be cut off, which costs no connection.
        self.connection.put_back(open);
        self.judge_and_show(&fetched, collection).await;
        Ok(self.coverage(fetched.classic_failure))
    }
}

impl PlaSource {
    /// Takes the alerts of the sets, as they are now.
    fn select(&mut self) {
        let Target { name, host, .. } = &self.target;
        let short = host.split('.').next().filter(|_| host.parse::<IpAddr>().is_err());
        let is_own = |machine: &str| {
            [Some(&**host), short, Some(&**name)].into_iter().flatten().any(|own| same_name(machine, own))
        };
        self.live.admit(self.sets.iter().map(LoadedSet::set));
        let live = self.live.sets().filter(|set| set.is_admitted).map(|HostSet { set, .. }| set);
        let sets: Vec<&Set> = self.sets.iter().map(LoadedSet::set).chain(live).collect();
        self.actions.select(&sets);
        let mut paths = Paths::default();
        self.removed.extend(self.alert_table.select(sets.iter().copied(), &mut paths, is_own));
        self.runs.select(sets.into_iter(), &mut paths, is_own);
        self.actions.watch(&mut self.alert_table);
        self.counters.select(paths);
    }

    /// Whether this collection has to ask the host for something.
    fn needs_host(&self) -> bool {
        // A host that did not answer is not up before it does.
        self.connection.missing() == Recovery::Connection
            || self.is_on_demand
            || self.counters.needs_search()
            || self.due().any()
    }

    /// What the alerts and the logs need that are due.
    fn due(&self) -> Kinds {
        let now = self.clock.now();
        let due = |found| self.alert_table.due(found, now).or(self.runs.due(found, now));
        self.counters.found().map_or(Kinds::default(), due)
    }
}

/// What a disk may take of a collection. What is not done then is done beside the next ones.
fn patience(collection: &Collection) -> Instant {
    Instant::now() + (collection.remaining() / PATIENCE_PARTS).min(PATIENCE_MAX)
}

fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Countersets that may let their time pass in one collection; the search goes on in the next one.
const STALLS_MAX: u32 = 3;
const PATIENCE_PARTS: u32 = 8;
const PATIENCE_MAX: Duration = Duration::from_millis(500);
const SMB_PORT: u16 = 445;

// The part of a collection after the replies: alerts are judged, logs take their samples, and both are shown.

impl PlaSource {
    /// What was fetched was read before.
    async fn judge_and_show(&mut self, fetched: &Fetched, collection: &mut Collection) {
        collection.enter(Stage::Decode);
        if !self.is_on_demand {
            self.judge(fetched, collection.began()).await;
            self.show(collection);
        }
        self.show_sets(collection);
    }

    async fn judge(&mut self, fetched: &Fetched, at: Duration) {
        let Self { counters, alert_table, clock, actions, runs, is_gap, .. } = self;
        let replied = fetched.replied();
        let mut is_new_boot = false;
        if replied.any() {
            let kind = if replied.version_2 { ReplyKind::Version2 } else { ReplyKind::Classic };
            is_new_boot = clock.advance(kind, &counters.frame().clocks, at);
        }
        let now = clock.now();
        actions.expire(alert_table, now);
        if std::mem::take(is_gap) || is_new_boot {
            alert_table.miss(now);
        }
        if is_new_boot {
            // What the paths mean may have changed with the host.
            counters.search_again();
        } else if let Some(found) = counters.found() {
            let moment = Moment { sample: now, at, time: SystemTime::now() };
            let values = (found, counters.frame(), replied);
            actions.judge(alert_table, values, moment).await;
            runs.sample(values, |set| actions.is_running(set), now, calendar::moment(at)).await;
        }
    }

    /// Reports what changed, and sends what is known of all alerts. All have a limit together, and it is not cut off in between:
    /// series that are gone are retired.
    fn show(&mut self, collection: &mut Collection) {
        self.round += 1;
        let (now, unix_s) = (self.clock.now(), unix_seconds());
        let mut gone = Vec::new();
        self.reporter.begin();
        for alert in self.alert_table.alerts_mut() {
            for (instance, mut row) in alert.refresh(self.round, unix_s) {
                gone.extend(row.ids());
                self.reporter.close(alert, &instance, &mut row);
            }
            self.reporter.report(alert, now);
        }
        for mut alert in std::mem::take(&mut self.removed) {
            gone.extend(series::ids_of(&alert));
            self.reporter.close_all(&mut alert);
        }
        self.series.send_alerts(self.alert_table.alerts_mut(), gone, collection.output());
        let counts = self.actions.count(self.reporter.take_reported().into_iter());
        self.series.send_actions(counts, collection.output());
    }

    fn coverage(&self, classic_failure: Option<Failure>) -> Coverage {
        let sentences: Vec<&str> = self.counters.found().into_iter().flat_map(Found::failures).collect();
        let failure = classic_failure.or_else(|| self.live.failure().cloned()).or_else(|| {
            let more = sentences.len().saturating_sub(SENTENCES_MAX);
            let mut text = sentences.iter().take(SENTENCES_MAX).copied().collect::<Vec<_>>().join("; ");
            if more > 0 {
                text += &format!("; and {more} more");
            }
            (!sentences.is_empty()).then(|| Failure::new(Stage::Query, GeneralReason::NotFound, text))
        });
        match failure {
            None => Coverage::Full,
            failure => Coverage::Partial { families: self.series.families(), failure },
        }
    }
}

/// Counters that the host does not have, in one failure.
const SENTENCES_MAX: usize = 5;
