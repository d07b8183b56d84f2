//! Makes snapshots from the data of a plugin.
//!
//! One [`Catalog`] per process gives each metric name one meaning. One [`Scope`] per target knows which series
//! the target has, over all its plugin instances, and holds its limits. One [`Store`] per plugin instance is the
//! [`DataSink`](plugin_abi::DataSink) that the instance sends into; after each collection it publishes
//! a [`Snapshot`].
//!
//! ```
//! use std::sync::Arc;
//! use series::model::Target;
//! use series::pipeline::{Catalog, Limits, NoObserver, Scope};
//! use plugin_abi::{Batch, CollectionId, Column, Completion, Display, DisplayRule, FamilyDef,
//!     DataSink, Kind, Outcome, SeriesDef, ValueKind};
//!
//! let scope = Scope::new(Catalog::new(), Target::new("web1").with_label("env", "prod"), Limits::default());
//! let store = scope.store(Arc::new(NoObserver));
//!
//! let mut verdicts = Vec::new();
//! store.register_families(&[FamilyDef {
//!     namespace: "", object: "Processor Information", item: "% User Time", part: "",
//!     kind: Kind::Counter, unit: "seconds", value: ValueKind::F64,
//!     help: "Time in user mode", origin: "\\Processor Information(*)\\% User Time",
//!     bounds: &[],
//!     display: Display::by(DisplayRule::PercentOfTime),
//! }], &mut verdicts);
//! verdicts.clear();
//! let labels = [("counter_instance", "0,0")];
//! store.register_series(&[SeriesDef::new(0, &labels, None)], &mut verdicts);
//! store.batch(&Batch { ids: &[0], values: Column::F64(&[1.5]), timestamps: None, start_times: None });
//! store.complete(CollectionId(1), Completion { outcome: Outcome::Full, stages: &[] });
//!
//! let page = exposition::page(exposition::Format::Text, vec![store.snapshot()], None);
//! assert!(page.ends_with(
//!     "perfmon_processor_information_user_time_seconds_total\
//!     {target=\"web1\",env=\"prod\",counter_instance=\"0,0\"} 1.5\n"
//! ));
//! ```
//!
//! [`Rules`] over names, labels and series (renaming, relabelling, dropping) are applied where families and series are
//! registered, so that a sample never pays for them. [`Normalize`] holds them with the naming [`Profile`] and the
//! [`Limits`] of one store.

mod catalog;
mod labels;
mod limits;
mod metric_name;
mod naming;
mod registry;
mod rules;
mod scope;
mod store;

use std::collections::HashSet;
use std::sync::Arc;

pub use self::catalog::Catalog;
pub use self::limits::{Limits, Refusal, Refusals};
pub use self::metric_name::{NoObserver, Normalize, StoreObserver, metric_name};
pub use self::naming::{
    Conflict, ConflictReason, Entry, FamilyName, Group, INSTANCE_LABELS, LabelMap, LabelValue, MappedMetric,
    MappedSource, NameMap, Nameable, Others, Profile,
};
pub use self::rules::{ACTIONS, BadRule, RelabelConfig, Rule, Rules};
pub use self::scope::Scope;
pub use self::store::Store;

use crate::model::{Bounds, Kind, Layout, Size, Snapshot, Target, ValueKind, Values};
use crate::pipeline::registry::Registry;
use crate::pipeline::rules::Plan;

/// With what a name begins that is the exporter's own.
fn reserved_prefix(name: &str) -> Option<&'static str> {
    RESERVED_PREFIXES.into_iter().find(|prefix| name.starts_with(prefix))
}

/// Of `process_` those that client libraries have for the process itself: others are free for metrics of processes.
const RESERVED_PREFIXES: [&str; 11] = [
    "perfmon_exporter_",
    "perfmon_probe_",
    "process_cpu_seconds",
    "process_heap_",
    "process_max_",
    "process_network_",
    "process_open_",
    "process_resident_",
    "process_start_",
    "process_threads",
    "process_virtual_",
];

