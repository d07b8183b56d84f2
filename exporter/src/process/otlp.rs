//! The registry of targets as a source of rounds for the collectors, and the exporter's own metrics.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Weak};

use config::Config;
use exposition::{LabelledNumber, OwnMetrics};
use otlp::encode::Scope;
use otlp::push::{Item, OtlpEndpoint, OwnTelemetry, Pusher, Read, Supply};
use parking_lot::{Mutex, MutexGuard};
use plugin_abi::{
    Batch, CollectionId, Column, Completion, DataSink, Display, FamilyDef, Kind, Outcome, SeriesDef,
    ValueKind,
};
use prometheus_client::registry::Registry;
use series::model::Target;
use series::pipeline::{Catalog, Limits, NoObserver, Store};
use support::telemetry::Metric;
use tracing::{error, warn};

use super::metrics::own_metrics;
use super::plugins::Libraries;
use targets::{TargetHealth, TargetRegistry, TargetState};

/// What the registered targets know now.
pub(super) struct SnapshotSupply {
    target_registry: Arc<TargetRegistry>,
    /// The plugin of each module.
    scopes: Mutex<Scopes>,
    /// The exporter itself, which says whether targets are up.
    own_scope: Arc<Scope>,
    known: Mutex<Stores>,
}

type Scopes = BTreeMap<String, Arc<Scope>>;

/// The stores that were seen, by address.
#[derive(Default)]
struct Stores {
    stores: HashMap<usize, StoreState>,
    /// By address of the target, with what keeps that from being another's.
    ups: HashMap<usize, (Weak<TargetState>, Arc<Store>)>,
    catalog: Arc<Catalog>,
    keys: u64,
}

struct StoreState {
    /// Keeps the address from being another store's.
    store: Weak<Store>,
    key: u64,
    /// Of the snapshot that was seen last, so that two of them never have one time.
    snapshot_id: u64,
    time_unix_nanos: u64,
}

impl SnapshotSupply {
    pub(super) fn new(target_registry: Arc<TargetRegistry>, config: &Config, libraries: &Libraries) -> Self {
        let own_scope = Arc::new(Scope::new("perfmon-exporter", env!("CARGO_PKG_VERSION")));
        let supply = Self { target_registry, scopes: Mutex::default(), own_scope, known: Mutex::default() };
        supply.set_config(config, libraries);
        supply
    }

    /// From now on these are the modules and their plugins.
    pub(super) fn set_config(&self, config: &Config, libraries: &Libraries) {
        let scopes = config.modules.iter().map(|(name, module)| {
            let version = libraries.get(&module.plugin).map_or("", |library| &library.info().version);
            (name.clone(), Arc::new(Scope::new(&module.plugin, version)))
        });
        *self.scopes() = scopes.collect();
    }

    fn scopes(&self) -> MutexGuard<'_, Scopes> {
        self.scopes.lock()
    }
}

impl Supply for SnapshotSupply {
    fn items(&self, now_unix_nanos: u64) -> Vec<Item> {
        let scopes = self.scopes();
        let mut known = self.known.lock();
        let mut items = Vec::new();
        for entry in self.target_registry.targets().iter() {
            for (module, store) in entry.modules.iter().zip(entry.stores()) {
                let Some(scope) = scopes.get(module) else { continue };
                items.push(known.item(entry, store, scope, now_unix_nanos));
            }
            if let Some(up) = known.up(entry) {
                items.push(known.item(entry, &up, &self.own_scope, now_unix_nanos));
            }
        }
        known.ups.retain(|_, (target, _)| target.strong_count() > 0);
        known.stores.retain(|_, store| store.store.strong_count() > 0);
        items
    }
}

