//! The state behind an instance and behind its token.

use std::sync::{Arc, Mutex, Weak};

use plugin_abi::{Collect, GeneralReason, OK, PANICKED, Stage, struct_size};

use crate::calls::{Asking, status_name};
use crate::configure;
use crate::error::{CollectError, ConfigureError};
use crate::info::{Mode, SourceInfo};
use crate::instance::{InstanceConfig, InstanceState, QuarantineCause};
use crate::intake::{Budget, Data};
use crate::lane::{Job, Limit};
use crate::lease::Leases;
use crate::library::LibraryShared;
use crate::registry::{self, Entry, lock};
use crate::sink::{CollectionId, Completion, Failure, InstanceSink, Outcome, Reason, TargetInfo};
use crate::violation::{Violation, Violations};

/// The state behind an [`crate::Instance`] and behind its token.
///
/// Locks are taken in the order `data`, `state`. The sink is called under `data` at most.
pub(crate) struct InstanceShared {
    pub(crate) library: Arc<LibraryShared>,
    pub(crate) sink: Arc<dyn InstanceSink>,
    pub(crate) violations: Violations,
    pub(crate) data: Mutex<Data>,
    pub(crate) log_budget: Budget,
    pub(crate) leases: Arc<Leases>,
    source: u32,
    state: Mutex<State>,
    me: Weak<Self>,
}

struct State {
    /// Another after each new start.
    token: u64,
    config: InstanceConfig,
    stopped: bool,
    flight: Option<Flight>,
    /// A collection that was given up and that the plugin has not ended yet.
    given_up: Option<u64>,
    poisoned: bool,
    faults: u32,
    /// Whether nothing was wrong with the last collection; what makes faults "in a row".
    clean: bool,
    /// The collection whose call was slow, so that it is counted once.
    slow: Option<u64>,
    quarantine: Option<(u64, QuarantineCause)>,
    /// How many in a row: each is twice as long as the one before.
    quarantines: u32,
    violations: u32,
}

/// The collection under way.
struct Flight {
    collection: u64,
    deadline_ns: u64,
    /// When the host looks at it next.
    watched_ns: u64,
    host: String,
}

impl InstanceShared {
    /// Makes the instance in the plugin.
    pub(crate) fn create(
        library: &Arc<LibraryShared>,
        source: u32,
        config: &InstanceConfig,
        sink: Arc<dyn InstanceSink>,
    ) -> Result<Arc<Self>, ConfigureError> {
        let limit = library.limits().instances_max;
        if library.host.is_stopping() {
            return Err(ConfigureError::Stopped);
        }
        if lock(&library.instances).len() >= limit as usize {
            return Err(ConfigureError::Limit {
                plugin: library.name(),
                what: "instances",
                limit: limit.into(),
            });
        }
        let token = registry::new_token(library.number);
        let instance = Arc::new_cyclic(|me| Self {
            library: Arc::clone(library),
            sink,
            violations: Violations::default(),
            data: Mutex::default(),
            log_budget: Budget::default(),
            leases: Arc::default(),
            source,
            state: Mutex::new(State::new(token, config.clone())),
            me: me.clone(),
        });
        instance.enlist(token);
        match configure::ask(library, Asking::Create, source, token, config) {
            Ok(()) => Ok(instance),
            Err(error) => {
                // A create that hangs may still succeed later: it is to be destroyed then.
                if matches!(error, ConfigureError::Hung { .. }) {
                    library.call(move |calls| calls.destroy(token));
                } else {
                    registry::remove(token);
                    library.forget(token);
                }
                Err(error)
            }
        }
    }

    pub(crate) fn target(&self) -> TargetInfo {
        lock(&self.state).config.target.clone()
    }

    /// Counts a violation here and for the library; too many within a collection are a fault.
    pub(crate) fn violation(&self, violation: Violation, n: u64) {
        if n == 0 {
            return;
        }
        self.violations.add(violation, n);
        self.library.violations.add(violation, n);
        let mut state = lock(&self.state);
        state.violations = state.violations.saturating_add(1);
        if state.violations == self.library.limits().violations_max {
            self.quarantine(&mut state, QuarantineCause::Violations);
        }
    }

