use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use support::telemetry::{Metric, Writer};

/// What became of configurations that were read.
#[derive(Debug, Default)]
pub(super) struct ReloadCounts {
    last_succeeded: AtomicBool,
    /// The bits of Unix seconds.
    last_success: AtomicU64,
    succeeded: AtomicU64,
    failed: AtomicU64,
    needs_restart: AtomicBool,
}

impl ReloadCounts {
    /// One was read at `unix_s` and is in use; parts of it, perhaps, only after a restart. The first one is that which
    /// the process began with, and is not counted.
    pub(super) fn succeeded(&self, unix_s: f64, needs_restart: bool) {
        let is_first = self.last_success.swap(unix_s.to_bits(), Ordering::Relaxed) == 0;
        self.succeeded.fetch_add(u64::from(!is_first), Ordering::Relaxed);
        self.needs_restart.store(needs_restart, Ordering::Relaxed);
        self.last_succeeded.store(true, Ordering::Relaxed);
    }

    pub(super) fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        self.last_succeeded.store(false, Ordering::Relaxed);
    }

    /// Whether the last configuration that was read is in use.
    #[must_use]
    pub(super) fn last_succeeded(&self) -> bool {
        self.last_succeeded.load(Ordering::Relaxed)
    }

    /// When the one in use was read, in Unix seconds.
    #[must_use]
    pub(super) fn last_success_unix_s(&self) -> f64 {
        f64::from_bits(self.last_success.load(Ordering::Relaxed))
    }

    /// Reloads that succeeded and that failed.
    #[must_use]
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.succeeded.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed))
    }

    /// Whether something in it waits for a restart.
    #[must_use]
    pub(super) fn needs_restart(&self) -> bool {
        self.needs_restart.load(Ordering::Relaxed)
    }
    pub(super) fn write(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        out.row(&SUCCESSFUL, u64::from(self.last_succeeded()))?;
        out.row(&SUCCESS_TIME, self.last_success_unix_s())?;
        out.row(&NEEDS_RESTART, u64::from(self.needs_restart()))?;
        let (succeeded, failed) = self.counts();
        out.rows(&RELOADS, [(["success"], succeeded), (["failure"], failed)])
    }
}

/// What this file shows.
pub(super) const METRICS: &[&Metric] = &[&SUCCESSFUL, &SUCCESS_TIME, &NEEDS_RESTART, &RELOADS];

static SUCCESSFUL: Metric = Metric::gauge(
    "perfmon_exporter_config_last_reload_successful",
    &[],
    "Whether the last configuration that was read is in use; otherwise the previous one is.",
);
static SUCCESS_TIME: Metric = Metric::gauge(
    "perfmon_exporter_config_last_reload_success_timestamp_seconds",
    &[],
    "When the configuration in use was read.",
);
static NEEDS_RESTART: Metric = Metric::gauge(
    "perfmon_exporter_config_needs_restart",
    &[],
    "Whether a change of the configuration needs a restart; the log says which.",
);
static RELOADS: Metric = Metric::counter(
    "perfmon_exporter_config_reloads",
    &["outcome"],
    "Reloads of the configuration by outcome.",
);
