use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use plugin_abi::{Completion, Outcome, Stage, StageReport};
use support::telemetry::{Metric, Timing, Timings, WAIT_S, WORK_S, Writer};

/// What collections cost, by plugin and over all targets: a fleet of thousands has as many series here as one host.
#[derive(Debug)]
pub struct Costs {
    timings: Timings,
    /// All outcomes are there from the beginning, so that a rate is right from the first collection on.
    collection: [Timing; OUTCOMES.len()],
    plugins: Mutex<BTreeMap<String, Arc<PluginCosts>>>,
}

/// What one plugin's collections cost.
#[derive(Debug)]
pub struct PluginCosts {
    plugin: String,
    /// FULL, PARTIAL, FAILED; over all plugins.
    collection: [Timing; OUTCOMES.len()],
    stages: [StageCosts; Stage::ALL.len()],
    pub(super) validation: Timing,
    pub(super) ingest: Timing,
    pub(super) registration: Timing,
    pub(super) publish: Timing,
    pub(super) batches: AtomicU64,
    /// Stored, of a retired series, of the wrong kind.
    pub(super) rows: [AtomicU64; ROWS.len()],
    /// Families and series, accepted and dropped.
    pub(super) registered: [AtomicU64; REGISTERED.len()],
    pub(super) retired: AtomicU64,
}

#[derive(Debug)]
struct StageCosts {
    stage: Stage,
    duration: Timing,
    calls: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
}

impl Costs {
    #[must_use]
    pub fn new(timings: &Timings) -> Arc<Self> {
        let collection = OUTCOMES.map(|outcome| timings.get(&COLLECTION_SECONDS, &[outcome]));
        Arc::new(Self { timings: timings.clone(), collection, plugins: Mutex::default() })
    }

    /// Those of a plugin.
    #[must_use]
    pub fn of(&self, plugin: &str) -> Arc<PluginCosts> {
        let mut plugins = self.plugins.lock();
        let of_plugin = plugins.entry(plugin.to_owned()).or_insert_with(|| PluginCosts::new(plugin, self));
        Arc::clone(of_plugin)
    }

    pub fn write(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let plugins = self.plugins.lock().clone();
        let plugins: Vec<&PluginCosts> = plugins.values().map(|costs| &**costs).collect();
        let stages = |read: fn(&StageCosts) -> &AtomicU64| {
            let rows = plugins.iter().flat_map(move |costs| {
                costs.stages.iter().map(move |stage| {
                    ([costs.plugin.as_str(), stage.stage.as_str()], read(stage).load(Ordering::Relaxed))
                })
            });
            rows.collect::<Vec<_>>()
        };
        out.rows(&STAGE_CALLS, stages(|stage| &stage.calls))?;
        out.rows(&STAGE_RECEIVED, stages(|stage| &stage.received))?;
        out.rows(&STAGE_SENT, stages(|stage| &stage.sent))?;
        let each = |read: fn(&PluginCosts) -> &AtomicU64| {
            let rows = plugins
                .iter()
                .map(move |costs| ([costs.plugin.as_str()], read(costs).load(Ordering::Relaxed)));
            rows.collect::<Vec<_>>()
        };
        out.rows(&BATCHES, each(|costs| &costs.batches))?;
        let rows = plugins.iter().flat_map(|costs| {
            ROWS.iter()
                .zip(&costs.rows)
                .map(|(outcome, count)| ([costs.plugin.as_str(), outcome], count.load(Ordering::Relaxed)))
        });
        out.rows(&BATCH_ROWS, rows.collect::<Vec<_>>())?;
        let registered = plugins.iter().flat_map(|costs| {
            REGISTERED.iter().zip(&costs.registered).map(|([what, verdict], count)| {
                ([costs.plugin.as_str(), what, verdict], count.load(Ordering::Relaxed))
            })
        });
        out.rows(&REGISTRATIONS, registered.collect::<Vec<_>>())?;
        out.rows(&RETIRED, each(|costs| &costs.retired))
    }
}

impl PluginCosts {
    fn new(plugin: &str, all: &Costs) -> Arc<Self> {
        let timings = &all.timings;
        Arc::new(Self {
            plugin: plugin.to_owned(),
            collection: all.collection.clone(),
            stages: Stage::ALL.map(|stage| StageCosts {
                stage,
                duration: timings.get(&STAGE_SECONDS, &[plugin, stage.as_str()]),
                calls: AtomicU64::new(0),
                received: AtomicU64::new(0),
                sent: AtomicU64::new(0),
            }),
            validation: timings.get(&VALIDATION_SECONDS, &[plugin]),
            ingest: timings.get(&INGEST_SECONDS, &[plugin]),
            registration: timings.get(&REGISTRATION_SECONDS, &[plugin]),
            publish: timings.get(&PUBLISH_SECONDS, &[plugin]),
            batches: AtomicU64::new(0),
            rows: Default::default(),
            registered: Default::default(),
            retired: AtomicU64::new(0),
        })
    }

