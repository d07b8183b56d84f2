use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

/// Jobs begin at least so far apart when the process starts, as far as the shortest interval allows.
const START_STEP: Duration = Duration::from_millis(20);
/// A target that keeps failing is tried at least so often.
const BACKOFF_MAX: Duration = Duration::from_secs(300);
/// Connections that could have begun so long ago may be caught up with.
const CONNECT_SLACK: Duration = Duration::from_millis(100);

/// One of the planner's jobs. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

/// Whose job it is. Never used twice: a target that changed is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u64);

/// What is done again and again: the collections of one plugin on one target.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// The job.
    pub job: JobId,
    /// The target. Its jobs never run at the same time.
    pub target: TargetId,
    /// What the job's place in its interval is drawn from: the same key, the same place, in every run and however
    /// often the job is removed and added again.
    pub key: String,
    /// Between two beginnings.
    pub interval: Duration,
}

/// How many jobs may run at a time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Jobs in all.
    pub running_max: usize,
    /// Jobs of targets that have no connection, as far as we know. Those that failed before get half of it.
    pub connecting_max: usize,
    /// So many of them begin in a second, at even distances; at least one.
    pub connect_rate: u32,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The target answered.
    Good,
    /// The target answered, but this job failed.
    Bad,
    /// The job could not even begin, which says nothing of the target and of its other jobs.
    NotStarted {
        /// The next try comes after so long; by the back-off's rule where nothing is said.
        retry_after: Option<Duration>,
    },
    /// The target was not reached: its other jobs would fail too.
    Unreachable {
        /// The next try comes after so long; by the back-off's rule where nothing is said.
        retry_after: Option<Duration>,
    },
}

/// When each job runs. A pure state machine: call [`Planner::poll`] until it has nothing, then again at
/// [`Planner::next_wake`], or after [`Planner::finished`], [`Planner::add`] and [`Planner::remove`].
///
/// - A job begins every `interval`, at a place within it that follows from its key, so that targets are spread and
///   every run of the program spreads them alike. The first round begins at once, `START_STEP` apart.
/// - A job that is late begins when it can; places that were passed over are skipped and counted, never made up for.
/// - One job at a time per target. A target that was not reached is tried again after 1, 2, 4 … intervals, at most
///   `BACKOFF_MAX` apart, and holds at most half of the places for connecting, so that dead targets do not keep
///   living ones waiting.
/// - Targets without a connection begin one after the other, `connect_rate` in a second; connected ones never wait
///   for them.
/// - All waiting costs one entry of a heap: nothing happens until the first of them is due.
#[derive(Debug)]
pub struct Planner {
    jobs: HashMap<JobId, Job>,
    targets: HashMap<TargetId, Target>,
    limits: Limits,
    seed: u64,
    /// What the places in intervals are counted from.
    epoch: Instant,
    /// Entries of jobs that were removed may be among them.
    due: BinaryHeap<Reverse<(Instant, JobId)>>,
    warm: VecDeque<JobId>,
    fresh: VecDeque<JobId>,
    failing: VecDeque<JobId>,
    /// The next connection may begin at this moment.
    connect_at: Instant,
    running: Running,
    missed: Missed,
    is_stopped: bool,
}

/// Places in the schedule that went by, by why the job was not ready for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// A connected target, or the process, was still busy.
    pub busy: u64,
    /// The target waited for its turn to be connected, or took so long at it.
    pub connecting: u64,
}

#[derive(Debug)]
struct Job {
    target: TargetId,
    interval: Duration,
    /// Drawn from its key.
    draw: u64,
    /// A moment at which the job has a place; all others are whole intervals away.
    origin: Instant,
    /// When it was to begin, or is to begin next.
    due: Instant,
    failures: u32,
    lane: Option<Lane>,
    is_running: bool,
}

#[derive(Debug, Default)]
struct Target {
    is_busy: bool,
    is_connected: bool,
    failures: u32,
    not_before: Option<Instant>,
    waiting: VecDeque<JobId>,
}

#[derive(Debug, Default)]
struct Running {
    all: usize,
    connecting: usize,
    failing: usize,
}

/// Where a job waits once it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Its target is connected.
    Warm,
    /// Its target is to be connected.
    Fresh,
    /// Its target is to be connected, and that failed before.
    Failing,
}

/// How a job began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Where it waited.
    pub lane: Lane,
    /// How long after its place in the schedule.
    pub late: Duration,
}

