//! Loads plugins and guards the exporter against them.
//!
//! One [`Host`] per process. It loads a [`Library`] from a file, or takes one that is linked in. A library makes an
//! [`Instance`] of one of its sources for one target; the instance sends to the
//! [sinks](plugin_abi::Sinks) of the exporter. The exporter controls schedule, deadlines and
//! cancellation, and calls [`Host::poll_deadlines`] to enforce them. Violations of a plugin are counted by
//! [`Violation`]; at worst they put the instance into quarantine.

mod calls;
mod cells;
pub mod check;
mod checks;
mod command;
mod configure;
mod declared;
mod error;
mod exit;
mod host;
mod info;
mod instance;
mod lease;
mod library;
mod load;
mod log_budget;
mod options;
mod read;
mod recording;
mod run;
mod state;
mod table;
mod thread_pool;
mod tokens;
mod violation;

pub use plugin_abi::raw::EntryFn;
pub use rpc_cells::{Error as CellError, Level as CellLevel};

pub use self::cells::{CellCounts, CellFiles};
pub use self::command::{CommandCancel, CommandOutput, CommandRequest, ConfiguredModule, MetricNames};
pub use self::error::{CollectError, ConfigureError, LoadError};
pub use self::exit::{ENDED_BY_PLUGIN, ExitGuard, guard_exit, leave};
pub use self::host::{Host, Library};
pub use self::info::{AbiVersion, CommandInfo, Mode, OptionInfo, PluginInfo, SourceInfo};
pub use self::instance::Instance;
pub use self::options::{HostOptions, Limits, Trial};
pub use self::run::RunningCommand;
pub use self::state::{InstanceConfig, InstanceState, QuarantineCause};
pub use self::violation::{Violation, Violations};

use std::path::Path;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use self::load::Image;
use self::options::{LOADED, REFUSED};

/// A sink that keeps everything, for tests of dependent crates; [`check`] uses it, too.
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

/// Loads the library at `path` and ends the process. The program of a [`crate::Trial`] calls it for the process
/// `parent`.
pub fn run_trial(parent: &str, path: &Path) -> ! {
    // A hanging library must not outlive the parent, which may have ended before this call.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if getppid().is_none_or(|now| now.as_raw_nonzero().to_string() != parent) {
        exit::leave(REFUSED);
    }
    let loaded = Host::new(HostOptions::default()).load_image(Image::InPlace(path.to_owned()), path);
    exit::leave(if loaded.is_ok() { LOADED } else { REFUSED })
}
