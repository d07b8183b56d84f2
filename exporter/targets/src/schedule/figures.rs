use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use support::telemetry::{Metric, Timing, Timings, WAIT_S, WORK_S, Writer};

use super::planner::{Begun, Missed, Planner, ReadyQueue};

/// What the schedule is doing, readable while it runs.
#[derive(Debug)]
pub struct Figures {
    missed_busy: AtomicU64,
    missed_connecting: AtomicU64,
    running: AtomicUsize,
    connecting: AtomicUsize,
    waiting: AtomicUsize,
    orders: AtomicUsize,
    lateness: [Timing; QUEUES.len()],
    step: Timing,
}

impl Figures {
    /// Nothing is done yet.
    #[must_use]
    pub(super) fn new(timings: &Timings) -> Self {
        Self {
            missed_busy: AtomicU64::new(0),
            missed_connecting: AtomicU64::new(0),
            running: AtomicUsize::new(0),
            connecting: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            orders: AtomicUsize::new(0),
            lateness: QUEUES.map(|(_, word)| timings.get(&LATENESS, &[word])),
            step: timings.get(&STEP, &[]),
        }
    }

    /// Slots that went by.
    #[must_use]
    pub fn missed(&self) -> Missed {
        Missed {
            busy: self.missed_busy.load(Ordering::Relaxed),
            connecting: self.missed_connecting.load(Ordering::Relaxed),
        }
    }

    #[must_use]
    pub fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Those of them whose target has no connection yet.
    #[must_use]
    pub fn connecting(&self) -> usize {
        self.connecting.load(Ordering::Relaxed)
    }

    /// Targets that wait for their turn to be connected.
    #[must_use]
    pub fn waiting_to_connect(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Pending orders of the driver at its last step.
    #[must_use]
    pub fn orders(&self) -> usize {
        self.orders.load(Ordering::Relaxed)
    }

    /// What the exporter says of itself.
    pub fn write(&self, out: &mut Writer<'_, '_>) -> fmt::Result {
        let missed = self.missed();
        out.rows(&MISSED, [(["busy"], missed.busy), (["connecting"], missed.connecting)])?;
        out.row(&WAITING, self.waiting_to_connect() as u64)?;
        out.row(&BEGINNING, self.connecting() as u64)?;
        out.row(&RUNNING, self.running() as u64)?;
        out.row(&ORDERS, self.orders() as u64)
    }

    pub(super) fn began(&self, begun: Begun) {
        let queue = QUEUES.iter().position(|(queue, _)| *queue == begun.queue).unwrap_or_default();
        self.lateness[queue].took(begun.late);
    }

    /// The driver has processed all due jobs and all orders once.
    pub(super) fn step(&self, took: Duration, orders: usize) {
        self.step.took(took);
        self.orders.store(orders, Ordering::Relaxed);
    }

    pub(super) fn read(&self, planner: &Planner) {
        let missed = planner.missed();
        self.missed_busy.store(missed.busy, Ordering::Relaxed);
        self.missed_connecting.store(missed.connecting, Ordering::Relaxed);
        self.running.store(planner.running(), Ordering::Relaxed);
        self.connecting.store(planner.connecting(), Ordering::Relaxed);
        self.waiting.store(planner.waiting_to_connect(), Ordering::Relaxed);
    }
}

const QUEUES: [(ReadyQueue, &str); 4] = [
    (ReadyQueue::Connected, "connected"),
    (ReadyQueue::Returning, "reconnecting"),
    (ReadyQueue::New, "connecting"),
    (ReadyQueue::Failing, "failing"),
];

/// What this file shows.
pub const METRICS: &[&Metric] = &[&LATENESS, &STEP, &MISSED, &WAITING, &BEGINNING, &RUNNING, &ORDERS];

static LATENESS: Metric = Metric::histogram(
    "perfmon_exporter_schedule_lateness_seconds",
    WAIT_S,
    &["lane"],
    "Time from a collection's slot in the schedule to its start, including the wait for another module of \
     its target, for `max_concurrent`, or for its turn to connect.",
);
static STEP: Metric = Metric::histogram(
    "perfmon_exporter_schedule_step_seconds",
    WORK_S,
    &[],
    "Time that the scheduler took to start all due collections, per wake-up.",
);
static MISSED: Metric = Metric::counter(
    "perfmon_exporter_intervals_missed",
    &["cause"],
    "Slots in the schedule that were missed because a connected target or the process was busy, or because \
     the target waited for its connection.",
);
static WAITING: Metric = Metric::gauge(
    "perfmon_exporter_connections_waiting",
    &[],
    "Targets that wait to be connected, limited by `connect_rate` and `max_connecting`.",
);
static BEGINNING: Metric = Metric::gauge(
    "perfmon_exporter_connections_beginning",
    &[],
    "Running collections of targets without a connection yet.",
);
static RUNNING: Metric = Metric::gauge("perfmon_exporter_collections_running", &[], "Running collections.");
static ORDERS: Metric = Metric::gauge(
    "perfmon_exporter_schedule_orders",
    &[],
    "Messages to the scheduler that are not processed yet: ends of collections, added and removed targets.",
);
