//! What the exporter says of itself: a [`Metric`] is what pages show under `perfmon_exporter_`, a [`Timing`] the
//! distribution of a time, and [`log`] writes lines; [`output`] is what commands
//! print. Who counts and who logs is elsewhere: no target is known here.

pub mod log;
mod metric;
pub mod output;
mod process;
mod process_metrics;
mod timing;
mod words;

pub use self::metric::{Metric, MetricKind, Writer};
pub use self::process::{ProcessUsage, remember_start, unix_nanos, unix_seconds};
pub use self::process_metrics::{METRICS as PROCESS_METRICS, write as write_process, write_runtime};
pub use self::timing::{Timing, Timings, WAIT_S, WORK_S, histogram};
