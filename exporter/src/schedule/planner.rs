use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::{Duration, Instant};

/// Jobs begin at least so far apart when the process starts, as far as the shortest interval allows.
const START_STEP: Duration = Duration::from_millis(20);
/// A target that keeps failing is tried at least so often.
const BACKOFF_MAX: Duration = Duration::from_secs(300);

/// One of the planner's jobs; the index of its [`JobSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub usize);

/// What is done again and again: the collections of one plugin on one target.
#[derive(Clone, Debug)]
pub struct JobSpec {
    /// The target, counted from zero without gaps. Its jobs never run at the same time.
    pub target: usize,
    /// What the job's place in its interval is drawn from: the same key, the same place in every run.
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
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The target answered.
    Good,
    /// The target answered, but this job failed.
    Bad,
    /// The target was not reached: its other jobs would fail too.
    Unreachable {
        /// The next try comes after so long; by the back-off's rule where nothing is said.
        retry_after: Option<Duration>,
    },
}

/// When each job runs. A pure state machine: call [`Planner::poll`] until it has nothing, then again at
/// [`Planner::next_wake`] or after [`Planner::finished`].
///
/// - A job begins every `interval`, at a place within it that follows from its key, so that targets are spread and
///   every run of the program spreads them alike. The first round begins at once, `START_STEP` apart.
/// - A job that is late begins when it can; places that were passed over are skipped and counted, never made up for.
/// - One job at a time per target. A target that was not reached is tried again after 1, 2, 4 … intervals, at most
///   `BACKOFF_MAX` apart, and holds at most half of the places for connecting, so that dead targets do not keep
///   living ones waiting.
/// - All waiting costs one entry of a heap: nothing happens until the first of them is due.
#[derive(Debug)]
pub struct Planner {
    jobs: Vec<Job>,
    targets: Vec<Target>,
    limits: Limits,
    seed: u64,
    due: BinaryHeap<Reverse<(Instant, JobId)>>,
    warm: VecDeque<JobId>,
    fresh: VecDeque<JobId>,
    failing: VecDeque<JobId>,
    running: Running,
    skipped: u64,
    is_stopped: bool,
}

#[derive(Debug)]
struct Job {
    target: usize,
    interval: Duration,
    /// A moment at which the job has a place; all others are whole intervals away.
    origin: Instant,
    /// When it was to begin, or is to begin next.
    due: Instant,
    failures: u32,
    lane: Option<Lane>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Warm,
    Fresh,
    Failing,
}

impl Planner {
    /// Plans `specs` from `now` on.
    #[must_use]
    pub fn new(specs: &[JobSpec], limits: Limits, seed: u64, now: Instant) -> Self {
        let targets = specs.iter().map(|spec| spec.target + 1).max().unwrap_or(0);
        let first_round = START_STEP * u32::try_from(specs.len()).unwrap_or(u32::MAX);
        let mut due = BinaryHeap::with_capacity(specs.len());
        let jobs = specs.iter().enumerate().map(|(index, spec)| {
            let hash = hash(seed, spec.key.as_bytes());
            let first = now + part(hash, first_round.min(spec.interval));
            due.push(Reverse((first, JobId(index))));
            // Half an interval at least between the first round and the second.
            let origin = now + part(hash.rotate_left(32), spec.interval);
            let is_near = origin < first + spec.interval / 2;
            let origin = if is_near { origin + spec.interval } else { origin };
            Job { target: spec.target, interval: spec.interval, origin, due: first, failures: 0, lane: None }
        });
        Self {
            jobs: jobs.collect(),
            targets: std::iter::repeat_with(Target::default).take(targets).collect(),
            limits,
            seed,
            due,
            warm: VecDeque::new(),
            fresh: VecDeque::new(),
            failing: VecDeque::new(),
            running: Running::default(),
            skipped: 0,
            is_stopped: false,
        }
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
        self.take()
    }