/// What becomes of a family of a plugin under a profile and its rules: alike in all stores that have them, and shared
/// by them.
#[derive(Debug, PartialEq)]
struct FamilyPlan {
    /// A store has one plan for each key.
    key: String,
    /// What it is on the page.
    kind: Kind,
    /// What the plugin says that it is.
    source_kind: Kind,
    /// What the profile makes of it beside its name.
    metric: Option<Arc<MappedMetric>>,
    value: ValueKind,
    bounds: Bounds,
    /// What the plugin called it, so that registering it again is seen for what it is.
    identity: String,
    /// One for each of its names, as rules leave it: a profile may give the same values several names.
    names: Vec<Plan>,
}

impl FamilyPlan {
    /// Whether it is the base of a counter of this object.
    fn is_base_of(&self, namespace: &str, object: &str) -> bool {
        let mut parts = self.identity.split('\0');
        parts.next() == Some(namespace) && parts.next() == Some(object) && parts.nth(1) == Some("base")
    }
}

/// Number and memory of series, computed when series come or go and not when it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    pub families: u64,
    /// Series that are registered, with a value or without.
    pub series: u64,
    /// Bytes of the series' names and labels as they stand on a page, which readers share.
    pub label_bytes: u64,
    /// Bytes of values: those that come in, those that readers see, and room for the next.
    pub value_bytes: u64,
    /// Bytes of what finds series and tells duplicates; about so many.
    pub index_bytes: u64,
}

impl Footprint {
    /// What is there now. `published` is what readers see.
    fn of(registry: &Registry, buffers: &Buffers, published: &Snapshot) -> Self {
        let layout = registry.layout();
        let series = layout.series();
        let values = buffers.heap_bytes() + published.values().heap_bytes();
        let index = registry.index_bytes() + series * BYTES_PER_HASH;
        let count = |count: usize| count as u64;
        Self {
            families: count(layout.blocks().len()),
            series: count(series),
            label_bytes: count(layout.heap_bytes()),
            value_bytes: count(values),
            index_bytes: count(index),
        }
    }

    pub fn add(&mut self, other: Self) {
        self.families += other.families;
        self.series += other.series;
        self.label_bytes += other.label_bytes;
        self.value_bytes += other.value_bytes;
        self.index_bytes += other.index_bytes;
    }
}

/// A hash and its mark in a table that is on average two thirds full.
const BYTES_PER_HASH: usize = 14;

/// Collections that fail one after the other; another such streak is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureStreak(u64);

/// The current streak of failures.
#[derive(Debug, Default)]
struct Stale {
    /// How many rows there were.
    rows: u64,
    is_failing: bool,
    /// Series of this streak outlive nothing any more.
    is_expired: bool,
    /// The blocks of the layout that the last collection brought all the same.
    covered: Vec<u32>,
}

impl Stale {
    /// One more collection failed, but for the blocks `covered`. Answers the streak that began, if one did.
    fn fail(&mut self, covered: &[u32]) -> Option<FailureStreak> {
        self.covered.clear();
        self.covered.extend_from_slice(covered);
        if std::mem::replace(&mut self.is_failing, true) {
            return None;
        }
        self.rows += 1;
        Some(FailureStreak(self.rows))
    }

    fn end(&mut self) {
        (self.is_failing, self.is_expired) = (false, false);
    }

    /// Series outlive this streak no longer. Answers the blocks that the last collection brought all the same; nothing
    /// where the streak is over.
    fn expire(&mut self, FailureStreak(streak): FailureStreak) -> Option<&[u32]> {
        if !self.is_failing || self.rows != streak {
            return None;
        }
        self.is_expired = true;
        Some(&self.covered)
    }

    /// Whether series outlive nothing any more until a collection succeeds.
    fn is_expired(&self) -> bool {
        self.is_expired
    }
}

/// The values that come in, and room for those that go out.
///
/// Batches always go into the same values, which so stay in the processor's cache. When a collection ends they
/// are copied for the readers, into what the snapshot before the last one held: two sets of values take turns
/// there. A reader who still holds the older one keeps it; then room is made again, and the old set goes with its
/// last reader.
#[derive(Debug, Default)]
struct Buffers {
    values: Values,
    /// A collection is in progress, and `values` belong to it.
    begun: bool,
    spare: Option<Arc<Values>>,
}

