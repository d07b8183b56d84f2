use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use support::telemetry::{Metric, Writer};

use super::Signal;
use super::counts::{
    AllCounts, COMPRESSION, Counts, ENCODING, ENDPOINT_SIGNAL, REQUEST, SignalCounts, WAITING,
};

/// `perfmon_exporter_otlp_…` of all endpoints; nothing where there are none.
#[derive(Debug)]
pub struct OtlpMetrics(pub Arc<AllCounts>);

impl Collector for OtlpMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let all = self.0.get();
        let mut out = Writer(&mut encoder);
        let each = |read: fn(&Counts) -> u64| all.iter().map(move |counts| ([counts.name()], read(counts)));
        out.rows(&UP, each(|counts| counts.up.load(Ordering::Relaxed)))?;
        out.rows(&QUEUE_ROUNDS, each(|counts| counts.queue_rounds.load(Ordering::Relaxed)))?;
        for (signal, [queued, accepted, lost]) in Signal::ALL.into_iter().zip(BY_SIGNAL) {
            let counts = || all.iter().map(|counts| (counts.name(), counts.of(signal)));
            let counts = || counts().filter(|(_, counts)| counts.is_on);
            out.rows(queued, counts().map(|(name, counts)| ([name], counts.queued.load(Ordering::Relaxed))))?;
            out.rows(accepted, counts().map(|(name, counts)| ([name], counts.accepted())))?;
            let rows = counts().flat_map(|(name, counts)| {
                counts.lost_by_reason().into_iter().map(move |(reason, count)| ([name, reason], count))
            });
            out.rows(lost, rows.collect::<Vec<_>>())?;
        }
        let signals =
            || all.iter().flat_map(|counts| counts.signals_on().map(|signal| (counts.name(), signal)));
        let each = |read: fn(&SignalCounts) -> &AtomicU64| {
            signals().map(move |(name, counts)| {
                ([name, counts.signal.as_str()], read(counts).load(Ordering::Relaxed))
            })
        };
        out.rows(&REQUESTS, each(|counts| &counts.requests).collect::<Vec<_>>())?;
        out.rows(&SENT_BYTES, each(|counts| &counts.bytes).collect::<Vec<_>>())?;
        let failures = signals().flat_map(|(name, counts)| {
            let failures = counts.failures_by_reason().into_iter();
            failures.map(move |(reason, count)| ([name, counts.signal.as_str(), reason], count))
        });
        out.rows(&FAILURES, failures.collect::<Vec<_>>())
    }
}

/// What this file shows.
/// What pages show of pushing.
pub const METRICS: &[&Metric] = &[
    &UP,
    &QUEUE_ROUNDS,
    &QUEUE_POINTS,
    &POINTS_ACCEPTED,
    &POINTS_LOST,
    &QUEUE_RECORDS,
    &RECORDS_ACCEPTED,
    &RECORDS_LOST,
    &QUEUE_SPANS,
    &SPANS_ACCEPTED,
    &SPANS_LOST,
    &REQUESTS,
    &SENT_BYTES,
    &FAILURES,
    &REQUEST,
    &ENCODING,
    &COMPRESSION,
    &WAITING,
];

/// In the order of the signals: what waits, was taken, was lost.
const BY_SIGNAL: [[&Metric; 3]; Signal::ALL.len()] = [
    [&QUEUE_POINTS, &POINTS_ACCEPTED, &POINTS_LOST],
    [&QUEUE_RECORDS, &RECORDS_ACCEPTED, &RECORDS_LOST],
    [&QUEUE_SPANS, &SPANS_ACCEPTED, &SPANS_LOST],
];

static UP: Metric =
    Metric::gauge("perfmon_exporter_otlp_up", ENDPOINT, "Whether the collector accepted the last request.");
static QUEUE_ROUNDS: Metric = Metric::gauge(
    "perfmon_exporter_otlp_queue_rounds",
    ENDPOINT,
    "Rounds of points that wait for the collector.",
);
static QUEUE_POINTS: Metric =
    Metric::gauge("perfmon_exporter_otlp_queue_points", ENDPOINT, "Points that wait for the collector.");
static POINTS_ACCEPTED: Metric =
    Metric::counter("perfmon_exporter_otlp_points_accepted", ENDPOINT, "Points that the collector accepted.");
static POINTS_LOST: Metric = Metric::counter(
    "perfmon_exporter_otlp_points_lost",
    ENDPOINT_REASON,
    "Points that were not delivered to the collector or not accepted by it.",
);
static QUEUE_RECORDS: Metric = Metric::gauge(
    "perfmon_exporter_otlp_queue_log_records",
    ENDPOINT,
    "Log records of events that wait for the collector.",
);
static RECORDS_ACCEPTED: Metric = Metric::counter(
    "perfmon_exporter_otlp_log_records_accepted",
    ENDPOINT,
    "Log records of events that the collector accepted.",
);
static RECORDS_LOST: Metric = Metric::counter(
    "perfmon_exporter_otlp_log_records_lost",
    ENDPOINT_REASON,
    "Log records of events that were not delivered to the collector or not accepted by it.",
);
static QUEUE_SPANS: Metric = Metric::gauge(
    "perfmon_exporter_otlp_queue_spans",
    ENDPOINT,
    "Spans of collections that wait for the collector.",
);
static SPANS_ACCEPTED: Metric = Metric::counter(
    "perfmon_exporter_otlp_spans_accepted",
    ENDPOINT,
    "Spans of collections that the collector accepted.",
);
static SPANS_LOST: Metric = Metric::counter(
    "perfmon_exporter_otlp_spans_lost",
    ENDPOINT_REASON,
    "Spans of collections that were not delivered to the collector or not accepted by it.",
);
static REQUESTS: Metric =
    Metric::counter("perfmon_exporter_otlp_requests", ENDPOINT_SIGNAL, "Requests that were answered.");
static SENT_BYTES: Metric = Metric::counter(
    "perfmon_exporter_otlp_sent_bytes",
    ENDPOINT_SIGNAL,
    "Bytes of requests that were answered, compressed.",
);
static FAILURES: Metric = Metric::counter(
    "perfmon_exporter_otlp_failures",
    &["endpoint", "signal", "reason"],
    "Failed attempts to send a request that were retried.",
);

const ENDPOINT: &[&str] = &["endpoint"];
const ENDPOINT_REASON: &[&str] = &["endpoint", "reason"];
