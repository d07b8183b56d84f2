//! The state behind an instance and behind its token. Its collections are in `collecting`, violations and
//! quarantine in `judging`.

mod collecting;
mod data;
mod judging;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use plugin_abi::raw::END_REMOVED;
use plugin_abi::{CollectionId, Completion, Failure, GeneralReason, Outcome, Sinks, Stage, TargetInfo};

use self::data::Data;
use super::configure;
use super::error::CollectError;
use super::tokens::{self, Tokens};
use crate::calls::SettingsCall;
use crate::checks::Checks;
use crate::error::ConfigureError;
use crate::info::{Mode, SourceInfo};
use crate::lease::Leases;
use crate::library::{LibraryShared, LiveInstance};
use crate::log_budget::LogBudget;
use crate::state::{InstanceConfig, InstanceState, KeptConfig, QuarantineCause};
use crate::violation::{Violation, Violations};

/// The instances whose tokens are valid.
pub(crate) static INSTANCES: Tokens<InstanceShared> = Tokens::new();

/// The state behind an [`crate::Instance`] and behind its token.
///
/// Locks are taken in the order `data`, `state`. The sinks are called under `data` at most.
pub(crate) struct InstanceShared {
    pub(crate) library: Arc<LibraryShared>,
    pub(crate) sinks: Sinks,
    pub(crate) violations: Violations,
    data: Mutex<Data>,
    log_budget: LogBudget,
    checks: Checks,
    pub(crate) leases: Arc<Leases>,
    source: u32,
    /// The interval that the plugin asks for; 0 for none.
    min_interval_ms: AtomicU64,
    state: Mutex<State>,
    me: Weak<Self>,
}

struct State {
    /// A new one after each restart.
    token: u64,
    config: KeptConfig,
    /// Grows with each change of `config`.
    config_version: u64,
    /// The version that the source has.
    taken_version: u64,
    stopped: bool,
    /// When the host stops waiting for the end, if the plugin was asked to end.
    ending_until_ns: Option<u64>,
    flight: Option<Flight>,
    /// A collection that was aborted and that the plugin has not completed yet.
    given_up: Option<u64>,
    poisoned: bool,
    faults: u32,
    /// Whether the last collection had no faults; used to count consecutive faults.
    clean: bool,
    /// The collection whose call was slow, so that it is counted once.
    slow: Option<u64>,
    quarantine: Option<(u64, QuarantineCause)>,
    /// Consecutive quarantines: each is twice as long as the previous one.
    quarantines: u32,
    violations: u32,
}

/// The collection in progress.
struct Flight {
    collection: u64,
    deadline_ns: u64,
    /// When the host checks it next.
    watched_ns: u64,
    host: String,
    /// What a panic of the host during it said: it fails, whatever the plugin says.
    host_panic: Option<String>,
}

impl InstanceShared {
    /// Makes the instance in the plugin.
    pub(crate) fn create(
        library: &Arc<LibraryShared>,
        source: u32,
        config: &InstanceConfig,
        sinks: Sinks,
    ) -> Result<Arc<Self>, ConfigureError> {
        let limit = library.limits().instances_max;
        if library.host.is_stopping() {
            return Err(ConfigureError::Stopped);
        }
        if library.instances.lock().len() >= limit as usize {
            return Err(ConfigureError::Limit {
                plugin: library.name(),
                what: "instances",
                limit: limit.into(),
            });
        }
        let token = tokens::new_token(library.number);
        let instance = Arc::new_cyclic(|me| Self {
            library: Arc::clone(library),
            sinks,
            violations: Violations::default(),
            data: Mutex::default(),
            log_budget: LogBudget::default(),
            checks: Checks::default(),
            leases: Arc::default(),
            source,
            min_interval_ms: AtomicU64::new(0),
            state: Mutex::new(State::new(token, config.into())),
            me: me.clone(),
        });
        instance.enlist(token);
        match configure::ask(library, SettingsCall::Create, source, token, config) {
            Ok(()) => Ok(instance),
            Err(error) => {
                // A hanging create may still succeed later: then the instance is destroyed.
                if matches!(error, ConfigureError::Hung { .. }) {
                    library.end(token, END_REMOVED, library.end_deadline_ns());
                } else {
                    INSTANCES.remove(token);
                    library.forget(token);
                }
                Err(error)
            }
        }
    }