impl Planner {
    /// A planner without jobs. `now` is the moment that places are counted from.
    #[must_use]
    pub fn new(limits: Limits, seed: u64, now: Instant) -> Self {
        Self {
            jobs: HashMap::new(),
            targets: HashMap::new(),
            limits,
            seed,
            epoch: now,
            due: BinaryHeap::new(),
            warm: VecDeque::new(),
            fresh: VecDeque::new(),
            failing: VecDeque::new(),
            connect_at: now,
            running: Running::default(),
            missed: Missed::default(),
            is_stopped: false,
        }
    }

    /// These limits hold from now on. What runs goes on, even where it is more than they allow.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Plans more jobs from `now` on. All jobs of a target come in one call.
    pub fn add(&mut self, specs: &[JobSpec], now: Instant) {
        let first_round = START_STEP * u32::try_from(specs.len()).unwrap_or(u32::MAX);
        for spec in specs {
            let draw = hash(self.seed, spec.key.as_bytes());
            let first = now + part(draw, first_round.min(spec.interval));
            let mut job = Job {
                target: spec.target,
                interval: spec.interval,
                draw,
                origin: self.epoch + part(draw.rotate_left(32), spec.interval),
                due: first,
                failures: 0,
                lane: None,
                is_running: false,
            };
            // Half an interval at least between the first round and the second.
            job.origin = job.next_place(first + spec.interval / 2);
            self.jobs.insert(spec.job, job);
            self.targets.entry(spec.target).or_default();
            self.due.push(Reverse((first, spec.job)));
        }
    }

    /// Forgets all jobs of these targets, those that run included: nothing is owed for them any more.
    pub fn remove(&mut self, targets: &[TargetId]) {
        let gone: HashSet<TargetId> = targets.iter().copied().collect();
        let running = &mut self.running;
        self.jobs.retain(|_, job| {
            let stays = !gone.contains(&job.target);
            if !stays && job.is_running {
                running.leave(job.lane);
            }
            stays
        });
        self.targets.retain(|target, _| !gone.contains(target));
        let jobs = &self.jobs;
        for queue in [&mut self.warm, &mut self.fresh, &mut self.failing] {
            queue.retain(|job| jobs.contains_key(job));
        }
        self.due.retain(|Reverse((_, job))| jobs.contains_key(job));
    }

