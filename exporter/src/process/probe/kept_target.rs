//! A target that probes asked for, and that is kept for the next one.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use config::{Config, Target};
use parking_lot::Mutex;
use plugin_abi::{Failure, GeneralReason, Sinks, Stage};
use plugin_host::{CollectError, Instance, monotonic_ns};
use serde_json::json;
use series::model;
use series::pipeline::Store;
use tokio::sync::watch;
use tokio::time::Instant;
use transport::resolver::LookupErrorKind;

use super::destination::{self, Destination, reason_of};
use super::observer::{Lines, ProbeObserver};
use super::permits::{Permit, Reachability};
use super::probe_targets::ProbeTargets;
use super::view::Views;
use super::{Dependencies, Shared};
use crate::process::Lookups;
use crate::process::plugins::{Libraries, instance_config, source_of};
use crate::process::{reporter_of, scope_of};
use targets::{TargetHealth, TargetState, TimedStore, begin, failure_of};
use web::ProbeRefused;

/// Deadlines of what is late are looked at again after this.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// A target that is busy is tried again after this.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// A target that is probed, with all that the next probe needs.
pub(super) struct KeptTarget {
    pub(super) target: Target,
    pub(super) entry: Arc<TargetState>,
    config: Arc<Config>,
    libraries: Libraries,
    /// The host is that of a configured target, so its addresses are not checked.
    is_configured: bool,
    modules: Vec<Module>,
    lines: Arc<Lines>,
    pub(super) views: Views,
    /// Held by the flight that runs.
    instances: tokio::sync::Mutex<Instances>,
    state: Mutex<State>,
}

struct Module {
    store: Arc<Store>,
    observer: Arc<ProbeObserver>,
}

#[derive(Default)]
struct Instances {
    /// Where they may connect to, unless that is open.
    addresses: Option<Vec<IpAddr>>,
    made: Vec<Result<Instance, Failure>>,
}

struct State {
    flight: Option<Flight>,
    used: Instant,
}

/// Collections of all modules, one after the other, for however many who ask.
#[derive(Clone)]
pub(super) struct Flight {
    end: watch::Receiver<Option<End>>,
    pub(super) deadline: Instant,
    /// Whether every line of the log is kept.
    pub(super) tells_all: bool,
}

#[derive(Clone)]
struct End {
    at: Instant,
    result: Result<(), ProbeRefused>,
    was_late: bool,
}

impl Flight {
    /// How it ended; `None` if it has not ended by then.
    pub(super) async fn ended(&self, by: Instant) -> Option<Result<(), ProbeRefused>> {
        let mut end = self.end.clone();
        let waited = tokio::time::timeout_at(by, end.wait_for(Option::is_some)).await;
        waited.ok()?.ok()?.as_ref().map(|end| end.result.clone())
    }

    /// Whether the time was not enough.
    pub(super) fn was_late(&self) -> bool {
        self.end.borrow().as_ref().is_some_and(|end| end.was_late)
    }

    fn is_running(&self) -> bool {
        // The sender is gone with nothing sent only if the task panicked.
        self.end.borrow().is_none() && self.end.has_changed().is_ok()
    }

    fn is_younger_than(&self, age: Duration) -> bool {
        self.end.borrow().as_ref().is_some_and(|end| end.result.is_ok() && end.at.elapsed() < age)
    }
}

impl State {
    fn current(&self, tells_all: bool, cache: Duration) -> Option<Flight> {
        let is_current =
            |flight: &&Flight| flight.is_running() || (!tells_all && flight.is_younger_than(cache));
        self.flight.as_ref().filter(is_current).cloned()
    }
}

