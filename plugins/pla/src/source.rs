//! One collection, from any state after the last one.

use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use counter_poll::paths::Rows;
use counter_types::same_name;
use host_session::Recovery;
use plugin_sdk::{
    Collection, Coverage, DeclaredReason, End, Failure, FamilyKey, GeneralReason, Problem, Selects, Setup,
    Source, Stage, Target, Transport,
};
use plugin_session::{
    AttemptError, DECLARED_REASONS, HostConnection, HostSource, KeptConnection as _, SMB_TRANSPORT,
};
use tokio::time::Instant;

use crate::actions::{Actions, Moment};
use crate::board::{Board, Watched};
use crate::clock::SampleClock;
use crate::config::{self, Settings};
use crate::counters::{Counters, Fetched, Open};
use crate::events::Reporter;
use crate::series::{self, AlertSeries};
use crate::session::PERFLIB;
use crate::sets::{self, LoadedSet};

/// The alerts of one host.
#[derive(Debug)]
pub(crate) struct PlaSource {
    connection: HostConnection<counter_poll::paths::PathQuery>,
    target: Target,
    sets: Vec<LoadedSet>,
    board: Board,
    counters: Counters,
    clock: SampleClock,
    reporter: Reporter,
    actions: Actions,
    series: AlertSeries,
    /// Alerts that the settings do not have any more, and whose series are still there.
    removed: Vec<Watched>,
    round: u64,
    /// Whether there were no samples since the last round.
    is_gap: bool,
    is_on_demand: bool,
}

impl Source for PlaSource {
    const NAME: &'static str = "pla";
    const HELP: &'static str =
        "Alerts of data collector sets, judged on the performance counters of a Windows host";
    const REASONS: &'static [DeclaredReason] = &DECLARED_REASONS;
    const SHOWN: &'static [&'static str] = config::SHOWN;
    const TRANSPORTS: &'static [Transport] = &[SMB_TRANSPORT];
    type Settings = Settings;

    fn check(settings: &Settings, target: &Target) -> Vec<Problem> {
        let mut problems = config::compile(settings).err().unwrap_or_default();
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
        let Setup { settings, target, handle, is_on_demand } = setup;
        let sets = config::compile(&settings)?;
        let tasks = config::tasks(&settings);
        let at = host_session::Target::new(target.host.clone(), target.port.unwrap_or(SMB_PORT));
        let mut source = Self {
            connection: HostConnection::new(at, PERFLIB, settings.transport),
            actions: Actions::new(&target.name, &target.host),
            target,
            sets: sets::loaded(sets),
            board: Board::default(),
            counters: Counters::default(),
            clock: SampleClock::default(),
            reporter: Reporter::new(handle),
            series: AlertSeries::default(),
            removed: Vec::new(),
            round: 0,
            is_gap: false,
            is_on_demand,
        };
        source.actions.set_tasks(tasks);
        source.select();
        Ok(source)
    }

    fn reconfigure(&mut self, settings: Settings) {
        // Per the calling order of a source the settings were checked before; invalid ones change nothing.
        let Ok(sets) = config::compile(&settings) else { return };
        self.sets = sets::loaded(sets);
        self.actions.set_tasks(config::tasks(&settings));
        self.connection.reconfigure(settings.transport);
        self.select();
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        if sets::reload(&mut self.sets).await {
            self.select();
        }
        let collected = plugin_session::collect(self, collection).await;
        self.is_gap |= collected.is_err();
        collected
    }

    async fn end(self, _: End) {
        self.actions.end().await;
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
        self.counters.begin(self.connection.missing() != Recovery::Connection);
        let mut open = self.connection.take(collection, deadline).await?;
        let timer = open.begin_calls(collection);
        let mut fetched =
            self.counters.search(&mut open, collection, deadline).await.map(|()| Fetched::default());
        if fetched.is_ok() && !self.is_on_demand {
            fetched = self.counters.fetch(&mut open, collection, deadline).await;
        }
        open.end_calls(timer, collection);
        let fetched = match fetched {
            Ok(fetched) => fetched,
            Err(error) => return Err(self.connection.fail(open, &error, collection, deadline).await),
        };
        collection.enter(Stage::Decode);
        if !self.is_on_demand {
            self.judge(&mut open, &fetched, Instant::now());
            self.show(collection);
        }
        self.connection.put_back(open);
        self.series.send_sets(&self.sets, self.board.alerts(), &self.actions, collection.output());
        Ok(self.coverage(fetched.classic_failure))
    }
}

impl PlaSource {
    /// Takes the alerts of the sets, as they are now.
    fn select(&mut self) {
        self.actions.select(&mut self.sets);
        let Target { name, host, .. } = &self.target;
        let short = host.split('.').next().filter(|_| host.parse::<IpAddr>().is_err());
        let is_own = |machine: &str| {
            [Some(&**host), short, Some(&**name)].into_iter().flatten().any(|own| same_name(machine, own))
        };
        let (gone, paths) = self.board.select(self.sets.iter().map(LoadedSet::set), is_own);
        self.removed.extend(gone);
        self.actions.watch(&mut self.board);
        self.counters.select(paths);
    }

    fn judge(&mut self, open: &mut Open, fetched: &Fetched, at: Instant) {
        let Self { counters, board, clock, actions, is_gap, .. } = self;
        let Some(found) = counters.found() else { return };
        let data = open.handles().as_ref().zip(fetched.data.as_ref());
        let is_new_boot = Rows::read(&found.plan, data, fetched.classic.as_ref(), |rows| {
            let is_new_boot = if rows.clocks.perf_freq == 0 {
                clock.pass(at);
                false
            } else {
                clock.advance(&rows.clocks, at)
            };
            for refused in &rows.refused {
                tracing::debug!(refused, "The host sent no values of a counterset");
            }
            actions.expire(board, clock.now());
            if *is_gap || is_new_boot {
                board.miss(clock.now());
            }
            // What the paths mean may have changed with the host.
            if !is_new_boot {
                let moment = Moment { sample: clock.now(), at, time: SystemTime::now() };
                actions.judge(board, found, rows, moment);
            }
            is_new_boot
        });
        *is_gap = false;
        if is_new_boot {
            counters.search_again();
        }
    }

    /// Reports what changed, and sends what is known of all alerts.
    fn show(&mut self, collection: &mut Collection) {
        self.round += 1;
        let (now, unix_s) = (self.clock.now(), unix_seconds());
        let mut gone = Vec::new();
        self.reporter.begin();
        for alert in self.board.alerts_mut() {
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
        self.series.send_alerts(self.board.alerts_mut(), gone, collection.output());
        let counts = self.actions.count(self.reporter.take_reported().into_iter());
        self.series.send_actions(counts, collection.output());
    }

    fn coverage(&self, classic_failure: Option<Failure>) -> Coverage {
        let problems = self.counters.found().map_or(&[][..], |found| &found.problems);
        let sentences: Vec<&str> = problems.iter().flatten().map(String::as_str).collect();
        let failure = classic_failure.or_else(|| {
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

fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

const SMB_PORT: u16 = 445;
/// Counters that the host does not have, in one failure.
const SENTENCES_MAX: usize = 5;
