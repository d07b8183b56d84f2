use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use plugin_abi::Stage;
use series::pipeline::Refusal;
use support::telemetry::{Metric, Writer};

use crate::account::{JobStatus, StageCost};
use crate::health::{TargetHealth, count_by_health};
use crate::registry::{TargetState, TargetStatus};

/// A target with what is known of it.
pub(super) type TargetWithStatus<'a> = (&'a TargetState, &'a TargetStatus);

pub(super) fn write(out: &mut Writer<'_, '_>, targets: &[TargetWithStatus<'_>]) -> fmt::Result {
    states(out, targets)?;
    costs(out, targets)?;
    last_costs(out, targets)?;
    failures(out, targets)?;
    dropped(out, targets)?;
    modules(out, targets)
}

fn states(out: &mut Writer<'_, '_>, targets: &[TargetWithStatus<'_>]) -> fmt::Result {
    let up = targets
        .iter()
        .filter_map(|(entry, status)| Some(([entry.name.as_str()], u64::from(status.health().is_up()?))));
    out.rows(&UP, up.collect::<Vec<_>>())?;
    let states = targets.iter().flat_map(|(entry, status)| {
        let now = status.health();
        TargetHealth::ALL.map(|state| ([entry.name.as_str(), state.as_str()], u64::from(state == now)))
    });
    out.rows(&STATE, states.collect::<Vec<_>>())?;
    let success = targets
        .iter()
        .filter_map(|(entry, status)| Some(([entry.name.as_str()], status.last_success_unix_s()?)));
    out.rows(&LAST_SUCCESS, success.collect::<Vec<_>>())?;
    let series = targets.iter().map(|(entry, status)| ([entry.name.as_str()], status.series() as u64));
    out.rows(&SERIES, series.collect::<Vec<_>>())?;
    let duration = targets.iter().filter_map(|(entry, status)| {
        let durations = status.jobs.iter().filter_map(|job| job.last_duration);
        let sum: Duration = durations.sum();
        (!sum.is_zero()).then_some(([entry.name.as_str()], sum.as_secs_f64()))
    });
    out.rows(&COLLECTION_SECONDS, duration.collect::<Vec<_>>())?;
    let counts = count_by_health(targets.iter().map(|(_, status)| status.health()));
    out.rows(&TARGETS, counts.map(|(state, count)| ([state.as_str()], count)))
}

fn costs(out: &mut Writer<'_, '_>, targets: &[TargetWithStatus<'_>]) -> fmt::Result {
    let mut seconds = Vec::new();
    let mut totals: Vec<(&str, StageCost)> = Vec::with_capacity(targets.len());
    for (entry, status) in targets {
        let mut total = StageCost::default();
        for (index, stage) in Stage::ALL.into_iter().enumerate() {
            let mut last = StageCost::default();
            for job in &status.jobs {
                last.add(job.last_stages[index]);
                total.add(job.total_stages[index]);
            }
            if last != StageCost::default() {
                seconds.push(([entry.name.as_str(), stage.as_str()], last.duration.as_secs_f64()));
            }
        }
        totals.push((&entry.name, total));
    }
    out.rows(&STAGE_SECONDS, seconds)?;
    let each = |count: fn(&StageCost) -> u64| totals.iter().map(move |(name, total)| ([*name], count(total)));
    out.rows(&CALLS, each(|total| total.calls))?;
    out.rows(&RECEIVED, each(|total| total.bytes_in))?;
    out.rows(&SENT, each(|total| total.bytes_out))
}

/// What each stage of the last collections cost on the wire; stages without calls and bytes have no row.
fn last_costs(out: &mut Writer<'_, '_>, targets: &[TargetWithStatus<'_>]) -> fmt::Result {
    let (mut calls, mut received, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    for (entry, status) in targets {
        for (index, stage) in Stage::ALL.into_iter().enumerate() {
            let mut last = StageCost::default();
            status.jobs.iter().for_each(|job| last.add(job.last_stages[index]));
            let labels = [entry.name.as_str(), stage.as_str()];
            let columns =
                [(&mut calls, last.calls), (&mut received, last.bytes_in), (&mut sent, last.bytes_out)];
            for (rows, count) in columns {
                if count > 0 {
                    rows.push((labels, count));
                }
            }
        }
    }
    out.rows(&COLLECTION_CALLS, calls)?;
    out.rows(&COLLECTION_RECEIVED, received)?;
    out.rows(&COLLECTION_SENT, sent)
}

fn failures(out: &mut Writer<'_, '_>, targets: &[TargetWithStatus<'_>]) -> fmt::Result {
    let collections = targets.iter().flat_map(|(entry, status)| {
        let sum = |count: fn(&JobStatus) -> u64| status.jobs.iter().map(count).sum::<u64>();
        let counts = [("full", sum(|j| j.full)), ("partial", sum(|j| j.part)), ("failed", sum(|j| j.failed))];
        counts.map(|(word, count)| ([entry.name.as_str(), word], count))
    });
    out.rows(&COLLECTIONS, collections.collect::<Vec<_>>())?;
    let mut rows = Vec::new();
    for (entry, status) in targets {
        let mut counts = BTreeMap::<_, u64>::new();
        for ((stage, reason), count) in status.jobs.iter().flat_map(|job| &job.failures) {
            *counts.entry((*stage, reason.as_str())).or_default() += count;
        }
        let counts = counts.into_iter();
        rows.extend(
            counts.map(|((stage, reason), count)| ([entry.name.as_str(), stage.as_str(), reason], count)),
        );
    }
    out.rows(&FAILURES, rows)
}

fn dropped(out: &mut Writer<'_, '_>, targets: &[TargetWithStatus<'_>]) -> fmt::Result {
    let mut rows = Vec::new();
    for (entry, _) in targets {
        let mut counts = BTreeMap::<_, u64>::new();
        let refusals = entry.stores().flat_map(|store| store.refusals().iter());
        for (refusal, count) in refusals.filter(|(refusal, _)| !refusal.is_wanted()) {
            *counts.entry(refusal.as_str()).or_default() += count;
        }
        rows.extend(counts.into_iter().map(|(reason, count)| ([entry.name.as_str(), reason], count)));
    }
    out.rows(&DROPPED, rows)?;
    let ruled = targets.iter().map(|(entry, _)| {
        let dropped: u64 = entry.stores().map(|store| store.refusals().count(Refusal::DroppedByRule)).sum();
        ([entry.name.as_str()], dropped)
    });
    let ruled: Vec<_> = ruled.filter(|(_, dropped)| *dropped > 0).collect();
    out.rows(&DROPPED_BY_RULE, ruled)
}

fn modules(out: &mut Writer<'_, '_>, targets: &[TargetWithStatus<'_>]) -> fmt::Result {
    let rows: Vec<_> = targets
        .iter()
        .flat_map(|(entry, status)| {
            let modules = entry.modules.iter().zip(&status.jobs).filter(|(_, job)| job.matches_nothing);
            modules.map(|(module, _)| ([entry.name.as_str(), module.as_str()], 1_u64))
        })
        .collect();
    out.rows(&MATCHES_NOTHING, rows)
}

/// What this file shows.
pub const METRICS: &[&Metric] = &[
    &UP,
    &STATE,
    &LAST_SUCCESS,
    &SERIES,
    &COLLECTION_SECONDS,
    &TARGETS,
    &STAGE_SECONDS,
    &CALLS,
    &RECEIVED,
    &SENT,
    &COLLECTION_CALLS,
    &COLLECTION_RECEIVED,
    &COLLECTION_SENT,
    &COLLECTIONS,
    &FAILURES,
    &DROPPED,
    &DROPPED_BY_RULE,
    &MATCHES_NOTHING,
];

static UP: Metric = Metric::gauge(
    "perfmon_exporter_target_up",
    TARGET,
    "Whether anything was collected from the target: 1 if its state is up or partial, 0 if it is down.",
);
static STATE: Metric = Metric::gauge(
    "perfmon_exporter_target_state",
    &["target", "state"],
    "1 for the state of the target. up: everything was collected; partial: a module failed, covers only a \
     part, or matches nothing; down: nothing was collected; waiting: a module was not collected yet.",
);
static LAST_SUCCESS: Metric = Metric::gauge(
    "perfmon_exporter_target_last_success_timestamp_seconds",
    TARGET,
    "Time of the last collection in which every module of the target answered.",
);
static SERIES: Metric =
    Metric::gauge("perfmon_exporter_target_series", TARGET, "Series of the target on the page.");
static COLLECTION_SECONDS: Metric = Metric::gauge(
    "perfmon_exporter_target_collection_seconds",
    TARGET,
    "Duration of the target's last collection, over all its modules.",
);
static TARGETS: Metric = Metric::gauge("perfmon_exporter_targets", &["state"], "Targets by state.");
static STAGE_SECONDS: Metric = Metric::gauge(
    "perfmon_exporter_target_stage_seconds",
    TARGET_STAGE,
    "Duration of each stage of the target's last collection.",
);
static CALLS: Metric = Metric::counter("perfmon_exporter_target_calls", TARGET, "Calls to the target.");
static RECEIVED: Metric =
    Metric::counter("perfmon_exporter_target_received_bytes", TARGET, "Bytes received from the target.");
static SENT: Metric =
    Metric::counter("perfmon_exporter_target_sent_bytes", TARGET, "Bytes sent to the target.");
static COLLECTION_CALLS: Metric = Metric::gauge(
    "perfmon_exporter_target_collection_calls",
    TARGET_STAGE,
    "Calls to the target in its last collection, over all its modules.",
);
static COLLECTION_RECEIVED: Metric = Metric::gauge(
    "perfmon_exporter_target_collection_received_bytes",
    TARGET_STAGE,
    "Bytes received from the target in its last collection, over all its modules.",
);
static COLLECTION_SENT: Metric = Metric::gauge(
    "perfmon_exporter_target_collection_sent_bytes",
    TARGET_STAGE,
    "Bytes sent to the target in its last collection, over all its modules.",
);
static COLLECTIONS: Metric = Metric::counter(
    "perfmon_exporter_collections",
    &["target", "outcome"],
    "Collections by outcome: full, partial or failed. Each module of the target has its own; one that could not begin \
     counts as failed.",
);
static FAILURES: Metric = Metric::counter(
    "perfmon_exporter_failures",
    &["target", "stage", "reason"],
    "Collections of the target that failed, completely or in part.",
);
static DROPPED: Metric = Metric::counter(
    "perfmon_exporter_series_dropped",
    &["target", "reason"],
    "Families, series and values that a plugin sent for the target but that are not on the page.",
);
static DROPPED_BY_RULE: Metric = Metric::counter(
    "perfmon_exporter_series_dropped_by_rule",
    TARGET,
    "Families and series of the target that are dropped by rules of the configuration.",
);
static MATCHES_NOTHING: Metric = Metric::gauge(
    "perfmon_exporter_module_matches_nothing",
    &["target", "module"],
    "A module whose collection succeeded without a single series.",
);

const TARGET: &[&str] = &["target"];
const TARGET_STAGE: &[&str] = &["target", "stage"];
