//! When each job runs: [`Planner`] is the machine, [`IntervalSlots`] says when a job's turn comes by itself, [`ReadyQueues`] who
//! of those that are due may begin.

mod interval_slots;
mod ready_queues;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use self::interval_slots::IntervalSlots;
use self::ready_queues::ReadyQueues;

pub use self::ready_queues::{Ending, JobId, JobSpec, Limits, ReadyQueue, TargetId};

/// Jobs begin at least so far apart when the process starts, as far as the shortest interval allows.
const START_STEP: Duration = Duration::from_millis(20);

/// After more failures in a row a target is not one that answered a moment ago.
const RETURNING_FAILURES_MAX: u32 = 2;

/// When each job runs. A pure state machine: call [`Planner::poll`] until it has nothing, then again at
/// [`Planner::next_wake`], or after [`Planner::finished`], [`Planner::add`] and [`Planner::remove`].
///
/// - A job begins every `interval`, at a slot within it that follows from its key, so that targets are spread and
///   every run of the program spreads them alike. The first round begins at once, `START_STEP` apart.
/// - A job that is late begins when it can; slots that were passed over are skipped and counted, never made up for.
/// - One job at a time per target. A target that was not reached is tried again after 1, 2, 4 … intervals, at most
///   `BACKOFF_MAX` apart, and such targets hold at most half of the slots for connecting. A target that answered until
///   lately goes before all others that are to be connected, and these leave it a quarter of the slots, so that dead targets
///   do not keep living ones waiting.
/// - Targets without a connection begin one after the other, `connect_rate` in a second; connected ones never wait
///   for them.
/// - Each waiting job is one entry of a heap, and nothing runs until the first one is due.
#[derive(Debug)]
pub struct Planner {
    jobs: HashMap<JobId, Job>,
    targets: HashMap<TargetId, Target>,
    seed: u64,
    /// What the slots in intervals are counted from.
    epoch: Instant,
    /// Entries of jobs that were removed may be among them.
    due: BinaryHeap<Reverse<(Instant, JobId)>>,
    queues: ReadyQueues,
    missed: Missed,
    is_stopped: bool,
}

/// Slots in the schedule that went by, by why the job was not ready for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// A connected target, or the process, was still busy.
    pub busy: u64,
    /// The target waited for a permit to connect, or took too long to connect.
    pub connecting: u64,
}

#[derive(Debug)]
struct Job {
    target: TargetId,
    slots: IntervalSlots,
    /// When it was to begin, or is to begin next.
    due: Instant,
    failures: u32,
    phase: Phase,
}

/// What a job does.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// It is not due, or another one of its target goes before it.
    Idle,
    Waiting(ReadyQueue),
    Running(ReadyQueue),
}

#[derive(Debug, Default)]
struct Target {
    is_busy: bool,
    is_connected: bool,
    /// Whether it ever answered.
    has_answered: bool,
    failures: u32,
    not_before: Option<Instant>,
    waiting: VecDeque<JobId>,
}

/// How a job began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    pub queue: ReadyQueue,
    /// How long after its slot in the schedule.
    pub late: Duration,
}

impl Planner {
    /// A planner without jobs. `now` is the moment that slots are counted from.
    #[must_use]
    pub fn new(limits: Limits, seed: u64, now: Instant) -> Self {
        Self {
            jobs: HashMap::new(),
            targets: HashMap::new(),
            seed,
            epoch: now,
            due: BinaryHeap::new(),
            queues: ReadyQueues::new(limits, now),
            missed: Missed::default(),
            is_stopped: false,
        }
    }

    /// These limits hold from now on. What runs goes on, even where it is more than they allow.
    pub fn set_limits(&mut self, limits: Limits) {
        self.queues.set_limits(limits);
    }

