//! A collection from start to end.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::MutexGuard;
use plugin_abi::raw::{Collect, END_REMOVED, End, OK, PANICKED, struct_size};
use plugin_abi::{CollectionId, Completion, Failure, GeneralReason, Level, Outcome, Reason, Stage};

use super::data::Data;
use super::{Flight, INSTANCES, InstanceShared, State};
use crate::calls::{SettingsCall, status_name};
use crate::configure;
use crate::error::CollectError;
use crate::state::QuarantineCause;
use crate::thread_pool::{Job, Limit};
use crate::tokens;
use crate::violation::Violation;

impl InstanceShared {
    pub(crate) fn collect(&self, deadline_ns: u64) -> Result<CollectionId, CollectError> {
        let library = &self.library;
        let now_ns = library.now_ns();
        let collection = tokens::new_token(library.number);
        {
            let mut state = self.state.lock();
            if state.stopped || library.host.is_stopping() {
                return Err(CollectError::Stopped);
            }
            if state.flight.is_some() {
                return Err(CollectError::InFlight);
            }
            if let Some((until_ns, why)) = state.quarantine.filter(|(until_ns, _)| *until_ns > now_ns) {
                let left_s = (until_ns - now_ns).div_ceil(1_000_000_000);
                return Err(CollectError::Quarantined { until_ns, left_s, why });
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
            let watched_ns = deadline_ns;
            state.flight = Some(Flight { collection, deadline_ns, watched_ns, host, host_panic: None });
        }
        library.host.watch(deadline_ns, collection, self.me());
        if self.dispatch(collection, deadline_ns) {
            return Ok(CollectionId(collection));
        }
        let flight = self.state.lock().flight.take_if(|flight| flight.collection == collection);
        if let Some(flight) = flight {
            self.release(&flight);
        }
        Err(CollectError::Hung)
    }

    /// Queues the plugin's `collect`. Returns false if all threads of the library hang.
    fn dispatch(&self, collection: u64, deadline_ns: u64) -> bool {
        let Some(me) = self.me.upgrade() else { return false };
        let limits = self.library.limits();
        let (pool, limit) = if self.is_async() {
            (&self.library.control, Limit::Within { ns: limits.async_call_ms_max * 1_000_000 })
        } else {
            (
                &self.library.blocking,
                Limit::At { ns: deadline_ns.saturating_add(limits.deadline_grace_ms * 1_000_000) },
            )
        };
        let slow = Arc::clone(&me);
        pool.submit(Job {
            limit,
            work: Box::new(move || {
                let called = AssertUnwindSafe(|| me.call_collect(collection, deadline_ns));
                if let Err(panic) = catch_unwind(called) {
                    me.host_panicked(&*panic);
                    me.end_panicked(collection);
                }
            }),
            overrun: Box::new(move || slow.overran(collection)),
        })
    }

    /// Runs on a thread of the library: restarts the instance or gives it its settings if needed, and collects.
    fn call_collect(&self, collection: u64, deadline_ns: u64) {
        if !self.is_flying(collection) {
            return;
        }
        if let Err(failure) = self.restart().and_then(|()| self.refresh()) {
            self.end(collection, &failure);
            return;
        }
        let instance = self.state.lock().token;
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
        let (old, config, config_version) = {
            let state = self.state.lock();
            if !state.poisoned {
                return Ok(());
            }
            (state.token, state.config.clone().restored(), state.config_version)
        };
        let (reason, deadline_ns) = (END_REMOVED, self.library.end_deadline_ns());
        let (size, now_ns) = (struct_size::<End>(), self.library.now_ns());
        self.library.calls.end(&End { size, reason, instance: old, now_ns, deadline_ns });
        self.leases.end_all();
        let token = tokens::new_token(self.library.number);
        {
            let mut data = self.data.lock();
            *data = Data::default();
            self.set_min_interval(0);
            self.state.lock().token = token;
            self.sinks.data.reset();
            self.sinks.notices.restarted();
        }
        self.enlist(token);
        configure::ask_here(&self.library, SettingsCall::Create, self.source, token, &config).map_err(
            |error| {
                INSTANCES.remove(token);
                self.library.forget(token);
                Failure::new(
                    Stage::Plugin,
                    GeneralReason::Internal,
                    format!("start the instance again: {error}"),
                )
            },
        )?;
        let mut state = self.state.lock();
        (state.poisoned, state.taken_version) = (false, config_version);
        Ok(())
    }

    /// Gives the instance the settings that it has not yet. One that does not take them is made again with them.
    fn refresh(&self) -> Result<(), Failure> {
        let (token, config, config_version) = {
            let state = self.state.lock();
            if state.taken_version == state.config_version {
                return Ok(());
            }
            (state.token, state.config.clone().restored(), state.config_version)
        };
        match configure::ask_here(&self.library, SettingsCall::Reconfigure, self.source, token, &config) {
            Ok(()) => {
                self.state.lock().taken_version = config_version;
                Ok(())
            }
            Err(error) => {
                let fields = [("error", &*error.to_string())];
                self.sinks.notices.log(
                    Level::Info,
                    "Instance does not take other settings; it is made again",
                    &fields,
                );
                self.state.lock().poisoned = true;
                self.restart()
            }
        }
    }

    pub(crate) fn cancel(&self, collection: u64) {
        if self.is_flying(collection) {
            self.library.call(move |calls| calls.cancel(collection));
        }
    }

    /// The plugin completes a collection. Returns false if it has ended already.
    pub(crate) fn complete(&self, token: u64, collection: u64, mut completion: Completion<'_>) -> bool {
        self.say_why_denied(&mut completion.outcome);
        let _data = self.data.lock();
        let landed = {
            let mut state = self.state.lock();
            if state.token == token {
                self.land(&mut state, collection, &completion)
            } else {
                Err(Violation::UnknownToken)
            }
        };
        match landed {
            Ok(host_panic) => {
                self.report_end(collection, failed_by(host_panic, completion));
                true
            }
            Err(violation) => {
                self.violation(violation, u64::from(!self.is_stopped()));
                false
            }
        }
    }

    /// If a secret was withheld, adds the exporter's details, which the plugin does not have.
    fn say_why_denied(&self, outcome: &mut Outcome<'_>) {
        let denied = self.leases.take_denied();
        if let Outcome::Failed(failure) | Outcome::Partial { failure: Some(failure), .. } = outcome
            && let Some((reason, message)) = denied
            && failure.reason == Reason::General(reason)
        {
            failure.message = message;
        }
    }

    /// The host ends a collection that the plugin does not complete (any more).
    fn end(&self, collection: u64, failure: &Failure) {
        let _data = self.data.lock();
        let completion = Completion { outcome: Outcome::Failed(failure.clone()), stages: &[] };
        let landed = self.land(&mut self.state.lock(), collection, &completion);
        if let Ok(host_panic) = landed {
            self.report_end(collection, failed_by(host_panic, completion));
        }
    }

    /// A panic of the host, caught at the border. What it has of the instance may be half of something: the collection in
    /// progress fails when it ends, and the next one begins with an instance that is made again.
    pub(crate) fn host_panicked(&self, panic: &(dyn Any + Send)) {
        let mut state = self.count_host_panic();
        if let Some(flight) = &mut state.flight {
            flight.host_panic.get_or_insert_with(|| panic_text(panic).to_owned());
        }
    }

    fn count_host_panic(&self) -> MutexGuard<'_, State> {
        self.violations.count(Violation::HostPanic);
        self.library.violations.count(Violation::HostPanic);
        let mut state = self.state.lock();
        state.poisoned = true;
        state
    }

