//! Loads plugins and guards the exporter against them.
//!
//! One [`Host`] per process. It loads a [`Library`] from a file, or takes one that is linked in; a library makes
//! an [`Instance`] of one of its sources for one target, which collects into a
//! [sink](plugin_contract::InstanceSink) of the exporter's.
//! Schedule, deadline and cancellation are the exporter's; it calls [`Host::poll_deadlines`] so that they are kept.
//! What a plugin does wrong is answered, counted by [`Violation`], and costs the instance a pause at worst.

mod calls;
pub mod check;
mod checks;
mod command;
mod configure;
mod declared;
mod elf;
mod error;
mod exit;
mod host;
mod image;
mod info;
mod instance;
mod lease;
mod library;
mod limits;
mod load;
mod log_budget;
mod options;
mod read;
mod recording;
mod run;
mod state;
mod sync;
mod table;
mod thread_pool;
mod tokens;
mod trial;
mod trial_run;
mod violation;

pub use plugin_abi::EntryFn;

pub use self::command::{CommandCancel, CommandOutput, CommandRequest, ConfiguredModule, MetricNames};
pub use self::error::{CollectError, ConfigureError, LoadError, Problem};
pub use self::exit::{ENDED_BY_PLUGIN, allow_exit, guard_exit, leave};
pub use self::host::{Host, Library};
pub use self::info::{AbiVersion, CommandInfo, Mode, OptionInfo, PluginInfo, SourceInfo};
pub use self::instance::Instance;
pub use self::limits::Limits;
pub use self::options::HostOptions;
pub use self::run::RunningCommand;
pub use self::state::{InstanceConfig, InstanceState, QuarantineCause};
pub use self::trial::Trial;
pub use self::trial_run::run_trial;
pub use self::violation::{Violation, Violations};

/// A sink that keeps everything, for the tests of who uses this crate; [`check`] uses it, too.
pub mod testing {
    pub use crate::recording::{
        Recorded, RecordedCompletion, RecordedFamily, RecordedLog, RecordedOutcome, RecordedSeries,
        RecordingSink, Value,
    };
}

/// The monotonic clock in nanoseconds, as plugins see it (`CLOCK_MONOTONIC`).
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec)
        .unwrap_or(0)
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}