    /// Whether data for `token` is taken: yes, no more, or never again.
    pub(crate) fn admits(&self, token: u64) -> Admission {
        let state = lock(&self.state);
        if state.token != token {
            Admission::Stale
        } else if state.stopped || self.library.host.is_stopping() {
            Admission::Stopped
        } else {
            Admission::Open
        }
    }

    fn enlist(&self, token: u64) {
        lock(&self.library.instances).insert(token, self.me.clone());
        if let Some(me) = self.me.upgrade() {
            registry::insert(token, Entry::Instance(me));
        }
    }

    pub(crate) fn collect(&self, deadline_ns: u64) -> Result<CollectionId, CollectError> {
        let library = &self.library;
        let now_ns = library.now_ns();
        let collection = registry::new_token(library.number);
        {
            let mut state = lock(&self.state);
            if state.stopped || library.host.is_stopping() {
                return Err(CollectError::Stopped);
            }
            if state.flight.is_some() {
                return Err(CollectError::InFlight);
            }
            if let Some((until_ns, why)) = state.quarantine.filter(|(until_ns, _)| *until_ns > now_ns) {
                return Err(CollectError::Quarantined { until_ns, why });
            }
            if state.given_up.is_some() {
                return Err(CollectError::Hung);
            }
            let host = state.config.target.host.clone();
            if !library.host.enter_target(&host) {
                let limit = library.limits().collections_per_target_max;
                return Err(CollectError::TargetBusy { limit });
            }
            if std::mem::replace(&mut state.clean, true) {
                state.faults = 0;
                state.quarantines = 0;
            }
            state.quarantine = None;
            state.violations = 0;
            state.flight = Some(Flight { collection, deadline_ns, watched_ns: deadline_ns, host });
        }
        library.host.watch(deadline_ns, collection, self.me.clone());
        if self.dispatch(collection, deadline_ns) {
            return Ok(CollectionId(collection));
        }
        let flight = lock(&self.state).flight.take_if(|flight| flight.collection == collection);
        if let Some(flight) = flight {
            self.release(&flight);
        }
        Err(CollectError::Hung)
    }

    /// Queues the plugin's `collect`. Answers false where every thread of the library hangs.
    fn dispatch(&self, collection: u64, deadline_ns: u64) -> bool {
        let Some(me) = self.me.upgrade() else { return false };
        let limits = self.library.limits();
        let (lane, limit) = if self.is_async() {
            (&self.library.control, Limit::Within { ns: limits.async_call_ms_max * 1_000_000 })
        } else {
            (
                &self.library.blocking,
                Limit::At { ns: deadline_ns.saturating_add(limits.deadline_grace_ms * 1_000_000) },
            )
        };
        let slow = Arc::clone(&me);
        lane.submit(Job {
            limit,
            work: Box::new(move || me.call_collect(collection, deadline_ns)),
            overrun: Box::new(move || slow.overran(collection)),
        })
    }

    /// On a thread of the library's: starts the instance anew where it must be, and collects.
    fn call_collect(&self, collection: u64, deadline_ns: u64) {
        if !self.is_flying(collection) {
            return;
        }
        if let Err(failure) = self.restart() {
            self.end(collection, &failure);
            return;
        }
        let instance = lock(&self.state).token;
        let now_ns = self.library.now_ns();
        let size = struct_size::<Collect>();
        let status = self.library.calls.collect(&Collect {
            size,
            reserved: 0,
            instance,
            collection,
            now_ns,
            deadline_ns,
        });
        let async_call_ns = self.library.limits().async_call_ms_max * 1_000_000;
        if self.library.now_ns().saturating_sub(now_ns) > async_call_ns {
            self.overran(collection);
        }
        if status == OK {
            return;
        }
        let violation = if status == PANICKED { Violation::Panic } else { Violation::FailedCall };
        self.violation(violation, 1);
        let reason = if status == PANICKED { GeneralReason::Panicked } else { GeneralReason::Internal };
        let message = format!("collect answered {}", status_name(status));
        self.end(collection, &Failure::new(Stage::Plugin, reason, message));
    }