    /// Plans more jobs from `now` on. All jobs of a target come in one call.
    pub fn add(&mut self, specs: &[JobSpec], now: Instant) {
        let first_round = START_STEP * u32::try_from(specs.len()).unwrap_or(u32::MAX);
        for spec in specs {
            let mut slots = IntervalSlots::new(self.seed, &spec.key, spec.interval, self.epoch);
            let first = slots.first(first_round, now);
            // Half an interval at least between the first round and the second.
            slots.skip_to(first + spec.interval / 2);
            let job = Job { target: spec.target, slots, due: first, failures: 0, phase: Phase::Idle };
            self.jobs.insert(spec.job, job);
            self.targets.entry(spec.target).or_default();
            self.due.push(Reverse((first, spec.job)));
        }
    }

    /// Forgets all jobs of these targets, those that run included: nothing is owed for them any more.
    pub fn remove(&mut self, targets: &[TargetId]) {
        let gone: HashSet<TargetId> = targets.iter().copied().collect();
        let queues = &mut self.queues;
        self.jobs.retain(|_, job| {
            let stays = !gone.contains(&job.target);
            if let (false, Phase::Running(queue)) = (stays, job.phase) {
                queues.leave(queue);
            }
            stays
        });
        self.targets.retain(|target, _| !gone.contains(target));
        let jobs = &self.jobs;
        self.queues.retain(|job| jobs.contains_key(&job));
        self.due.retain(|Reverse((_, job))| jobs.contains_key(job));
    }

    /// The jobs of these targets that wait after failures begin at `now`, as if there had been none: why they failed may be
    /// over. The others keep their slots.
    pub fn retry(&mut self, targets: &[TargetId], now: Instant) {
        let mut failing = HashSet::new();
        for id in targets {
            let Some(target) = self.targets.get_mut(id) else { continue };
            let (failures, not_before) = (std::mem::take(&mut target.failures), target.not_before.take());
            if failures > 0 || not_before.is_some() {
                failing.insert(*id);
            }
        }
        let asked: HashSet<TargetId> = targets.iter().copied().collect();
        let (jobs, mut again) = (&mut self.jobs, Vec::new());
        self.due.retain(|Reverse((_, id))| {
            let Some(job) = jobs.get_mut(id).filter(|job| asked.contains(&job.target)) else { return true };
            let waits = std::mem::take(&mut job.failures) > 0 || failing.contains(&job.target);
            if waits {
                job.due = now;
                again.push(Reverse((now, *id)));
            }
            !waits
        });
        self.due.extend(again);
    }

    /// A job that begins now; the caller must call [`Planner::finished`] at its end.
    pub fn poll(&mut self, now: Instant) -> Option<JobId> {
        if self.is_stopped {
            return None;
        }
        while let Some(&Reverse((at, job))) = self.due.peek()
            && at <= now
        {
            self.due.pop();
            self.make_ready(job, now);
        }
        let id = self.queues.take(now)?;
        self.jobs.get_mut(&id)?.run();
        Some(id)
    }

    /// How a job that runs began, if it began at `now`.
    #[must_use]
    pub fn begun(&self, id: JobId, now: Instant) -> Option<Begun> {
        let job = self.jobs.get(&id)?;
        let (Phase::Waiting(queue) | Phase::Running(queue)) = job.phase else { return None };
        Some(Begun { queue, late: now.saturating_duration_since(job.due) })
    }

    /// When [`Planner::poll`] has something again if nothing finishes before. To be asked once it had nothing.
    #[must_use]
    pub fn next_wake(&self) -> Option<Instant> {
        if self.is_stopped {
            return None;
        }
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        [due, self.queues.connect_at()].into_iter().flatten().min()
    }

    /// Sets the minimum interval of the job, at most an hour; `None` for no minimum.
    pub fn set_min_interval(&mut self, id: JobId, min_interval: Option<Duration>) {
        if let Some(job) = self.jobs.get_mut(&id) {
            job.slots.set_min_interval(min_interval, self.epoch);
        }
    }

