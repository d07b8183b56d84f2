use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;

use super::reply::Trouble;
use super::signal::Signal;
use crate::telemetry::{Metric, Timing, Timings, WAIT_S, WORK_S, Writer};

/// Why points, log records or spans were not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The collector took the others.
    PartialSuccess,
    /// The collector took none of the request.
    Refused(Trouble),
    /// No smaller request is possible.
    TooLarge,
    /// Later ones needed the room while the collector was away.
    QueueFull,
    /// The process ended.
    Ended,
}

impl Loss {
    /// The word for a label.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::PartialSuccess => "partial_success",
            Self::Refused(trouble) => trouble.word(),
            Self::TooLarge => "too_large",
            Self::QueueFull => "queue_full",
            Self::Ended => "ended",
        }
    }
}

/// What became of an endpoint's data.
#[derive(Debug)]
pub struct Counts {
    name: String,
    signals: [SignalCounts; Signal::ALL.len()],
    /// Of the queue, as it is now.
    pub(super) queue_rounds: AtomicU64,
    pub(super) up: AtomicU64,
}

/// What became of the points, the log records or the spans.
#[derive(Debug)]
pub struct SignalCounts {
    signal: Signal,
    /// Whether the endpoint wants any.
    is_on: bool,
    accepted: AtomicU64,
    lost: Words,
    failures: Words,
    requests: AtomicU64,
    bytes: AtomicU64,
    /// Of the queue, as it is now.
    pub(super) queued: AtomicU64,
    request: Timing,
    pub(super) encoding: Timing,
    pub(super) compression: Timing,
    pub(super) waiting: Timing,
}

/// Counts by word. Few words are ever used by one endpoint.
#[derive(Debug, Default)]
struct Words(Mutex<BTreeMap<&'static str, u64>>);

impl Words {
    fn add(&self, word: &'static str, count: u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(word).or_default() += count;
    }

    fn rows(&self) -> Vec<(&'static str, u64)> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|(&word, &count)| (word, count)).collect()
    }
}

impl Counts {
    /// Nothing happened yet. The endpoint wants these signals.
    #[must_use]
    pub fn new(name: &str, signals: &[Signal], timings: &Timings) -> Arc<Self> {
        let of_none = Timings::default();
        Arc::new(Self {
            name: name.to_owned(),
            signals: Signal::ALL.map(|signal| {
                let is_on = signals.contains(&signal);
                // What is never sent takes no time that anybody wants to see.
                let timings = if is_on { timings } else { &of_none };
                let labels = [name, signal.word()];
                SignalCounts {
                    signal,
                    is_on,
                    accepted: AtomicU64::new(0),
                    lost: Words::default(),
                    failures: Words::default(),
                    requests: AtomicU64::new(0),
                    bytes: AtomicU64::new(0),
                    queued: AtomicU64::new(0),
                    request: timings.get(&REQUEST, &labels),
                    encoding: timings.get(&ENCODING, &labels),
                    compression: timings.get(&COMPRESSION, &labels),
                    waiting: timings.get(&WAITING, &labels),
                }
            }),
            queue_rounds: AtomicU64::new(0),
            up: AtomicU64::new(0),
        })
    }

    /// The endpoint's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Those of a signal.
    #[must_use]
    pub fn of(&self, signal: Signal) -> &SignalCounts {
        let [metrics, logs, traces] = &self.signals;
        match signal {
            Signal::Metrics => metrics,
            Signal::Logs => logs,
            Signal::Traces => traces,
        }
    }

    /// Points that the collector took.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.of(Signal::Metrics).accepted()
    }

    /// Points that were lost, by reason.
    #[must_use]
    pub fn lost(&self) -> Vec<(&'static str, u64)> {
        self.of(Signal::Metrics).lost()
    }

    /// Attempts to send points that failed and are made again, by reason.
    #[must_use]
    pub fn failures(&self) -> Vec<(&'static str, u64)> {
        self.of(Signal::Metrics).failures()
    }

    fn signals_on(&self) -> impl Iterator<Item = &SignalCounts> {
        self.signals.iter().filter(|signal| signal.is_on)
    }
}

impl SignalCounts {
    pub(super) fn accept(&self, items: u64) {
        self.accepted.fetch_add(items, Ordering::Relaxed);
    }

    pub(super) fn lose(&self, items: u64, loss: Loss) {
        if items > 0 {
            self.lost.add(loss.word(), items);
        }
    }

    pub(super) fn fail(&self, trouble: Trouble) {
        self.failures.add(trouble.word(), 1);
    }

    pub(super) fn request(&self, bytes: usize, took: Duration) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        self.request.took(took);
    }

    /// How many the collector took.
    #[must_use]
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::Relaxed)
    }

    /// How many were lost, by reason.
    #[must_use]
    pub fn lost(&self) -> Vec<(&'static str, u64)> {
        self.lost.rows()
    }

    /// Attempts that failed and are made again, by reason.
    #[must_use]
    pub fn failures(&self) -> Vec<(&'static str, u64)> {
        self.failures.rows()
    }
}

