//! Starts what is due, with its deadline.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use support::telemetry::{Metric, Timing, Timings, WAIT_S, WORK_S, Writer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::planner::{Begun, Ending, JobId, JobSpec, Limits, Missed, Planner, ReadyQueue, TargetId};

/// Starts and cancels the collections of one job. Dropping it, when the job is removed, ends its collection.
pub trait Collector: Send + Sync {
    /// Starts a collection that may take `deadline`. Does not block; its end is reported to [`Schedule::ended`]
    /// exactly once, possibly before this returns.
    ///
    /// # Errors If it cannot begin; then no end is reported.
    fn start(&self, deadline: Duration) -> Result<(), NotStarted>;

    /// Asks for an early end.
    fn cancel(&self);

    /// How far apart it wants collections to begin, where it cares; asked after each of them.
    fn min_interval(&self) -> Option<Duration> {
        None
    }
}

/// A collection that could not begin; the collector has logged and counted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotStarted {
    /// The next try comes after so long; by the back-off's rule where nothing is said.
    pub retry_after: Option<Duration>,
}

/// Keeps the deadlines of what was started.
pub trait Deadlines: Send + Sync {
    /// Cancels collections after their deadline. Returns when to call it again, if a collection is in progress.
    fn keep(&self) -> Option<Duration>;
}

pub struct NewJob {
    pub spec: JobSpec,
    pub collector: Arc<dyn Collector>,
    /// How long it may take.
    pub deadline: Duration,
}

enum Order {
    Ended { job: JobId, ending: Ending },
    Add(Vec<NewJob>),
    Remove(Vec<TargetId>),
    Retry(Vec<TargetId>),
    Limits(Limits),
    Answer(oneshot::Sender<()>),
    Later { at: Instant, what: Task },
}

/// Something short that is done once.
type Task = Box<dyn FnOnce() + Send>;

/// Sends orders to the running driver, from any thread and without waiting. Clones send to the same driver.
#[derive(Clone)]
pub struct Schedule {
    orders: UnboundedSender<Order>,
    figures: Arc<Figures>,
}

impl Schedule {
    /// The job's collection has ended. At most one end per job is pending.
    pub fn ended(&self, job: JobId, ending: Ending) {
        self.send(Order::Ended { job, ending });
    }

    /// More jobs; all of a target in one call.
    pub fn add(&self, jobs: Vec<NewJob>) {
        self.send(Order::Add(jobs));
    }

    /// All jobs of these targets go, with their collectors.
    pub fn remove(&self, targets: Vec<TargetId>) {
        self.send(Order::Remove(targets));
    }

    /// The jobs of these targets that wait after failures begin now.
    pub fn retry(&self, targets: Vec<TargetId>) {
        self.send(Order::Retry(targets));
    }

    /// These limits hold from now on.
    pub fn set_limits(&self, limits: Limits) {
        self.send(Order::Limits(limits));
    }

    /// Completes when the driver has answered, which proves that it works; `false` if it has ended.
    pub async fn answers(&self) -> bool {
        let (answer, answered) = oneshot::channel();
        self.send(Order::Answer(answer));
        answered.await.is_ok()
    }

    /// Something short to be done after a time.
    pub fn later(&self, after: Duration, what: impl FnOnce() + Send + 'static) {
        self.send(Order::Later { at: Instant::now() + after, what: Box::new(what) });
    }

    /// What the driver is doing.
    #[must_use]
    pub fn figures(&self) -> &Arc<Figures> {
        &self.figures
    }

    fn send(&self, order: Order) {
        // The driver is gone only when the process ends.
        let _ = self.orders.send(order);
    }
}

/// What became of the collections in flight when the driver was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Collections that were cancelled and still did not end.
    pub left: usize,
}

struct Job {
    target: TargetId,
    collector: Arc<dyn Collector>,
    deadline: Duration,
    is_running: bool,
}

/// One task that runs every collection of the process.
pub struct Driver {
    planner: Planner,
    jobs: HashMap<JobId, Job>,
    later: BTreeMap<Instant, Vec<Task>>,
    deadlines: Arc<dyn Deadlines>,
    orders: UnboundedReceiver<Order>,
    figures: Arc<Figures>,
}

impl Driver {
    /// A driver without jobs, and its schedule.
    #[must_use]
    pub fn new(planner: Planner, deadlines: Arc<dyn Deadlines>) -> (Self, Schedule) {
        Self::timed(planner, deadlines, &Timings::default())
    }

    /// The same; how late collections begin goes into `timings`.
    #[must_use]
    pub fn timed(planner: Planner, deadlines: Arc<dyn Deadlines>, timings: &Timings) -> (Self, Schedule) {
        let (sender, orders) = unbounded_channel();
        let figures = Arc::new(Figures::new(timings));
        let schedule = Schedule { orders: sender, figures: Arc::clone(&figures) };
        (Self { planner, jobs: HashMap::new(), later: BTreeMap::new(), deadlines, orders, figures }, schedule)
    }