impl KeptTarget {
    /// A target that was not asked yet.
    pub(super) fn new(
        known: &ProbeTargets,
        target: Target,
        is_configured: bool,
        dependencies: &Dependencies,
    ) -> Self {
        let config = Arc::clone(&known.config);
        let entry = Arc::new(TargetState::new(&target, config.port(&target)));
        let named = model::Target { labelled: false, ..model::Target::new(&target.name) };
        let (scope, normalize) = scope_of(&dependencies.catalog, &config, &target, named);
        let lines = Arc::new(Lines::default());
        let modules = target.modules.iter().zip(normalize).enumerate().map(|(index, (module, normalize))| {
            let plugin = &config.modules[module].plugin;
            let observer = Arc::new(ProbeObserver {
                entry: Arc::downgrade(&entry),
                module: index,
                plugin: plugin.clone(),
                costs: dependencies.costs.of(plugin),
                reporter: reporter_of(&dependencies.event_router, &known.libraries, plugin),
                lines: Arc::clone(&lines),
                open_alerts: Mutex::default(),
                sender: Mutex::default(),
            });
            let store = scope.ruled_store(Arc::clone(&observer) as Arc<_>, normalize);
            entry.set_store(index, Arc::clone(&store));
            Module { store, observer }
        });
        Self {
            modules: modules.collect(),
            target,
            entry,
            config,
            libraries: known.libraries.clone(),
            is_configured,
            lines,
            views: Views::default(),
            instances: tokio::sync::Mutex::default(),
            state: Mutex::new(State { flight: None, used: Instant::now() }),
        }
    }

    /// The running flight, or a recent one if answers are cached.
    pub(super) fn current(&self, tells_all: bool) -> Option<Flight> {
        let mut state = self.state.lock();
        state.used = Instant::now();
        state.current(tells_all, self.config.probe.cache)
    }

    /// What is known of it before it is asked.
    pub(super) fn reachability(&self) -> Reachability {
        let was_asked = self.state.lock().flight.is_some();
        match self.entry.health() {
            _ if !was_asked => Reachability::Unknown,
            TargetHealth::Up | TargetHealth::Partial => Reachability::Reachable,
            TargetHealth::Waiting | TargetHealth::Down => Reachability::Unreachable,
        }
    }

    /// A new flight, which has this permit; or the one that began while that was waited for.
    pub(super) fn flight(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        permit: Permit,
        tells_all: bool,
        deadline: Instant,
    ) -> Flight {
        let mut state = self.state.lock();
        if let Some(flight) = state.current(tells_all, self.config.probe.cache) {
            return flight;
        }
        let (sender, end) = watch::channel(None);
        let flight = Flight { end, deadline, tells_all };
        state.flight = Some(flight.clone());
        drop(state);
        let (kept, flying) = (Arc::clone(self), Arc::clone(shared));
        shared.counts.asked();
        shared.dependencies.runtime.spawn(async move {
            let result = kept.fly(&flying, deadline, tells_all).await;
            let late = [GeneralReason::Timeout.as_str(), LookupErrorKind::TimedOut.as_str()];
            let was_late =
                kept.entry.status().down().is_some_and(|down| late.contains(&down.reason.as_str()));
            // The requesters may have given up.
            let _ = sender.send(Some(End { at: Instant::now(), result, was_late }));
            drop(permit);
        });
        flight
    }

    pub(super) fn touch(&self) {
        self.state.lock().used = Instant::now();
    }

    /// Time since the last request; `None` while a flight runs.
    pub(super) fn idle_for(&self, now: Instant) -> Option<Duration> {
        let state = self.state.lock();
        let is_running = state.flight.as_ref().is_some_and(Flight::is_running);
        (!is_running).then(|| now.saturating_duration_since(state.used))
    }

    pub(super) fn all_modules(&self) -> Vec<usize> {
        (0..self.modules.len()).collect()
    }

    /// What was logged in the last flight.
    pub(super) fn lines(&self) -> Vec<String> {
        self.lines.read()
    }