    pub(crate) fn set_min_interval(&self, interval_ms: u64) {
        self.min_interval_ms.store(interval_ms, Ordering::Relaxed);
    }

    /// The interval that the plugin asks for, if any.
    pub(crate) fn min_interval(&self) -> Option<Duration> {
        let interval_ms = self.min_interval_ms.load(Ordering::Relaxed);
        (interval_ms > 0).then(|| Duration::from_millis(interval_ms))
    }

    pub(crate) fn target(&self) -> TargetInfo {
        self.state.lock().config.target.clone()
    }

    /// Whether data for `token` is accepted.
    pub(crate) fn admits(&self, token: u64) -> Admission {
        let state = self.state.lock();
        if state.token != token {
            Admission::Stale
        } else if state.stopped || self.library.host.is_stopping() {
            Admission::Stopped
        } else {
            Admission::Open
        }
    }

    fn me(&self) -> Weak<dyn LiveInstance> {
        let me: Weak<Self> = Weak::clone(&self.me);
        me
    }

    fn enlist(&self, token: u64) {
        self.library.instances.lock().insert(token, self.me());
        if let Some(me) = self.me.upgrade() {
            INSTANCES.insert(token, me);
        }
    }

    pub(crate) fn reconfigure(&self, config: &InstanceConfig) -> Result<(), ConfigureError> {
        let (token, is_later) = {
            let state = self.state.lock();
            if state.stopped {
                return Err(ConfigureError::Stopped);
            }
            // A poisoned instance is restarted from its configuration. One of a blocking source gets it on the thread that
            // collects, because calls for one instance do not overlap. Until then the source only checks it.
            (state.token, state.poisoned || !self.is_async())
        };
        let asking = if is_later { SettingsCall::Validate } else { SettingsCall::Reconfigure };
        configure::ask(&self.library, asking, self.source, token, config)?;
        let mut state = self.state.lock();
        state.config = config.into();
        state.config_version += 1;
        // One that was restarted meanwhile has the settings before these.
        if !is_later && state.token == token {
            state.taken_version = state.config_version;
        }
        Ok(())
    }

    /// The plugin has ended the instance.
    pub(crate) fn ended(&self, token: u64) {
        let until_ns = {
            let mut state = self.state.lock();
            if state.token == token { state.ending_until_ns.take() } else { None }
        };
        if let Some(until_ns) = until_ns {
            self.library.host.unwatch(until_ns, token);
            self.leases.end_all();
        }
    }

    /// Whether the instance is ending; it may request secrets until it has ended.
    pub(crate) fn is_ending(&self, token: u64) -> bool {
        let state = self.state.lock();
        state.token == token && state.ending_until_ns.is_some()
    }

    /// Stops waiting, if the host waits for this end.
    fn give_up_end(&self, token: u64) -> bool {
        let is_due = {
            let mut state = self.state.lock();
            state.token == token && state.ending_until_ns.take().is_some()
        };
        if is_due {
            self.violations.count(Violation::SlowEnd);
            self.library.violations.count(Violation::SlowEnd);
            self.leases.end_all();
            INSTANCES.remove(token);
            self.library.forget(token);
        }
        is_due
    }

    /// What the source declares.
    pub(crate) fn source_info(&self) -> Option<&SourceInfo> {
        self.library.info.sources.get(self.source as usize)
    }

    /// The number of assigned family ids.
    pub(crate) fn family_count(&self) -> u32 {
        self.data.lock().families()
    }

    fn is_async(&self) -> bool {
        self.source_info().is_none_or(|source| source.mode == Mode::Async)
    }

    /// Completing a collection that `destroy` has ended is not a violation.
    fn is_stopped(&self) -> bool {
        self.state.lock().stopped
    }

    fn release(&self, flight: &Flight) {
        self.library.host.leave_target(&flight.host);
        self.library.host.unwatch(flight.watched_ns, flight.collection);
    }
}