    /// A job that begins now; whoever takes it owes a [`Planner::finished`].
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
        self.take(now)
    }

    /// How a job that runs began, if it began at `now`.
    #[must_use]
    pub fn begun(&self, id: JobId, now: Instant) -> Option<Begun> {
        let job = self.jobs.get(&id)?;
        Some(Begun { lane: job.lane?, late: now.saturating_duration_since(job.due) })
    }

    /// When [`Planner::poll`] has something again if nothing finishes before. To be asked once it had nothing.
    #[must_use]
    pub fn next_wake(&self) -> Option<Instant> {
        if self.is_stopped {
            return None;
        }
        let due = self.due.peek().map(|Reverse((at, _))| *at);
        let connect_at = self.may_connect().then_some(self.connect_at);
        [due, connect_at].into_iter().flatten().min()
    }

    /// The job ended. Answers when it comes next; nothing where it was removed.
    pub fn finished(&mut self, id: JobId, ending: Ending, now: Instant) -> Option<Instant> {
        let job = self.jobs.get_mut(&id)?;
        if !std::mem::take(&mut job.is_running) {
            return None;
        }
        let lane = job.lane.take();
        self.running.leave(lane);
        let target = self.targets.entry(job.target).or_default();
        target.is_busy = false;
        match ending {
            Ending::Good | Ending::Bad => {
                (target.is_connected, target.failures, target.not_before) = (true, 0, None);
                job.failures = if ending == Ending::Good { 0 } else { job.failures.saturating_add(1) };
            }
            Ending::NotStarted { retry_after: None } => job.failures = job.failures.saturating_add(1),
            Ending::NotStarted { .. } => {}
            Ending::Unreachable { retry_after } => {
                target.is_connected = false;
                target.failures = target.failures.saturating_add(1);
                let delay = retry_after.map(|after| after.max(job.interval));
                let delay = delay.or_else(|| backoff(job.draw, job.interval, target.failures));
                target.not_before = delay.map(|delay| now + delay);
            }
        }
        let missed =
            if lane == Some(Lane::Warm) { &mut self.missed.busy } else { &mut self.missed.connecting };
        *missed += job.places_passed(now);
        let next = job.next_place(now);
        let own = match ending {
            Ending::NotStarted { retry_after: Some(after) } => Some(after),
            _ => backoff(job.draw, job.interval, job.failures),
        };
        let own = own.map(|delay| now + delay);
        let next = [own, target.not_before].into_iter().flatten().fold(next, Instant::max);
        job.due = next;
        self.due.push(Reverse((next, id)));
        let waiting = std::mem::take(&mut target.waiting);
        waiting.into_iter().for_each(|job| self.make_ready(job, now));
        Some(next)
    }

    /// Begins nothing more.
    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Jobs that run now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running.all
    }

    /// Those of them whose target has no connection yet.
    #[must_use]
    pub fn connecting(&self) -> usize {
        self.running.connecting
    }

    /// Targets that wait for their turn to be connected.
    #[must_use]
    pub fn waiting_to_connect(&self) -> usize {
        self.fresh.len() + self.failing.len()
    }

    /// Places that were passed over because the job was not ready for them.
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
            let (lane, queue) = match (target.is_connected, target.failures) {
                (true, _) => (Lane::Warm, &mut self.warm),
                (false, 0) => (Lane::Fresh, &mut self.fresh),
                (false, _) => (Lane::Failing, &mut self.failing),
            };
            job.lane = Some(lane);
            queue.push_back(id);
        }
    }

    fn take(&mut self, now: Instant) -> Option<JobId> {
        if self.running.all >= self.limits.running_max {
            return None;
        }
        let id = match self.warm.pop_front() {
            Some(id) => id,
            None if self.may_connect() && self.connect_at <= now => {
                let step = Duration::from_secs(1) / self.limits.connect_rate.max(1);
                // A timer that comes late costs no connection, and an idle hour saves up none.
                let oldest = now.checked_sub(CONNECT_SLACK).unwrap_or(now);
                self.connect_at = self.connect_at.max(oldest) + step;
                self.fresh.pop_front().or_else(|| self.failing.pop_front())?
            }
            None => return None,
        };
        let job = self.jobs.get_mut(&id)?;
        job.is_running = true;
        self.running.enter(job.lane);
        Some(id)
    }

    /// Whether somebody waits for a connection and has the place for it, but for the rate.
    fn may_connect(&self) -> bool {
        let Running { all, connecting, failing } = self.running;
        let has_room = all < self.limits.running_max && connecting < self.limits.connecting_max;
        let may_retry = failing < self.limits.connecting_max.div_ceil(2);
        has_room && (!self.fresh.is_empty() || (may_retry && !self.failing.is_empty()))
    }
}

impl Running {
    fn enter(&mut self, lane: Option<Lane>) {
        self.all += 1;
        self.connecting += usize::from(lane != Some(Lane::Warm));
        self.failing += usize::from(lane == Some(Lane::Failing));
    }

    fn leave(&mut self, lane: Option<Lane>) {
        self.all -= 1;
        self.connecting -= usize::from(lane != Some(Lane::Warm));
        self.failing -= usize::from(lane == Some(Lane::Failing));
    }
}

impl Job {
    /// How many places went by since the job was due.
    fn places_passed(&self, now: Instant) -> u64 {
        let late = now.saturating_duration_since(self.due).as_nanos();
        u64::try_from(late / self.interval.as_nanos().max(1)).unwrap_or(u64::MAX)
    }

    /// The job's first place after `now`.
    fn next_place(&mut self, now: Instant) -> Instant {
        let Some(since) = now.checked_duration_since(self.origin) else { return self.origin };
        let passed = since.as_nanos() / self.interval.as_nanos().max(1);
        self.origin += self.interval.saturating_mul(u32::try_from(passed).unwrap_or(u32::MAX));
        self.origin + self.interval
    }
}

/// How long a job waits after so many failures in a row; nothing where its own interval is enough.
fn backoff(draw: u64, interval: Duration, failures: u32) -> Option<Duration> {
    if failures < 2 {
        return None;
    }
    let doubled = interval.saturating_mul(1 << (failures - 1).min(16));
    let capped = doubled.min(BACKOFF_MAX).max(interval);
    // Up to a tenth less, so that what failed together does not come back together.
    let draw = hash(draw, &failures.to_le_bytes());
    Some(capped - part(draw, capped / 10))
}

/// A share of `whole` that follows from `hash`.
fn part(hash: u64, whole: Duration) -> Duration {
    let nanos = u64::try_from(whole.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(hash.checked_rem(nanos).unwrap_or(0))
}

/// FNV-1a with a finishing mix; spreads keys that differ in one digit, and is the same on every machine.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed;
    let mixed =
        bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    let folded = (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    folded ^ (folded >> 29)
}