/// The counts of the endpoints that there are now.
#[derive(Debug, Default)]
pub struct AllCounts(Mutex<Vec<Arc<Counts>>>);

impl AllCounts {
    /// Those of now.
    #[must_use]
    pub fn get(&self) -> Vec<Arc<Counts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// These from now on.
    pub fn set(&self, counts: Vec<Arc<Counts>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }
}

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
                counts.lost().into_iter().map(move |(reason, count)| ([name, reason], count))
            });
            out.rows(lost, rows.collect::<Vec<_>>())?;
        }
        let signals =
            || all.iter().flat_map(|counts| counts.signals_on().map(|signal| (counts.name(), signal)));
        let each = |read: fn(&SignalCounts) -> &AtomicU64| {
            signals().map(move |(name, counts)| {
                ([name, counts.signal.word()], read(counts).load(Ordering::Relaxed))
            })
        };
        out.rows(&REQUESTS, each(|counts| &counts.requests).collect::<Vec<_>>())?;
        out.rows(&SENT_BYTES, each(|counts| &counts.bytes).collect::<Vec<_>>())?;
        let failures = signals().flat_map(|(name, counts)| {
            let failures = counts.failures().into_iter();
            failures.map(move |(reason, count)| ([name, counts.signal.word(), reason], count))
        });
        out.rows(&FAILURES, failures.collect::<Vec<_>>())
    }
}

/// What this file shows.
pub(crate) const METRICS: &[&Metric] = &[
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
    Metric::gauge("perfmon_exporter_otlp_up", ENDPOINT, "Whether the collector took the last request.");
static QUEUE_ROUNDS: Metric = Metric::gauge(
    "perfmon_exporter_otlp_queue_rounds",
    ENDPOINT,
    "Rounds of points that wait for the collector.",
);
static QUEUE_POINTS: Metric =
    Metric::gauge("perfmon_exporter_otlp_queue_points", ENDPOINT, "Points that wait for the collector.");
static POINTS_ACCEPTED: Metric =
    Metric::counter("perfmon_exporter_otlp_points_accepted", ENDPOINT, "Points that the collector took.");
static POINTS_LOST: Metric = Metric::counter(
    "perfmon_exporter_otlp_points_lost",
    ENDPOINT_REASON,
    "Points that the collector did not get or did not take.",
);
static QUEUE_RECORDS: Metric = Metric::gauge(
    "perfmon_exporter_otlp_queue_log_records",
    ENDPOINT,
    "Log records of events that wait for the collector.",
);
static RECORDS_ACCEPTED: Metric = Metric::counter(
    "perfmon_exporter_otlp_log_records_accepted",
    ENDPOINT,
    "Log records of events that the collector took.",
);
static RECORDS_LOST: Metric = Metric::counter(
    "perfmon_exporter_otlp_log_records_lost",
    ENDPOINT_REASON,
    "Log records of events that the collector did not get or did not take.",
);
static QUEUE_SPANS: Metric = Metric::gauge(
    "perfmon_exporter_otlp_queue_spans",
    ENDPOINT,
    "Spans of collections that wait for the collector.",
);
static SPANS_ACCEPTED: Metric = Metric::counter(
    "perfmon_exporter_otlp_spans_accepted",
    ENDPOINT,
    "Spans of collections that the collector took.",
);
static SPANS_LOST: Metric = Metric::counter(
    "perfmon_exporter_otlp_spans_lost",
    ENDPOINT_REASON,
    "Spans of collections that the collector did not get or did not take.",
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
    "Attempts to send a request that failed and were made again.",
);
static REQUEST: Metric = Metric::histogram(
    "perfmon_exporter_otlp_request_seconds",
    WAIT_S,
    ENDPOINT_SIGNAL,
    "Time from a request to its answer.",
);
static ENCODING: Metric = Metric::histogram(
    "perfmon_exporter_otlp_encoding_seconds",
    WORK_S,
    ENDPOINT_SIGNAL,
    "Time that writing a request took.",
);
static COMPRESSION: Metric = Metric::histogram(
    "perfmon_exporter_otlp_compression_seconds",
    WORK_S,
    ENDPOINT_SIGNAL,
    "Time that compressing a request took.",
);
static WAITING: Metric = Metric::histogram(
    "perfmon_exporter_otlp_waiting_seconds",
    &[0.01, 0.1, 1.0, 10.0, 100.0, 1000.0],
    ENDPOINT_SIGNAL,
    "Time from when data was put into the queue until the collector had all of it or it was given up: rounds of \
     points, requests of other data.",
);

const ENDPOINT: &[&str] = &["endpoint"];
const ENDPOINT_REASON: &[&str] = &["endpoint", "reason"];
const ENDPOINT_SIGNAL: &[&str] = &["endpoint", "signal"];
