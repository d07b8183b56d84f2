use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use support::telemetry::{Metric, Writer};

/// How a probe was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeOutcome {
    /// With series of every module.
    Success,
    Failure,
    /// Not at all: it made no sense, or was not allowed.
    Refused,
    /// Not at all: there was too much to do.
    Busy,
}

impl ProbeOutcome {
    const ALL: [Self; 4] = [Self::Success, Self::Failure, Self::Refused, Self::Busy];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Refused => "refused",
            Self::Busy => "busy",
        }
    }
}

/// What became of probes.
#[derive(Clone, Debug, Default)]
pub(in crate::process) struct ProbeCounts(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    outcomes: [AtomicU64; ProbeOutcome::ALL.len()],
    flights: AtomicU64,
    kept: AtomicU64,
}

impl ProbeCounts {
    /// Counts one that was answered.
    pub(super) fn count(&self, outcome: ProbeOutcome) {
        self.0.outcomes[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request for a target.
    pub(super) fn asked(&self) {
        self.0.flights.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets the number of targets that are kept connected.
    pub(super) fn set_kept(&self, targets: usize) {
        self.0.kept.store(targets as u64, Ordering::Relaxed);
    }
}

impl Collector for ProbeCounts {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut out = Writer(&mut encoder);
        let count = |outcome: ProbeOutcome| self.0.outcomes[outcome as usize].load(Ordering::Relaxed);
        out.rows(&PROBES, ProbeOutcome::ALL.map(|outcome| ([outcome.as_str()], count(outcome))))?;
        out.row(&ASKED, self.0.flights.load(Ordering::Relaxed))?;
        out.row(&KEPT, self.0.kept.load(Ordering::Relaxed))
    }
}

/// What this file shows.
pub(in crate::process) const METRICS: &[&Metric] = &[&PROBES, &ASKED, &KEPT];

static PROBES: Metric =
    Metric::counter("perfmon_exporter_probes", &["outcome"], "Requests for /probe by outcome.");
static ASKED: Metric = Metric::counter(
    "perfmon_exporter_probe_collections",
    &[],
    "Collections made for probes; concurrent probes of a target share one collection.",
);
static KEPT: Metric = Metric::gauge(
    "perfmon_exporter_probe_targets",
    &[],
    "Unconfigured targets that are kept connected for the next probe.",
);