    /// After a panic of the host in a call that the plugin does not repeat.
    pub(crate) fn end_panicked(&self, collection: u64) {
        self.end(collection, &host_panic_failure(""));
    }

    /// Reports the end of a collection to the sink. Call it with `data` locked.
    ///
    /// A sink that panics has not heard of the end. It hears of it once more, as a failure, which asks less of it.
    pub(super) fn report_end(&self, collection: u64, completion: Completion<'_>) {
        let report = |completion| {
            catch_unwind(AssertUnwindSafe(|| self.sinks.data.complete(CollectionId(collection), completion)))
        };
        let checked = self.checks.take_ns();
        let checked =
            catch_unwind(AssertUnwindSafe(|| checked.into_iter().for_each(|ns| self.sinks.data.checked(ns))));
        if let Err(panic) = checked.and_then(|()| report(completion)) {
            // This collection has landed: one in progress is the next, which is not to blame.
            drop(self.count_host_panic());
            let outcome = Outcome::Failed(host_panic_failure(panic_text(&*panic)));
            if report(Completion { outcome, stages: &[] }).is_err() {
                drop(self.count_host_panic());
            }
        }
    }

    /// Removes the collection in progress and counts faults of the plugin by its outcome. Returns what a panic of the host
    /// said meanwhile.
    fn land(
        &self,
        state: &mut State,
        collection: u64,
        completion: &Completion<'_>,
    ) -> Result<Option<String>, Violation> {
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
            // After a panic of the host it is no fault of the plugin.
            Some(GeneralReason::Internal) if flight.host_panic.is_none() => {
                self.fault(state, QuarantineCause::Faults);
            }
            _ => {}
        }
        Ok(flight.host_panic)
    }

    pub(super) fn look_at(&self, collection: u64, now_ns: u64) {
        if self.give_up_end(collection) {
            return;
        }
        let grace_ns = self.library.limits().deadline_grace_ms * 1_000_000;
        let given_up_ns = {
            let mut state = self.state.lock();
            let Some(flight) = state.flight.as_mut().filter(|flight| flight.collection == collection) else {
                return;
            };
            let given_up_ns = flight.deadline_ns.saturating_add(grace_ns);
            flight.watched_ns = given_up_ns;
            given_up_ns
        };
        if now_ns < given_up_ns {
            self.library.call(move |calls| calls.cancel(collection));
            self.library.host.watch(given_up_ns, collection, self.me());
        } else {
            self.give_up(collection);
        }
    }

    fn give_up(&self, collection: u64) {
        let _data = self.data.lock();
        {
            let mut state = self.state.lock();
            let Some(flight) = state.flight.take_if(|flight| flight.collection == collection) else { return };
            self.release(&flight);
            state.given_up = Some(collection);
            self.quarantine(&mut state, QuarantineCause::Hung);
        }
        self.violations.count(Violation::Hang);
        self.library.violations.count(Violation::Hang);
        let message = "the plugin did not end the collection at its deadline";
        let outcome = Outcome::Failed(Failure::new(Stage::Plugin, GeneralReason::Timeout, message));
        self.report_end(collection, Completion { outcome, stages: &[] });
    }

    fn is_flying(&self, collection: u64) -> bool {
        self.state.lock().flight.as_ref().is_some_and(|flight| flight.collection == collection)
    }
}

/// The end of a collection during which the host panicked, if it did.
fn failed_by(host_panic: Option<String>, completion: Completion<'_>) -> Completion<'_> {
    match host_panic {
        None => completion,
        Some(text) => Completion { outcome: Outcome::Failed(host_panic_failure(&text)), ..completion },
    }
}

fn host_panic_failure(text: &str) -> Failure {
    let message = format!("the exporter panicked while it took what the plugin sent: {text}");
    Failure::new(Stage::Plugin, GeneralReason::Internal, message.trim_end_matches(": "))
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default()
}