    /// The job has ended. Returns its next start; `None` if it was removed.
    pub fn finished(&mut self, id: JobId, ending: Ending, now: Instant) -> Option<Instant> {
        let job = self.jobs.get_mut(&id)?;
        let Phase::Running(queue) = job.phase else { return None };
        job.phase = Phase::Idle;
        self.queues.leave(queue);
        let target = self.targets.entry(job.target).or_default();
        target.is_busy = false;
        target.learn(ending, &job.slots, now);
        let missed =
            if queue == ReadyQueue::Connected { &mut self.missed.busy } else { &mut self.missed.connecting };
        *missed += job.slots.passed(job.due, now);
        let own = job.wait_after(ending).map(|delay| now + delay);
        let next = job.slots.next(now);
        let next = [own, target.not_before].into_iter().flatten().fold(next, Instant::max);
        job.due = next;
        self.due.push(Reverse((next, id)));
        let waiting = std::mem::take(&mut target.waiting);
        waiting.into_iter().for_each(|job| self.make_ready(job, now));
        Some(next)
    }

    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Jobs that run now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.queues.running()
    }

    /// Those of them whose target has no connection yet.
    #[must_use]
    pub fn connecting(&self) -> usize {
        self.queues.connecting()
    }

    /// Targets that wait for their turn to be connected.
    #[must_use]
    pub fn waiting_to_connect(&self) -> usize {
        self.queues.waiting_to_connect()
    }

    /// Slots that were passed over because the job was not ready for them.
    #[must_use]
    pub fn missed(&self) -> Missed {
        self.missed
    }

    fn make_ready(&mut self, id: JobId, now: Instant) {
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let target = self.targets.entry(job.target).or_default();
        if target.is_busy {
            target.waiting.push_back(id);
        } else if let Some(not_before) = target.not_before.filter(|not_before| *not_before > now) {
            job.due = not_before;
            self.due.push(Reverse((not_before, id)));
        } else {
            target.is_busy = true;
            let queue = target.queue();
            job.phase = Phase::Waiting(queue);
            self.queues.wait(id, queue);
        }
    }
}

impl Job {
    fn run(&mut self) {
        if let Phase::Waiting(queue) = self.phase {
            self.phase = Phase::Running(queue);
        }
    }

    /// How long the job pauses after this end; `None` if its own interval is enough.
    fn wait_after(&mut self, ending: Ending) -> Option<Duration> {
        let mut asked = None;
        match ending {
            Ending::Good => self.failures = 0,
            Ending::Bad { retry_after } => {
                self.failures = self.failures.saturating_add(1);
                asked = retry_after;
            }
            Ending::NotStarted { retry_after: None } => self.failures = self.failures.saturating_add(1),
            Ending::NotStarted { retry_after: Some(after) } => return Some(after),
            Ending::Unreachable { .. } => {}
        }
        self.slots.pause(self.failures, asked)
    }
}

impl Target {
    /// What the end of one of its jobs says of it.
    fn learn(&mut self, ending: Ending, slots: &IntervalSlots, now: Instant) {
        match ending {
            Ending::Good | Ending::Bad { .. } => {
                (self.is_connected, self.has_answered) = (true, true);
                (self.failures, self.not_before) = (0, None);
            }
            Ending::NotStarted { .. } => {}
            Ending::Unreachable { retry_after } => {
                self.is_connected = false;
                self.failures = self.failures.saturating_add(1);
                self.not_before = slots.pause(self.failures, retry_after).map(|pause| now + pause);
            }
        }
    }

    /// Where its jobs wait.
    fn queue(&self) -> ReadyQueue {
        match (self.is_connected, self.failures) {
            (true, _) => ReadyQueue::Connected,
            (false, 1..=RETURNING_FAILURES_MAX) if self.has_answered => ReadyQueue::Returning,
            (false, 0) => ReadyQueue::New,
            (false, _) => ReadyQueue::Failing,
        }
    }
}
