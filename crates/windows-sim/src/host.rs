use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ms_dtyp::{FileTime, Guid, NtStatus};

use crate::accounts::Accounts;
use crate::behaviour::{Action, Behaviour, CallKind};
use crate::model::ValueSource;
use crate::random;
use crate::recordings::{RecordedCall, Recordings};
use crate::service::Groups;

/// The pipe of the remote registry service, as SMB names it.
pub(crate) const PIPE_NAME: &str = "winreg";

/// One Windows host: what it counts, who may log on, and how it behaves. Shared by all of its connections.
pub struct WindowsHost {
    name: String,
    server_guid: Guid,
    source: Arc<dyn ValueSource>,
    accounts: Arc<Accounts>,
    behaviour: Mutex<Behaviour>,
    service: Mutex<Service>,
    groups: Groups,
    counts: Counts,
    recordings: Recordings,
}

/// The remote registry service, which the pipe belongs to.
#[derive(Debug, Default)]
struct Service {
    /// By the host's clock.
    last_used: Option<FileTime>,
    /// Opens that are refused before it runs again.
    refusals: u32,
    /// How often it was stopped; what belongs to an earlier run is gone.
    run: u64,
}

impl Service {
    fn stop(&mut self, refusals: u32) {
        self.run += 1;
        self.refusals = refusals;
    }
}

/// Which run of the service a pipe belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run(u64);

/// What a host has seen.
#[derive(Debug, Default)]
pub struct Counts {
    /// Connections accepted.
    pub connections: AtomicU64,
    /// Connections open now.
    pub open_connections: AtomicU32,
    /// Pipes opened.
    pub pipes: AtomicU64,
    /// Opens of the pipe that were refused.
    pub refused_opens: AtomicU64,
    /// Calls, by opnum.
    pub calls: [AtomicU64; 8],
}

impl WindowsHost {
    /// A healthy host.
    #[must_use]
    pub fn new(name: impl Into<String>, source: Arc<dyn ValueSource>, accounts: Arc<Accounts>) -> Self {
        Self {
            name: name.into(),
            server_guid: random::guid(),
            source,
            accounts,
            behaviour: Mutex::default(),
            service: Mutex::default(),
            groups: Groups::default(),
            counts: Counts::default(),
            recordings: Recordings::default(),
        }
    }

    /// Its name, for logs.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it has seen.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Its accounts.
    #[must_use]
    pub const fn accounts(&self) -> &Arc<Accounts> {
        &self.accounts
    }

    /// Changes how it behaves, from now on and for connections that are open already.
    pub fn change_behaviour(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.behaviour());
    }

    /// Answers the calls since this was called last, and keeps those that follow.
    pub fn take_calls(&self) -> Vec<RecordedCall> {
        self.recordings.take()
    }

    pub(crate) const fn recordings(&self) -> &Recordings {
        &self.recordings
    }

    /// Stops the service: its pipes break and its queries are gone. The next open starts it again.
    pub fn stop_service(&self) {
        let refusals = self.behaviour().refused_after_stop;
        self.service().stop(refusals);
    }

    pub(crate) const fn server_guid(&self) -> Guid {
        self.server_guid
    }

    pub(crate) fn source(&self) -> Arc<dyn ValueSource> {
        Arc::clone(&self.source)
    }

    pub(crate) const fn groups(&self) -> &Groups {
        &self.groups
    }

    pub(crate) fn behaviour(&self) -> MutexGuard<'_, Behaviour> {
        self.behaviour.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the pipe `name`, or says why not.
    pub(crate) fn open_pipe(&self, name: &str) -> Result<Run, NtStatus> {
        if !name.trim_start_matches('\\').eq_ignore_ascii_case(PIPE_NAME) {
            return Err(NtStatus::STATUS_OBJECT_NAME_NOT_FOUND);
        }
        let mut behaviour = self.behaviour();
        if behaviour.refused_opens > 0 {
            behaviour.refused_opens = behaviour.refused_opens.saturating_sub(1);
            self.counts.refused_opens.fetch_add(1, Ordering::Relaxed);
            return Err(behaviour.refusal);
        }
        let refusal = behaviour.refusal;
        drop(behaviour);
        let run = self.use_service();
        let mut service = self.service();
        if service.refusals > 0 {
            service.refusals -= 1;
            self.counts.refused_opens.fetch_add(1, Ordering::Relaxed);
            return Err(refusal);
        }
        drop(service);
        self.counts.pipes.fetch_add(1, Ordering::Relaxed);
        Ok(run)
    }

    /// Counts a call, and says what goes wrong with it.
    pub(crate) fn begin_call(&self, call: CallKind) -> Option<Action> {
        if let Some(count) = self.counts.calls.get(usize::from(call.opnum)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.behaviour().action_for(call)
    }

    /// The run of the service now. It stops by itself when nobody has used it for long enough.
    pub(crate) fn use_service(&self) -> Run {
        let (idle_stop, refusals) = {
            let behaviour = self.behaviour();
            (behaviour.idle_stop, behaviour.refused_after_stop)
        };
        let now = self.source.moment().time;
        let mut service = self.service();
        let idle_stop = idle_stop.map(|limit| limit.as_nanos() / 100);
        let idle = service.last_used.map(|last_used| now.0.saturating_sub(last_used.0));
        if idle.zip(idle_stop).is_some_and(|(idle, limit)| u128::from(idle) >= limit) {
            service.stop(refusals);
        }
        service.last_used = Some(now);
        Run(service.run)
    }

    fn service(&self) -> MutexGuard<'_, Service> {
        self.service.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