impl Buffers {
    /// The values of the collection in progress.
    fn building(&mut self, registry: &Registry) -> &mut Values {
        if !self.begun {
            self.values.begin(registry.roster());
            self.begun = true;
        }
        &mut self.values
    }

    /// The same, if any value came already.
    fn begun(&mut self) -> Option<&mut Values> {
        self.begun.then_some(&mut self.values)
    }

    /// Nothing of this collection may be believed, but for the start times: whoever gave one does not give it again.
    fn discard(&mut self, registry: &mut Registry) {
        if std::mem::take(&mut self.begun) {
            registry.keep_start_times(&self.values);
        }
    }

    /// A snapshot was replaced: its values may be reused when no reader holds them.
    fn recycle(&mut self, snapshot: &Snapshot) {
        if !snapshot.values().is_empty() {
            self.spare = Some(Arc::clone(snapshot.values()));
        }
    }

    fn heap_bytes(&self) -> usize {
        self.values.heap_bytes() + self.spare.as_ref().map_or(0, |spare| spare.heap_bytes())
    }

    /// Ends the collection. `inherit` names the families whose last values still hold.
    fn commit(
        &mut self,
        registry: &mut Registry,
        target: &Arc<Target>,
        last: &Snapshot,
        inherit: Inherit<'_>,
        refusals: &Refusals,
    ) -> Snapshot {
        let building = self.building(registry);
        registry.keep_start_times(building);
        registry.multiply(building);
        if let Inherit::AllBut(covered) = inherit {
            inherit_values(building, registry, last, covered);
        }
        registry.settle();
        let layout = Arc::clone(registry.layout());
        let size = settle_counts(building, &layout, refusals);
        self.begun = false;
        let mut values = self.spare.take().and_then(|spare| Arc::try_unwrap(spare).ok()).unwrap_or_default();
        values.copy_from(&self.values);
        Snapshot::new(Arc::clone(target), layout, Arc::new(values), size)
    }
}

/// Which families keep values that the collection did not bring.
#[derive(Clone, Copy, Debug)]
enum Inherit<'a> {
    Nothing,
    AllBut(&'a [u32]),
}

fn inherit_values(values: &mut Values, registry: &Registry, last: &Snapshot, covered: &[u32]) {
    let covered: HashSet<u32> = covered.iter().copied().collect();
    let reused: HashSet<u32> = registry.reused().iter().copied().collect();
    for (index, block) in registry.layout().blocks().iter().enumerate() {
        if !covered.contains(&registry.family_of_block(index)) {
            for id in block.ids().filter(|id| !reused.contains(id)) {
                values.inherit(id, last.values());
            }
        }
    }
}

/// The snapshot with the series of these blocks of its layout alone.
fn only(last: &Snapshot, blocks: &[u32]) -> Snapshot {
    let blocks: HashSet<usize> = blocks.iter().map(|&block| block as usize).collect();
    if blocks.is_empty() {
        return Snapshot::empty(Arc::clone(last.target()));
    }
    let mut values = Values::default();
    values.copy_from(last.values());
    let mut size = Size::default();
    for (index, block) in last.layout().blocks().iter().enumerate() {
        let ids = block.ids().filter(|&id| last.values().has_value(id));
        if blocks.contains(&index) {
            size.add(block.family(), ids.count());
        } else {
            ids.for_each(|id| values.clear(id));
        }
    }
    Snapshot::new(Arc::clone(last.target()), Arc::clone(last.layout()), Arc::new(values), size)
}

/// Removes impossible values of counters, and counts the remaining ones.
fn settle_counts(values: &mut Values, layout: &Layout, refusals: &Refusals) -> Size {
    let (mut size, mut invalid) = (Size::default(), 0);
    for block in layout.blocks() {
        let family = block.family();
        let mut points = 0;
        for chunk in block.chunks() {
            let (kept, removed) = match family.kind {
                Kind::Counter => values.keep_counts(chunk.ids()),
                _ => (chunk.ids().iter().filter(|&&id| values.has_value(id)).count(), 0),
            };
            points += kept;
            invalid += removed;
        }
        size.add(family, points);
    }
    refusals.add(Refusal::InvalidCount, invalid);
    size
}
