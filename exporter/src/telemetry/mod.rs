//! What the exporter says of itself: [`Book`] keeps the account of every target, [`Metric`] is how pages
//! show it under `perfmon_exporter_`, [`log`] writes it down, one line per change of a target's state and none per
//! collection.

mod account;
mod book;
mod changes;
mod costs;
mod identity;
pub mod log;
mod metric;
mod metrics;
mod observer;
mod process;
mod sink;
mod state;
mod timing;
mod words;

pub use self::account::{Down, JobStatus, StageCost, ending};
pub(crate) use self::account::{help, next_step};
pub use self::book::{Book, TargetEntry, TargetStatus};
pub use self::changes::{CHANGES_MAX, Change, Turn};
pub(crate) use self::costs::METRICS as COST_METRICS;
pub use self::costs::{Costs, PluginCosts};
pub use self::metric::{Metric, MetricKind, Writer};
pub(crate) use self::metrics::{
    FILE_METRICS, MEMORY_METRICS, PLUGIN_METRICS, PROCESS_METRICS, TARGET_METRICS, write_process,
    write_runtime,
};
pub use self::metrics::{PluginSource, Plugins};
pub use self::observer::{JobObserver, Reporter};
pub use self::process::ProcessUsage;
pub(crate) use self::process::{remember_start, unix_seconds};
pub use self::sink::TimedStore;
pub use self::state::{TargetState, count_states};
pub use self::timing::{Timing, Timings, WAIT_S, WORK_S};
pub(crate) use self::words::words;
