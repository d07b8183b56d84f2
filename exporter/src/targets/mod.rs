//! The targets, and how they fare: a [`TargetRegistry`] holds the state of every target. The log has one line for each
//! change of it, and none per collection.
//!
//! A [`JobObserver`] hears of a module's collections and enters them; what it hears also decides when the schedule asks
//! next and when series that outlived a failure go. A [`PluginCollector`] begins collections, a [`TimedStore`] measures
//! what their values cost, over all targets in [`Costs`].

mod account;
mod changes;
mod collector;
mod costs;
mod health;
mod identity;
mod metrics;
mod observer;
mod registry;
mod sink;

pub use self::account::{Down, JobStatus, StageCost, ending};
pub(crate) use self::account::{help, next_step};
pub use self::changes::{CHANGES_MAX, Change, Turn};
pub use self::collector::PluginCollector;
pub(crate) use self::collector::{begin, failure_of};
pub(crate) use self::costs::METRICS as COST_METRICS;
pub use self::costs::{Costs, PluginCosts};
pub use self::health::{TargetHealth, count_by_health};
pub use self::identity::OperatingSystem;
pub(crate) use self::metrics::{FILE_METRICS, MEMORY_METRICS, PLUGIN_METRICS, TARGET_METRICS};
pub use self::metrics::{PluginSource, Plugins};
pub use self::observer::{AlertLines, JobObserver, Reporter};
pub use self::registry::{TargetRegistry, TargetState, TargetStatus};
pub use self::sink::TimedStore;