    /// After a panic: the old instance is destroyed and a new one made under a new token.
    fn restart(&self) -> Result<(), Failure> {
        let (old, config) = {
            let state = lock(&self.state);
            if !state.poisoned {
                return Ok(());
            }
            (state.token, state.config.clone())
        };
        self.library.calls.destroy(old);
        self.leases.end_all();
        let token = registry::new_token(self.library.number);
        {
            let mut data = lock(&self.data);
            *data = Data::default();
            lock(&self.state).token = token;
            self.sink.reset();
        }
        self.enlist(token);
        configure::ask_here(&self.library, Asking::Create, self.source, token, &config).map_err(|error| {
            registry::remove(token);
            self.library.forget(token);
            Failure::new(Stage::Plugin, GeneralReason::Internal, format!("start the instance anew: {error}"))
        })?;
        lock(&self.state).poisoned = false;
        Ok(())
    }

    /// The call of an async source has not returned in time, or that of a blocking one is past its deadline.
    fn overran(&self, collection: u64) {
        if !self.is_async() {
            return;
        }
        let mut state = lock(&self.state);
        if state.slow.replace(collection) == Some(collection) {
            return;
        }
        self.fault(&mut state, QuarantineCause::SlowCalls);
        drop(state);
        self.violation(Violation::SlowCall, 1);
    }

    pub(crate) fn cancel(&self, collection: u64) {
        if self.is_flying(collection) {
            self.library.call(move |calls| calls.cancel(collection));
        }
    }

    /// The plugin ends a collection. Answers false where it is over already.
    pub(crate) fn complete(&self, token: u64, collection: u64, completion: Completion<'_>) -> bool {
        let _data = lock(&self.data);
        let landed = {
            let mut state = lock(&self.state);
            if state.token == token {
                self.land(&mut state, collection, &completion)
            } else {
                Err(Violation::UnknownToken)
            }
        };
        match landed {
            Ok(()) => {
                self.sink.complete(CollectionId(collection), completion);
                true
            }
            Err(violation) => {
                self.violation(violation, u64::from(!self.is_stopped()));
                false
            }
        }
    }

    /// The host ends a collection that the plugin does not end (any more).
    fn end(&self, collection: u64, failure: &Failure) {
        let _data = lock(&self.data);
        let completion = Completion { outcome: Outcome::Failed(failure.clone()), stages: &[] };
        let landed = self.land(&mut lock(&self.state), collection, &completion);
        if landed.is_ok() {
            self.sink.complete(CollectionId(collection), completion);
        }
    }

    /// Takes the collection out of flight and judges the plugin by its end.
    fn land(&self, state: &mut State, collection: u64, completion: &Completion<'_>) -> Result<(), Violation> {
        let Some(flight) = state.flight.take_if(|flight| flight.collection == collection) else {
            return Err(match state.given_up.take_if(|given_up| *given_up == collection) {
                Some(_) => Violation::LateCompletion,
                None => Violation::DoubleCompletion,
            });
        };
        self.release(&flight);
        let reason = match &completion.outcome {
            Outcome::Failed(Failure { reason: Reason::General(reason), stage: Stage::Plugin, .. }) => {
                Some(*reason)
            }
            _ => None,
        };
        match reason {
            Some(GeneralReason::Panicked) => {
                state.poisoned = true;
                self.quarantine(state, QuarantineCause::Panicked);
            }
            Some(GeneralReason::Internal) => self.fault(state, QuarantineCause::Faults),
            _ => {}
        }
        Ok(())
    }

    /// The host's look at a collection whose time has come.
    pub(crate) fn look(&self, collection: u64, now_ns: u64) {
        let grace_ns = self.library.limits().deadline_grace_ms * 1_000_000;
        let given_up_ns = {
            let mut state = lock(&self.state);
            let Some(flight) = state.flight.as_mut().filter(|flight| flight.collection == collection) else {
                return;
            };
            let given_up_ns = flight.deadline_ns.saturating_add(grace_ns);
            flight.watched_ns = given_up_ns;
            given_up_ns
        };
        if now_ns < given_up_ns {
            self.library.call(move |calls| calls.cancel(collection));
            self.library.host.watch(given_up_ns, collection, self.me.clone());
        } else {
            self.give_up(collection);
        }
    }

