use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dcerpc::Observers;
use ms_pla::Category;
use ms_pla::xml::DataCollectorSet;
use parking_lot::{Mutex, MutexGuard};
use wire::{Guid, NtStatus};

use super::dumps::ProcessDump;
use super::random_guid;
use super::remote_registry::{RemoteRegistry, Run};
use crate::accounts::Accounts;
use crate::behaviour::Behaviour;
use crate::host_state::HostState;
use crate::model::ValueSource;
use crate::model::data_collector_sets::{DataCollectorSets, SetError, Store};
use crate::registry::Registry;
use crate::rule::{Action, CallKind};
use crate::service::{self, Endpoint, ServedEndpoint, Service, TcpPort, winreg};
use crate::{RecordedCall, Recordings};

/// One Windows host: what it counts, who may log on, and how it behaves. Shared by all of its connections.
pub struct WindowsHost {
    state: Arc<HostState>,
    server_guid: Guid,
    remote_registry: Mutex<RemoteRegistry>,
    endpoints: Vec<Arc<ServedEndpoint>>,
    counts: Counts,
    recordings: Recordings,
    observers: Arc<dyn Observers>,
}

/// What a host has counted.
#[derive(Debug, Default)]
pub struct Counts {
    pub connections: AtomicU64,
    pub open_connections: AtomicU32,
    pub pipes: AtomicU64,
    /// Opens of the pipe `winreg` that were refused.
    pub refused_opens: AtomicU64,
    /// Calls, by service and opnum.
    calls: Mutex<BTreeMap<&'static str, BTreeMap<u16, u64>>>,
}

impl Counts {
    /// Calls of one method of a service, by the service's [name](Service::name).
    #[must_use]
    pub fn calls(&self, service: &str, opnum: u16) -> u64 {
        self.calls.lock().get(service).and_then(|calls| calls.get(&opnum)).copied().unwrap_or(0)
    }
}

impl WindowsHost {
    /// A healthy host with the [standard](service::standard) services.
    #[must_use]
    pub fn new(name: impl Into<String>, source: Arc<dyn ValueSource>, accounts: Arc<Accounts>) -> Self {
        Self::with_services(name, source, accounts, &service::standard())
    }

    /// A healthy host with these services and no others.
    #[must_use]
    pub fn with_services(
        name: impl Into<String>,
        source: Arc<dyn ValueSource>,
        accounts: Arc<Accounts>,
        services: &[Arc<dyn Service>],
    ) -> Self {
        Self {
            state: Arc::new(
                HostState::new(name.into(), source, accounts).listing(service::registered(services)),
            ),
            server_guid: random_guid(),
            remote_registry: Mutex::default(),
            endpoints: service::endpoints(services),
            counts: Counts::default(),
            recordings: Recordings::default(),
            observers: Arc::new(()),
        }
    }

    /// The same host, whose associations and endpoints are observed, for instance to [keep](crate::RpcState) their state.
    #[must_use]
    pub fn observed_by(self, observers: Arc<dyn Observers>) -> Self {
        Self { observers, ..self }
    }

    /// Its name, for logs.
    #[must_use]
    pub fn name(&self) -> &str {
        self.state.name()
    }

    /// What it has counted.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    #[must_use]
    pub fn accounts(&self) -> &Arc<Accounts> {
        self.state.accounts()
    }