    pub fn enter(&self, completion: &Completion<'_>, took: Duration) {
        let outcome = match completion.outcome {
            Outcome::Full => 0,
            Outcome::Partial { .. } => 1,
            Outcome::Failed(_) => 2,
        };
        self.collection[outcome].took(took);
        for report in completion.stages {
            let StageReport { stage, duration_ns, calls, bytes_in, bytes_out, .. } = *report;
            let Some(costs) = self.stages.iter().find(|costs| costs.stage == stage) else { continue };
            costs.duration.took(Duration::from_nanos(duration_ns));
            costs.calls.fetch_add(calls, Ordering::Relaxed);
            costs.received.fetch_add(bytes_in, Ordering::Relaxed);
            costs.sent.fetch_add(bytes_out, Ordering::Relaxed);
        }
    }
}

const OUTCOMES: [&str; 3] = ["full", "partial", "failed"];
const ROWS: [&str; 3] = ["stored", "retired", "wrong_kind"];
pub(super) const REGISTERED: [[&str; 2]; 4] =
    [["family", "accepted"], ["family", "dropped"], ["series", "accepted"], ["series", "dropped"]];

/// What this file shows.
pub const METRICS: &[&Metric] = &[
    &COLLECTION_SECONDS,
    &STAGE_SECONDS,
    &VALIDATION_SECONDS,
    &INGEST_SECONDS,
    &REGISTRATION_SECONDS,
    &PUBLISH_SECONDS,
    &STAGE_CALLS,
    &STAGE_RECEIVED,
    &STAGE_SENT,
    &BATCHES,
    &BATCH_ROWS,
    &REGISTRATIONS,
    &RETIRED,
];

static COLLECTION_SECONDS: Metric = Metric::histogram(
    "perfmon_exporter_collection_duration_seconds",
    WAIT_S,
    &["outcome"],
    "Duration of a collection, over all targets, by outcome.",
);
static STAGE_SECONDS: Metric = Metric::histogram(
    "perfmon_exporter_stage_duration_seconds",
    WAIT_S,
    &["plugin", "stage"],
    "Time that a collection spent in a stage, as reported by its plugin, over all targets.",
);
static VALIDATION_SECONDS: Metric = Metric::histogram(
    "perfmon_exporter_validation_duration_seconds",
    WORK_S,
    &["plugin"],
    "Time to check all values of a collection before they are stored, estimated from its largest batches.",
);
static INGEST_SECONDS: Metric = Metric::histogram(
    "perfmon_exporter_ingest_duration_seconds",
    WORK_S,
    &["plugin"],
    "Time to store all values of a collection.",
);
static REGISTRATION_SECONDS: Metric = Metric::histogram(
    "perfmon_exporter_registration_duration_seconds",
    WORK_S,
    &["plugin"],
    "Time to register new families or series, per call.",
);
static PUBLISH_SECONDS: Metric = Metric::histogram(
    "perfmon_exporter_publish_duration_seconds",
    WORK_S,
    &["plugin"],
    "Time from the last value of a collection until its snapshot is published, including the statistics of \
     the collection.",
);
static STAGE_CALLS: Metric =
    Metric::counter("perfmon_exporter_stage_calls", &["plugin", "stage"], "Calls to targets in a stage.");
static STAGE_RECEIVED: Metric = Metric::counter(
    "perfmon_exporter_stage_received_bytes",
    &["plugin", "stage"],
    "Bytes received from targets in a stage.",
);
static STAGE_SENT: Metric = Metric::counter(
    "perfmon_exporter_stage_sent_bytes",
    &["plugin", "stage"],
    "Bytes sent to targets in a stage.",
);
static BATCHES: Metric =
    Metric::counter("perfmon_exporter_ingest_batches", &["plugin"], "Batches of values from a plugin.");
static BATCH_ROWS: Metric = Metric::counter(
    "perfmon_exporter_ingest_rows",
    &["plugin", "outcome"],
    "Values from a plugin by outcome.",
);
static REGISTRATIONS: Metric = Metric::counter(
    "perfmon_exporter_registrations",
    &["plugin", "of", "verdict"],
    "Families and series that a plugin registered, by verdict.",
);
static RETIRED: Metric =
    Metric::counter("perfmon_exporter_retired_series", &["plugin"], "Series that a plugin retired.");