    fn give_up(&self, collection: u64) {
        let _data = lock(&self.data);
        {
            let mut state = lock(&self.state);
            let Some(flight) = state.flight.take_if(|flight| flight.collection == collection) else { return };
            self.release(&flight);
            state.given_up = Some(collection);
            self.quarantine(&mut state, QuarantineCause::Hung);
        }
        self.violations.count(Violation::Hang);
        self.library.violations.count(Violation::Hang);
        let message = "the plugin did not end the collection at its deadline";
        let outcome = Outcome::Failed(Failure::new(Stage::Plugin, GeneralReason::Timeout, message));
        self.sink.complete(CollectionId(collection), Completion { outcome, stages: &[] });
    }

    pub(crate) fn reconfigure(&self, config: &InstanceConfig) -> Result<(), ConfigureError> {
        let (token, poisoned) = {
            let state = lock(&self.state);
            if state.stopped {
                return Err(ConfigureError::Stopped);
            }
            (state.token, state.poisoned)
        };
        // A poisoned instance is made anew from its configuration: the source only says whether it would accept it.
        let asking = if poisoned { Asking::Validate } else { Asking::Reconfigure };
        configure::ask(&self.library, asking, self.source, token, config)?;
        lock(&self.state).config = config.clone();
        Ok(())
    }

    pub(crate) fn destroy(&self) {
        let (token, flight) = {
            let mut state = lock(&self.state);
            if std::mem::replace(&mut state.stopped, true) {
                return;
            }
            (state.token, state.flight.take())
        };
        if let Some(flight) = &flight {
            self.release(flight);
        }
        let collection = flight.map(|flight| flight.collection);
        if let Some(collection) = collection {
            let _data = lock(&self.data);
            let outcome = Outcome::Failed(Failure::new(Stage::Plugin, GeneralReason::Cancelled, "destroyed"));
            self.sink.complete(CollectionId(collection), Completion { outcome, stages: &[] });
        }
        self.leases.end_all();
        self.library.call(move |calls| {
            if let Some(collection) = collection {
                calls.cancel(collection);
            }
            calls.destroy(token);
        });
    }

    pub(crate) fn state_at(&self, now_ns: u64) -> InstanceState {
        let state = lock(&self.state);
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

    /// What the source declares.
    pub(crate) fn source_info(&self) -> Option<&SourceInfo> {
        self.library.info.sources.get(self.source as usize)
    }

    /// How many family ids were handed out.
    pub(crate) fn family_count(&self) -> u32 {
        lock(&self.data).families()
    }

    fn is_async(&self) -> bool {
        self.source_info().is_none_or(|source| source.mode == Mode::Async)
    }

    /// A plugin that ends what `destroy` has ended already does nothing wrong.
    fn is_stopped(&self) -> bool {
        lock(&self.state).stopped
    }

    fn is_flying(&self, collection: u64) -> bool {
        lock(&self.state).flight.as_ref().is_some_and(|flight| flight.collection == collection)
    }

    fn release(&self, flight: &Flight) {
        self.library.host.leave_target(&flight.host);
        self.library.host.unwatch(flight.watched_ns, flight.collection);
    }

    fn fault(&self, state: &mut State, cause: QuarantineCause) {
        state.faults += 1;
        state.clean = false;
        if state.faults >= self.library.limits().faults_max {
            self.quarantine(state, cause);
        }
    }

    fn quarantine(&self, state: &mut State, cause: QuarantineCause) {
        let limits = self.library.limits();
        let factor = 1_u64.checked_shl(state.quarantines).unwrap_or(u64::MAX);
        let pause_s = limits.quarantine_s.saturating_mul(factor).min(limits.quarantine_s_max);
        state.quarantine = Some((self.library.now_ns().saturating_add(pause_s * 1_000_000_000), cause));
        state.quarantines = state.quarantines.saturating_add(1);
        state.faults = 0;
        state.clean = false;
        let target = &state.config.target.name;
        tracing::warn!(plugin = %self.library.info.name, %target, %cause, pause_s, "Plugin instance is in quarantine");
    }
}

impl State {
    fn new(token: u64, config: InstanceConfig) -> Self {
        Self {
            token,
            config,
            stopped: false,
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

/// Whether a call for an instance is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Open,
    Stopped,
    Stale,
}