impl Stores {
    /// A store that says whether a target is up, as of now: silence could be anything. Nothing before a collection ended.
    fn up(&mut self, entry: &Arc<TargetState>) -> Option<Arc<Store>> {
        let is_up = match entry.health() {
            TargetHealth::Waiting => return None,
            TargetHealth::Down => 0,
            TargetHealth::Partial | TargetHealth::Up => 1,
        };
        let (_, store) = self.ups.entry(Arc::as_ptr(entry).addr()).or_insert_with(|| {
            let target = Target::new(&entry.name);
            let scope = series::pipeline::Scope::new(Arc::clone(&self.catalog), target, Limits::default());
            let store = scope.store(Arc::new(NoObserver));
            store.register_families(&[UP], &mut Vec::new());
            store.register_series(&[SeriesDef::new(0, &[], None)], &mut Vec::new());
            (Arc::downgrade(entry), store)
        });
        let values = Column::U64(&[is_up]);
        store.batch(&Batch { ids: &[0], values, timestamps: None, start_times: None });
        store.complete(CollectionId(0), Completion { outcome: Outcome::Full, stages: &[] });
        Some(Arc::clone(store))
    }

    fn item(
        &mut self,
        entry: &TargetState,
        store: &Arc<Store>,
        scope: &Arc<Scope>,
        now_unix_nanos: u64,
    ) -> Item {
        let snapshot = store.snapshot();
        let known = self.stores.entry(Arc::as_ptr(store).addr()).or_insert_with(|| {
            self.keys += 1;
            StoreState { store: Arc::downgrade(store), key: self.keys, snapshot_id: 0, time_unix_nanos: 0 }
        });
        if known.snapshot_id != snapshot.id() || snapshot.series() == 0 {
            let is_later = snapshot.series() > 0 && snapshot.time_unix_nanos() > known.time_unix_nanos;
            known.time_unix_nanos = if is_later { snapshot.time_unix_nanos() } else { now_unix_nanos };
            known.snapshot_id = snapshot.id();
        }
        Item {
            key: known.key,
            resource: entry.resource(),
            scope: Arc::clone(scope),
            snapshot,
            time_unix_nanos: known.time_unix_nanos,
            ends: false,
        }
    }
}

/// `perfmon_target_up`: what `perfmon_exporter_target_up` is on `/metrics`, whose names no plugin's store may have.
const UP: FamilyDef<'static> = FamilyDef {
    namespace: "",
    object: "target",
    item: "up",
    part: "",
    kind: Kind::Gauge,
    unit: "",
    help: "Whether anything was collected from the target: 1 if its state is up or partial, 0 if it is down.",
    origin: "",
    value: ValueKind::U64,
    bounds: &[],
    display: Display::NONE,
};

/// Begins to send the exporter's own metrics, which `registry` has, to `endpoint`.
pub(super) fn own_telemetry(
    endpoint: &Arc<OtlpEndpoint>,
    registry: &Arc<Registry>,
    pusher: &Pusher,
) -> Option<OwnTelemetry> {
    let read = OwnNumbers { registry: Arc::clone(registry), state: Mutex::default() };
    let read: Read = Arc::new(move |metric| read.of(metric));
    let own = OwnTelemetry::start(endpoint, tokio::runtime::Handle::current(), &own_metrics(), &read);
    let own = own.inspect_err(|error| warn!(error, "Own metrics are not sent")).ok()?;
    pusher.timings().record_in(own.meter());
    Some(own)
}

/// The numbers of a registry, read again once a metric is asked for again.
struct OwnNumbers {
    registry: Arc<Registry>,
    state: Mutex<NumbersRead>,
}

#[derive(Default)]
struct NumbersRead {
    numbers: HashMap<String, Vec<LabelledNumber>>,
    asked: HashSet<&'static str>,
}

impl OwnNumbers {
    fn of(&self, metric: &'static Metric) -> Vec<LabelledNumber> {
        let NumbersRead { numbers, asked } = &mut *self.state.lock();
        if asked.is_empty() || asked.contains(metric.name) {
            asked.clear();
            let read = OwnMetrics::read(&self.registry);
            let read = read.inspect_err(|_| error!("Failed to encode the exporter's own metrics"));
            *numbers = read.unwrap_or_default().numbers().collect();
        }
        asked.insert(metric.name);
        numbers.remove(metric.name).unwrap_or_default()
    }
}

/// Sends them a last time.
pub(super) async fn stop_telemetry(own: Option<OwnTelemetry>) {
    let Some(own) = own else { return };
    let stopped = tokio::task::spawn_blocking(|| own.stop());
    if let Ok(Err(error)) = stopped.await {
        warn!(error, "Own metrics not sent at shutdown");
    }
}