    /// When [`Planner::poll`] has something again if nothing finishes before.
    #[must_use]
    pub fn next_wake(&self) -> Option<Instant> {
        self.due.peek().filter(|_| !self.is_stopped).map(|Reverse((at, _))| *at)
    }

    /// The job ended. Answers when it comes next.
    pub fn finished(&mut self, id: JobId, ending: Ending, now: Instant) -> Instant {
        let index = self.jobs[id.0].target;
        if let Some(lane) = self.jobs[id.0].lane.take() {
            self.running.all -= 1;
            self.running.connecting -= usize::from(lane != Lane::Warm);
            self.running.failing -= usize::from(lane == Lane::Failing);
        }
        let target = &mut self.targets[index];
        target.is_busy = false;
        let job = &mut self.jobs[id.0];
        match ending {
            Ending::Good | Ending::Bad => {
                (target.is_connected, target.failures, target.not_before) = (true, 0, None);
                job.failures = if ending == Ending::Good { 0 } else { job.failures.saturating_add(1) };
            }
            Ending::Unreachable { retry_after } => {
                target.is_connected = false;
                target.failures = target.failures.saturating_add(1);
                let delay = retry_after.map(|after| after.max(job.interval));
                let delay = delay.or_else(|| backoff(self.seed, id, job.interval, target.failures));
                target.not_before = delay.map(|delay| now + delay);
            }
        }
        self.skipped += job.places_passed(now);
        let next = job.next_place(now);
        let own = backoff(self.seed, id, job.interval, job.failures).map(|delay| now + delay);
        let next = [own, target.not_before].into_iter().flatten().fold(next, Instant::max);
        job.due = next;
        self.due.push(Reverse((next, id)));
        let waiting = std::mem::take(&mut self.targets[index].waiting);
        waiting.into_iter().for_each(|job| self.make_ready(job, now));
        next
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

    /// Places that were passed over because the job was not ready for them.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    fn make_ready(&mut self, id: JobId, now: Instant) {
        let target = &mut self.targets[self.jobs[id.0].target];
        if target.is_busy {
            target.waiting.push_back(id);
        } else if let Some(not_before) = target.not_before.filter(|not_before| *not_before > now) {
            self.due.push(Reverse((not_before, id)));
        } else {
            target.is_busy = true;
            let (lane, queue) = match (target.is_connected, target.failures) {
                (true, _) => (Lane::Warm, &mut self.warm),
                (false, 0) => (Lane::Fresh, &mut self.fresh),
                (false, _) => (Lane::Failing, &mut self.failing),
            };
            self.jobs[id.0].lane = Some(lane);
            queue.push_back(id);
        }
    }

    fn take(&mut self) -> Option<JobId> {
        let Running { all, connecting, failing } = self.running;
        if all >= self.limits.running_max {
            return None;
        }
        let may_connect = connecting < self.limits.connecting_max;
        let may_retry = may_connect && failing < self.limits.connecting_max.div_ceil(2);
        let taken = self.warm.pop_front();
        let taken = taken.or_else(|| self.fresh.pop_front_if(|_| may_connect));
        let id = taken.or_else(|| self.failing.pop_front_if(|_| may_retry))?;
        let lane = self.jobs[id.0].lane;
        self.running.all += 1;
        self.running.connecting += usize::from(lane != Some(Lane::Warm));
        self.running.failing += usize::from(lane == Some(Lane::Failing));
        Some(id)
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
fn backoff(seed: u64, id: JobId, interval: Duration, failures: u32) -> Option<Duration> {
    if failures < 2 {
        return None;
    }
    let doubled = interval.saturating_mul(1 << (failures - 1).min(16));
    let capped = doubled.min(BACKOFF_MAX).max(interval);
    // Up to a tenth less, so that what failed together does not come back together.
    let draw = hash(seed ^ u64::from(failures), &id.0.to_le_bytes());
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