    async fn fly(
        self: &Arc<Self>,
        shared: &Shared,
        deadline: Instant,
        tells_all: bool,
    ) -> Result<(), ProbeRefused> {
        self.lines.begin(tells_all);
        let turn = shared.hosts.turn(&self.target.host.to_lowercase());
        let Ok(_turn) = tokio::time::timeout_at(deadline, turn.lock()).await else {
            let message = "other probes of the host used up the time";
            let failure = Failure::new(Stage::Plugin, GeneralReason::Busy, message);
            (0..self.modules.len()).for_each(|index| self.not_started(index, &failure));
            return Ok(());
        };
        let mut instances = self.instances.lock().await;
        let addresses = match self.destination(&shared.dependencies.lookups, deadline).await {
            Ok(Destination::Address) => None,
            Ok(Destination::Resolved(addresses)) => Some(addresses),
            Ok(Destination::Unresolved(error)) => {
                let failure = Failure::new(Stage::Dns, reason_of(error.kind()), error.to_string());
                (0..self.modules.len()).for_each(|index| self.not_started(index, &failure));
                return Ok(());
            }
            Err(refused) => {
                // The connection that there is goes to where the name led before.
                *instances = Instances::default();
                self.modules.iter().for_each(|module| module.store.fail());
                return Err(refused);
            }
        };
        if instances.made.is_empty() || instances.addresses != addresses {
            *instances = Instances::default();
            let (kept, to) = (Arc::clone(self), addresses.clone());
            let made = tokio::task::spawn_blocking(move || kept.make(to.as_deref())).await;
            *instances = Instances { addresses, made: made.unwrap_or_default() };
        }
        for (index, instance) in instances.made.iter().enumerate() {
            match instance {
                Ok(instance) => self.collect(&shared.dependencies, index, instance, deadline).await,
                Err(failure) => self.not_started(index, failure),
            }
        }
        // What cannot be made now may be made the next time.
        if instances.made.iter().any(Result::is_err) {
            *instances = Instances::default();
        }
        Ok(())
    }

    async fn destination(&self, lookups: &Lookups, deadline: Instant) -> Result<Destination, ProbeRefused> {
        if self.is_configured {
            return Ok(Destination::Address);
        }
        destination::destination(&self.target.host, &self.config.probe.allow_targets, lookups, deadline).await
    }

    /// An instance of each module. Blocks.
    fn make(&self, addresses: Option<&[IpAddr]>) -> Vec<Result<Instance, Failure>> {
        let made = self.target.modules.iter().zip(&self.modules).map(|(name, module)| {
            let settings = &self.config.modules[name];
            let library = &self.libraries[&settings.plugin];
            let mut config =
                instance_config(&self.config, Some(&self.target), settings, &self.target.transport);
            config.is_on_demand = true;
            if let (Some(addresses), Some(transport)) = (addresses, config.settings.get_mut("transport")) {
                transport["addresses"] = json!(addresses);
            }
            let costs = Arc::clone(&module.observer.costs);
            let data = Arc::new(TimedStore::new(Arc::clone(&module.store), costs));
            let sinks = Sinks { data, notices: Arc::clone(&module.observer) as Arc<_> };
            source_of(settings, library)
                .map_err(|unknown| unknown.to_string())
                .and_then(|source| {
                    library.create(&source.name, &config, sinks).map_err(|error| error.to_string())
                })
                .map_err(|message| Failure::new(Stage::Plugin, GeneralReason::Internal, message))
        });
        made.collect()
    }

    /// One collection from start to end.
    async fn collect(
        &self,
        dependencies: &Dependencies,
        index: usize,
        instance: &Instance,
        deadline: Instant,
    ) {
        let mut hear = self.modules[index].observer.hear();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let message = "the modules before it used up the time";
                let failure = Failure::new(Stage::Plugin, GeneralReason::Timeout, message);
                return self.not_started(index, &failure);
            }
            self.entry.started(index, left);
            match begin(instance, left) {
                Ok(_) => break,
                Err(CollectError::TargetBusy { .. }) => tokio::time::sleep(BUSY_PAUSE).await,
                Err(error) => return self.not_started(index, &failure_of(&error)),
            }
        }
        let mut look = deadline;
        loop {
            tokio::select! {
                // Reported exactly once, by the plugin or, if it does not answer, by its host.
                _ = &mut hear => return,
                () = tokio::time::sleep_until(look) => {
                    dependencies.host.poll_deadlines(monotonic_ns());
                    look = Instant::now() + LOOK_AGAIN;
                }
            }
        }
    }

    fn not_started(&self, index: usize, failure: &Failure) {
        self.modules[index].store.fail();
        self.entry.not_started(index, failure);
    }
}
