use std::net::SocketAddr;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::dumps::DumpStore;
use crate::Registered;
use crate::accounts::Accounts;
use crate::behaviour::Behaviour;
use crate::events::EventStore;
use crate::model::ValueSource;
use crate::model::data_collector_sets::DataCollectorSets;
use crate::registry::{self, Registry};

/// What the services of a host know of it: its values, accounts and behaviour.
pub struct HostState {
    name: String,
    source: Arc<dyn ValueSource>,
    accounts: Arc<Accounts>,
    behaviour: Mutex<Behaviour>,
    registry: Registry,
    exporter_address: Mutex<Option<SocketAddr>>,
    registered: Vec<Registered>,
    events: EventStore,
    dumps: DumpStore,
    data_collector_sets: DataCollectorSets,
}

impl HostState {
    pub(crate) fn new(name: String, source: Arc<dyn ValueSource>, accounts: Arc<Accounts>) -> Self {
        let registry = registry::install(&name, source.hardware(), source.moment().boot);
        let exporter_address = Mutex::default();
        let (events, dumps) = (EventStore::default(), DumpStore::default());
        let moment = source.moment();
        let data_collector_sets = DataCollectorSets::standard(moment.time, moment.boot);
        Self {
            name,
            source,
            accounts,
            behaviour: Mutex::default(),
            registry,
            exporter_address,
            registered: Vec::new(),
            events,
            dumps,
            data_collector_sets,
        }
    }

    /// The same host, whose endpoint mapper lists these interfaces.
    pub(crate) fn listing(self, registered: Vec<Registered>) -> Self {
        Self { registered, ..self }
    }

    /// What its endpoint mapper lists.
    pub(crate) fn registered(&self) -> &[Registered] {
        &self.registered
    }

    /// Its name, for logs.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub const fn source(&self) -> &Arc<dyn ValueSource> {
        &self.source
    }

    #[must_use]
    pub const fn accounts(&self) -> &Arc<Accounts> {
        &self.accounts
    }

    /// The keys of its registry, but for those that it computes.
    #[must_use]
    pub const fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The subscriptions of its COM+ event system.
    #[must_use]
    pub const fn events(&self) -> &EventStore {
        &self.events
    }

    /// The process dumps that it has written.
    #[must_use]
    pub const fn dumps(&self) -> &DumpStore {
        &self.dumps
    }

    /// The data collector sets of its performance logs and alerts.
    #[must_use]
    pub const fn data_collector_sets(&self) -> &DataCollectorSets {
        &self.data_collector_sets
    }

    /// Where its objects are called, if they can be.
    #[must_use]
    pub fn exporter_address(&self) -> Option<SocketAddr> {
        *self.exporter_address.lock()
    }

    pub(crate) fn set_exporter_address(&self, address: SocketAddr) {
        *self.exporter_address.lock() = Some(address);
    }

    /// How it behaves now. The guard is a lock: drop it soon.
    pub fn behaviour(&self) -> MutexGuard<'_, Behaviour> {
        self.behaviour.lock()
    }
}
