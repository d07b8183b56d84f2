//! What the exporter says of itself: [`Book`] keeps the account of every target, [`SelfMetrics`] shows it under
//! `perfmon_exporter_`, [`log`] writes it down, one line per change of a target's state and none per collection.

mod account;
mod book;
pub mod log;
mod metrics;
mod process;
mod scrapes;

pub use self::account::{Down, JobStatus, StageCost};
pub use self::book::{Book, JobKey, JobObserver, TargetEntry, TargetStatus};
pub(crate) use self::metrics::remember_start;
pub use self::metrics::{PluginSource, SelfMetrics};
pub use self::process::ProcessUsage;
pub use self::scrapes::{ScrapeOutcome, Scrapes};