    /// Runs until `stop` completes. Then it waits for collections for the time that `stop` returns, cancels the
    /// rest, and waits a moment more.
    pub async fn run(mut self, stop: impl Future<Output = Duration>) -> Drained {
        tokio::pin!(stop);
        let grace = loop {
            let woke = Instant::now();
            self.do_later();
            self.start_due();
            self.figures.read(&self.planner);
            self.figures.step(woke.elapsed(), self.orders.len());
            let wake = self.next_wake();
            tokio::select! {
                grace = &mut stop => break grace,
                Some(order) = self.orders.recv() => self.follow(order),
                () = sleep_until(wake) => {}
            }
        };
        self.planner.stop();
        self.drain_until(Instant::now() + grace).await;
        for job in self.jobs.values().filter(|job| job.is_running) {
            job.collector.cancel();
        }
        self.drain_until(Instant::now() + AFTER_CANCEL).await;
        Drained { left: self.planner.running() }
    }

    fn do_later(&mut self) {
        while let Some(due) = self.later.first_entry().filter(|first| *first.key() <= Instant::now()) {
            // What panics here was reported by the panic; without the driver nothing is collected any more.
            due.remove().into_iter().for_each(|what| drop(catch_unwind(AssertUnwindSafe(what))));
        }
    }

    fn start_due(&mut self) {
        let now = Instant::now().into_std();
        while let Some(id) = self.planner.poll(now) {
            let Some(job) = self.jobs.get_mut(&id) else { continue };
            if let Some(begun) = self.planner.begun(id, now) {
                self.figures.began(begun);
            }
            let started = catch_unwind(AssertUnwindSafe(|| job.collector.start(job.deadline)));
            match started.unwrap_or(Err(NotStarted { retry_after: None })) {
                Ok(()) => job.is_running = true,
                Err(NotStarted { retry_after }) => {
                    self.planner.finished(id, Ending::NotStarted { retry_after }, now);
                }
            }
        }
    }

    /// This order, and those that came with it.
    fn follow(&mut self, order: Order) {
        let now = Instant::now().into_std();
        let mut next = Some(order);
        while let Some(order) = next {
            match order {
                Order::Ended { job: id, ending } => {
                    // One end per start, per the contract of `Collector`; ends of removed jobs are ignored.
                    if let Some(job) = self.jobs.get_mut(&id)
                        && std::mem::take(&mut job.is_running)
                    {
                        self.planner.set_min_interval(id, job.collector.min_interval());
                        self.planner.finished(id, ending, now);
                    }
                }
                Order::Add(jobs) => {
                    let specs: Vec<JobSpec> = jobs.iter().map(|job| job.spec.clone()).collect();
                    self.planner.add(&specs, now);
                    self.jobs.extend(jobs.into_iter().map(|NewJob { spec, collector, deadline }| {
                        (spec.job, Job { target: spec.target, collector, deadline, is_running: false })
                    }));
                }
                Order::Later { at, what } => self.later.entry(at).or_default().push(what),
                Order::Remove(targets) => {
                    self.planner.remove(&targets);
                    let gone: HashSet<TargetId> = targets.into_iter().collect();
                    self.jobs.retain(|_, job| !gone.contains(&job.target));
                }
                Order::Retry(targets) => self.planner.retry(&targets, now),
                Order::Limits(limits) => self.planner.set_limits(limits),
                // The receiver may be gone.
                Order::Answer(answer) => drop(answer.send(())),
            }
            next = self.orders.try_recv().ok();
        }
    }

    /// The earliest time of the planner, the deadlines and delayed orders.
    fn next_wake(&self) -> Option<Instant> {
        let planned = self.planner.next_wake().map(Instant::from_std);
        // Also while nothing runs: instances may be ending.
        let kept = self.deadlines.keep().map(|after| Instant::now() + after.max(DEADLINE_STEP));
        let later = self.later.keys().next().copied();
        [planned, kept, later].into_iter().flatten().min()
    }

    async fn drain_until(&mut self, end: Instant) {
        while self.planner.running() > 0 {
            let wake = self.next_wake().map_or(end, |wake| wake.min(end));
            tokio::select! {
                Some(order) = self.orders.recv() => self.follow(order),
                () = tokio::time::sleep_until(wake) => {
                    if Instant::now() >= end {
                        return;
                    }
                }
            }
        }
    }
}

/// Time for cancelled collections to end.
const AFTER_CANCEL: Duration = Duration::from_secs(1);
/// Deadlines are looked at no more often than this.
const DEADLINE_STEP: Duration = Duration::from_millis(5);

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}

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

/// What is shown of the schedule.
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