    /// The keys of its registry, but for those that it computes. They may be changed while it runs.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        self.state.registry()
    }

    /// The process dumps that it has written.
    #[must_use]
    pub fn dumps(&self) -> Vec<ProcessDump> {
        self.state.dumps().all()
    }

    /// The data collector sets of its performance logs and alerts.
    #[must_use]
    pub fn data_collector_sets(&self) -> &DataCollectorSets {
        self.state.data_collector_sets()
    }

    /// Stores a data collector set under a name.
    ///
    /// # Errors
    /// When the name is none, or there is a set with it and should not be, or the other way round.
    pub fn store_data_collector_set(
        &self,
        category: Category,
        name: &str,
        set: DataCollectorSet,
        store: Store,
    ) -> Result<(), SetError> {
        let now = self.state.source().moment().time;
        self.state.data_collector_sets().store(category, name, set, store, now)
    }

    /// Changes how it behaves, from now on and for connections that are open already.
    pub fn change_behaviour(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.behaviour());
    }

    /// Returns the calls since the last time, and records those that follow. The first time it returns none.
    pub fn take_calls(&self) -> Vec<RecordedCall> {
        self.recordings.take()
    }

    pub(crate) const fn observers(&self) -> &Arc<dyn Observers> {
        &self.observers
    }

    pub(crate) const fn recordings(&self) -> &Recordings {
        &self.recordings
    }

    /// Starts its COM+ event system again: transient subscriptions, and objects that clients have of it, are gone.
    pub fn restart_event_system(&self) {
        self.state.events().restart();
    }

    /// Stops the remote registry service: its pipes break and its queries are gone. The next open starts it again.
    pub fn stop_service(&self) {
        let refusals = self.behaviour().refused_after_stop;
        self.remote_registry.lock().stop(refusals);
    }

    pub(crate) const fn server_guid(&self) -> Guid {
        self.server_guid
    }

    pub(crate) const fn state(&self) -> &Arc<HostState> {
        &self.state
    }

    pub(crate) fn behaviour(&self) -> MutexGuard<'_, Behaviour> {
        self.state.behaviour()
    }

    /// Opens the pipe `name`, or returns the status that refuses it.
    pub(crate) fn open_pipe(&self, name: &str) -> Result<(Arc<ServedEndpoint>, Run), NtStatus> {
        let endpoint = self.endpoints.iter().find(|endpoint| endpoint.is_pipe(name));
        let endpoint = endpoint.ok_or(NtStatus::STATUS_OBJECT_NAME_NOT_FOUND)?;
        let run = if is_remote_registry(endpoint) { self.open_remote_registry()? } else { Run::ENDLESS };
        self.counts.pipes.fetch_add(1, Ordering::Relaxed);
        Ok((Arc::clone(endpoint), run))
    }

    /// Its pipes, as a bind_ack names them.
    pub(crate) fn pipes(&self) -> Vec<String> {
        let pipes = self.endpoints.iter().filter(|endpoint| endpoint.is_pipe_endpoint());
        pipes.map(|endpoint| endpoint.endpoint().to_string()).collect()
    }

    /// What is served at a TCP port.
    pub(crate) fn tcp_endpoint(&self, port: TcpPort) -> Option<Arc<ServedEndpoint>> {
        let is_served = |endpoint: &&Arc<ServedEndpoint>| *endpoint.endpoint() == Endpoint::Tcp(port);
        self.endpoints.iter().find(is_served).map(Arc::clone)
    }

    fn open_remote_registry(&self) -> Result<Run, NtStatus> {
        let mut behaviour = self.behaviour();
        let refusal = behaviour.refusal;
        let is_refused = behaviour.refused_opens > 0;
        behaviour.refused_opens = behaviour.refused_opens.saturating_sub(1);
        drop(behaviour);
        let run = if is_refused { None } else { self.use_remote_registry(RemoteRegistry::open) };
        run.ok_or_else(|| {
            self.counts.refused_opens.fetch_add(1, Ordering::Relaxed);
            refusal
        })
    }

    /// Whether the service behind the endpoint still is in this run. Counts as use of the service.
    pub(crate) fn is_running(&self, endpoint: &ServedEndpoint, run: Run) -> bool {
        !is_remote_registry(endpoint) || self.use_remote_registry(|service| service.run()) == run
    }

    /// Counts a call, and returns the fault to inject.
    pub(crate) fn begin_call(&self, service: &'static str, call: CallKind) -> Option<Action> {
        *self.counts.calls.lock().entry(service).or_default().entry(call.opnum).or_default() += 1;
        self.behaviour().action_for(service, call)
    }

    /// Uses the remote registry service, which stops first if it was idle for long enough.
    fn use_remote_registry<T>(&self, using: impl FnOnce(&mut RemoteRegistry) -> T) -> T {
        let (idle_stop, refusals) = {
            let behaviour = self.behaviour();
            (behaviour.idle_stop, behaviour.refused_after_stop)
        };
        let mut service = self.remote_registry.lock();
        service.stop_if_idle(self.state.source().moment().time, idle_stop, refusals);
        using(&mut service)
    }
}

/// The two interfaces behind `winreg` are one Windows service.
fn is_remote_registry(endpoint: &ServedEndpoint) -> bool {
    *endpoint.endpoint() == Endpoint::NamedPipe(winreg::PIPE)
}