impl LiveInstance for InstanceShared {
    fn state_at(&self, now_ns: u64) -> InstanceState {
        let state = self.state.lock();
        match (&state.flight, state.quarantine) {
            _ if state.stopped => InstanceState::Stopped,
            (Some(_), _) => InstanceState::Collecting,
            (None, Some((until_ns, why))) if until_ns > now_ns => {
                InstanceState::Quarantined { until_ns, why }
            }
            _ if state.given_up.is_some() => InstanceState::Hung,
            _ => InstanceState::Idle,
        }
    }

    fn look(&self, collection: u64, now_ns: u64) {
        self.look_at(collection, now_ns);
    }

    fn destroy(&self, reason: u32, deadline_ns: u64) {
        let (token, flight) = {
            let mut state = self.state.lock();
            if std::mem::replace(&mut state.stopped, true) {
                return;
            }
            state.ending_until_ns = self.library.calls.ends_by_deadline().then_some(deadline_ns);
            (state.token, state.flight.take())
        };
        if self.library.calls.ends_by_deadline() {
            self.library.host.watch(deadline_ns, token, self.me());
        }
        if let Some(flight) = &flight {
            self.release(flight);
        }
        let collection = flight.map(|flight| flight.collection);
        if let Some(collection) = collection {
            let _data = self.data.lock();
            let outcome = Outcome::Failed(Failure::new(Stage::Plugin, GeneralReason::Cancelled, "destroyed"));
            self.report_end(collection, Completion { outcome, stages: &[] });
        }
        self.leases.end_all();
        if let Some(collection) = collection {
            self.library.call(move |calls| calls.cancel(collection));
        }
        self.library.end(token, reason, deadline_ns);
    }
}

impl State {
    fn new(token: u64, config: KeptConfig) -> Self {
        Self {
            token,
            config,
            config_version: 0,
            taken_version: 0,
            stopped: false,
            ending_until_ns: None,
            flight: None,
            given_up: None,
            poisoned: false,
            faults: 0,
            clean: true,
            slow: None,
            quarantine: None,
            quarantines: 0,
            violations: 0,
        }
    }
}

/// Whether a call for an instance is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Open,
    Stopped,
    Stale,
}

// The exporter's handle of one source on one target.

/// One source on one target. Dropping it destroys the instance in the plugin, asynchronously.
///
/// Calling order: [`Instance::collect`] (any number, one at a time; each ends with one
/// [`plugin_abi::DataSink::complete`]), [`Instance::reconfigure`] at any time in between.
pub struct Instance(pub(crate) Arc<InstanceShared>);

impl Instance {
    /// Starts a collection that must end before `deadline_ns` on the monotonic clock ([`crate::monotonic_ns`]).
    /// Never blocks. Its end is reported with [`plugin_abi::DataSink::complete`], from any thread,
    /// possibly before this returns.
    ///
    /// # Errors If it cannot begin; then nothing is reported to the sink.
    pub fn collect(&self, deadline_ns: u64) -> Result<CollectionId, CollectError> {
        self.0.collect(deadline_ns)
    }

    /// Asks the plugin to end the collection early. Idempotent; does nothing after its end.
    pub fn cancel(&self, collection: CollectionId) {
        self.0.cancel(collection.0);
    }

    /// Gives the source new settings. On an error the old ones stay. Blocks up to `configure_ms_max`. A blocking source checks
    /// them now and gets them with the next collection; if it does not take them then, the instance is made again with them.
    ///
    /// # Errors
    /// What the source does not accept.
    pub fn reconfigure(&self, config: &InstanceConfig) -> Result<(), ConfigureError> {
        self.0.reconfigure(config)
    }

    /// The interval that the source asks for, if any. It may change with each collection.
    #[must_use]
    pub fn min_interval(&self) -> Option<Duration> {
        self.0.min_interval()
    }

    /// What it is doing.
    #[must_use]
    pub fn state(&self) -> InstanceState {
        self.0.state_at(self.0.library.now_ns())
    }

    /// Its violations of the contract.
    #[must_use]
    pub fn violations(&self) -> &Violations {
        &self.0.violations
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.0.destroy(plugin_abi::raw::END_REMOVED, self.0.library.end_deadline_ns());
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("plugin", &self.0.library.info.name)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
