use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use support::http_client::Trouble;
use support::telemetry::{Metric, Timing, Timings, WAIT_S, WORK_S};
use support::words;

use super::Signal;

words! {
    /// Why points, log records or spans were not taken.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Loss {
        /// The collector took the others.
        PartialSuccess = "partial_success",
        /// No smaller request is possible.
        TooLarge = "too_large",
        /// Later ones needed the room while the collector was away.
        QueueFull = "queue_full",
        Ended = "ended",
        ;
        /// The collector took none of the request.
        Refused(Trouble),
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
    pub(super) signal: Signal,
    /// Whether the endpoint wants any.
    pub(super) is_on: bool,
    accepted: AtomicU64,
    lost: Words,
    failures: Words,
    pub(super) requests: AtomicU64,
    pub(super) bytes: AtomicU64,
    /// Of the queue, as it is now.
    pub(super) queued: AtomicU64,
    request: Timing,
    pub(super) encoding: Timing,
    pub(super) compression: Timing,
    pub(super) waiting: Timing,
}

/// Counts by word, each of which begins at zero.
#[derive(Debug)]
struct Words(Mutex<BTreeMap<&'static str, u64>>);

impl Words {
    fn of(words: impl Iterator<Item = &'static str>) -> Self {
        Self(Mutex::new(words.map(|word| (word, 0)).collect()))
    }

    fn add(&self, word: &'static str, count: u64) {
        let mut counts = self.0.lock();
        *counts.entry(word).or_default() += count;
    }

    fn rows(&self) -> Vec<(&'static str, u64)> {
        let counts = self.0.lock();
        counts.iter().map(|(&word, &count)| (word, count)).collect()
    }

    /// Those that were counted.
    fn counted(&self) -> Vec<(&'static str, u64)> {
        self.rows().into_iter().filter(|&(_, count)| count > 0).collect()
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
                let labels = [name, signal.as_str()];
                SignalCounts {
                    signal,
                    is_on,
                    accepted: AtomicU64::new(0),
                    lost: Words::of(Loss::all().map(Loss::as_str)),
                    failures: Words::of(Trouble::all().map(Trouble::as_str)),
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

    /// Those of the signals that the endpoint wants.
    pub(super) fn signals_on(&self) -> impl Iterator<Item = &SignalCounts> {
        self.signals.iter().filter(|signal| signal.is_on)
    }
}

impl SignalCounts {
    pub(super) fn accept(&self, items: u64) {
        self.accepted.fetch_add(items, Ordering::Relaxed);
    }

    pub(super) fn lose(&self, items: u64, loss: Loss) {
        if items > 0 {
            self.lost.add(loss.as_str(), items);
        }
    }

    pub(super) fn fail(&self, trouble: Trouble) {
        self.failures.add(trouble.as_str(), 1);
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
        self.lost.counted()
    }

    /// The same with a zero for each reason that did not occur: a rate needs the zero before the first.
    pub(super) fn lost_by_reason(&self) -> Vec<(&'static str, u64)> {
        self.lost.rows()
    }

    /// Attempts that failed and are made again, by reason.
    #[must_use]
    pub fn failures(&self) -> Vec<(&'static str, u64)> {
        self.failures.counted()
    }

    /// The same with a zero for each reason that did not occur.
    pub(super) fn failures_by_reason(&self) -> Vec<(&'static str, u64)> {
        self.failures.rows()
    }
}

/// The counts of the endpoints that there are now.
#[derive(Debug, Default)]
pub struct AllCounts(Mutex<Vec<Arc<Counts>>>);

impl AllCounts {
    #[must_use]
    pub fn get(&self) -> Vec<Arc<Counts>> {
        self.0.lock().clone()
    }

    /// These from now on.
    pub fn set(&self, counts: Vec<Arc<Counts>>) {
        *self.0.lock() = counts;
    }
}

pub(super) static REQUEST: Metric = Metric::histogram(
    "perfmon_exporter_otlp_request_seconds",
    WAIT_S,
    ENDPOINT_SIGNAL,
    "Time from a request to its answer.",
);
pub(super) static ENCODING: Metric = Metric::histogram(
    "perfmon_exporter_otlp_encoding_seconds",
    WORK_S,
    ENDPOINT_SIGNAL,
    "Time to encode a request.",
);
pub(super) static COMPRESSION: Metric = Metric::histogram(
    "perfmon_exporter_otlp_compression_seconds",
    WORK_S,
    ENDPOINT_SIGNAL,
    "Time to compress a request.",
);
pub(super) static WAITING: Metric = Metric::histogram(
    "perfmon_exporter_otlp_waiting_seconds",
    &[0.01, 0.1, 1.0, 10.0, 100.0, 1000.0],
    ENDPOINT_SIGNAL,
    "Time from queueing data until the collector has all of it or it is dropped: per round of points, per \
     request of other data.",
);

pub(super) const ENDPOINT_SIGNAL: &[&str] = &["endpoint", "signal"];
