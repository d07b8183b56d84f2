//! The registry of targets as a source of rounds for the collectors, and the exporter's own figures.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use config::Config;
use otlp::encode::Scope;
use otlp::push::OtlpEndpoint;
use otlp::push::{AllCounts, Counts, Figure, Item, OwnTelemetry, Pusher, Supply};
use parking_lot::{Mutex, MutexGuard};
use plugin_abi::{
    Batch, CollectionId, Column, Completion, Display, FamilyDef, InstanceSink, Kind, Outcome, SeriesDef,
    ValueKind,
};
use series::model::Target;
use series::pipeline::{Catalog, Limits, NoObserver, Store};
use support::telemetry::ProcessUsage;
use tracing::warn;

use super::plugins::Libraries;
use crate::targets::{TargetHealth, TargetRegistry, TargetState, count_by_health};

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

/// Begins to send the exporter's own figures to `endpoint`.
pub(super) fn own_telemetry(
    endpoint: &Arc<OtlpEndpoint>,
    target_registry: &Arc<TargetRegistry>,
    pusher: &Pusher,
) -> Option<OwnTelemetry> {
    let figures = own_figures(target_registry, Arc::clone(pusher.counts()));
    let own = OwnTelemetry::start(endpoint, tokio::runtime::Handle::current(), figures);
    let own = own.inspect_err(|error| warn!(error, "Own metrics are not sent")).ok()?;
    pusher.timings().record_in(own.meter());
    Some(own)
}

/// Sends them a last time.
pub(super) async fn stop_telemetry(own: Option<OwnTelemetry>) {
    let Some(own) = own else { return };
    let stopped = tokio::task::spawn_blocking(|| own.stop());
    if let Ok(Err(error)) = stopped.await {
        warn!(error, "Own metrics not sent at shutdown");
    }
}

/// The exporter's own metrics for `telemetry:`: a few values that show its health. All others are on `/metrics`.
#[expect(clippy::cast_precision_loss, reason = "counts and bytes below 2⁵³")]
fn own_figures(target_registry: &Arc<TargetRegistry>, endpoints: Arc<AllCounts>) -> Vec<Figure> {
    let (targets, series) = (Arc::clone(target_registry), Arc::clone(target_registry));
    let figure = |name, unit, help, is_counter, read| Figure { name, unit, help, is_counter, read };
    vec![
        figure(
            "perfmon_exporter.targets",
            "{target}",
            "Targets by state.",
            false,
            Box::new(move || by_state(&targets)),
        ),
        figure(
            "perfmon_exporter.series",
            "{series}",
            "Series of all targets.",
            false,
            Box::new(move || {
                let series = series.targets().iter().map(|entry| entry.status().series()).sum::<usize>();
                vec![(Vec::new(), series as f64)]
            }),
        ),
        figure(
            "perfmon_exporter.otlp.points",
            "{point}",
            "Points that collectors took.",
            true,
            Box::new(move || {
                let row = |counts: &Arc<Counts>| {
                    (vec![("endpoint", counts.name().to_owned())], counts.accepted() as f64)
                };
                endpoints.get().iter().map(row).collect()
            }),
        ),
        figure(
            "process.cpu.time",
            "s",
            "User and system time of the process.",
            true,
            Box::new(|| {
                let seconds = ProcessUsage::read().cpu_seconds;
                seconds.map(|seconds| (Vec::new(), seconds)).into_iter().collect()
            }),
        ),
        figure(
            "process.memory.usage",
            "By",
            "Resident memory of the process.",
            false,
            Box::new(|| {
                let resident = ProcessUsage::read().resident_bytes;
                resident.map(|bytes| (Vec::new(), bytes as f64)).into_iter().collect()
            }),
        ),
    ]
}

fn by_state(target_registry: &TargetRegistry) -> Vec<(Vec<(&'static str, String)>, f64)> {
    let counts = count_by_health(target_registry.targets().iter().map(|entry| entry.health()));
    let figure =
        |(state, count): (TargetHealth, u64)| (vec![("state", state.as_str().to_owned())], count as f64);
    counts.into_iter().map(figure).collect()
}
