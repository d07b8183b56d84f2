//! Makes snapshots from the data of a plugin.
//!
//! One [`Catalog`] per process gives each metric name one meaning. One [`Scope`] per target knows which series
//! the target has, over all its plugin instances, and holds its limits. One [`Store`] per plugin instance is the
//! [`InstanceSink`](plugin_abi::InstanceSink) that the instance sends into; after each collection it publishes
//! a [`Snapshot`](crate::model::Snapshot).
//!
//! ```
//! use std::sync::Arc;
//! use series::model::Target;
//! use series::pipeline::{Catalog, Limits, NoObserver, Scope};
//! use plugin_abi::{Batch, CollectionId, Column, Completion, Display, DisplayRule, FamilyDef,
//!     InstanceSink, Kind, Outcome, SeriesDef, ValueKind};
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
mod collection;
mod definition;
mod family_plan;
mod footprint;
mod labels;
mod limits;
mod metric_name;
mod naming;
mod normalize;
mod observer;
mod registry;
mod reserved;
mod rules;
mod scope;
mod stale;
mod store;

pub use self::catalog::Catalog;
pub use self::footprint::Footprint;
pub use self::limits::{Limits, Refusal, Refusals};
pub use self::metric_name::metric_name;
pub use self::naming::{
    Conflict, ConflictReason, Entry, FamilyName, Group, INSTANCE_LABELS, LabelMap, LabelValue, MappedMetric,
    MappedSource, NameMap, Nameable, Others, Profile,
};
pub use self::normalize::Normalize;
pub use self::observer::{NoObserver, StoreObserver};
pub use self::rules::{ACTIONS, BadRule, RelabelConfig, Rule, Rules};
pub use self::scope::Scope;
pub use self::stale::FailureStreak;
pub use self::store::Store;
