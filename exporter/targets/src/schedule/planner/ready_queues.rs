//! How many collections run at a time, and in which order.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Connections that could have begun so long ago may be caught up with.
const CONNECT_SLACK: Duration = Duration::from_millis(100);

/// How many jobs may run at a time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub running_max: usize,
    /// Jobs of targets that have no connection, as far as we know. Those that did not answer lately get three quarters of it, and
    /// of these those that failed before half of all.
    pub connecting_max: usize,
    /// How many of them begin in a second, at even distances; at least one.
    pub connect_rate: u32,
}

/// Where a job waits once it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyQueue {
    /// Its target is connected.
    Connected,
    /// Its target is to be connected again: it answered a moment ago.
    Returning,
    /// Its target is to be connected.
    New,
    /// Its target is to be connected, and that failed before.
    Failing,
}

/// The jobs that are due, in the order in which they begin, and how many more may run at once.
///
/// INVARIANT: whatever [`ReadyQueues::take`] gave out is counted until it is given back by [`ReadyQueues::leave`].
#[derive(Debug)]
pub(super) struct ReadyQueues {
    limits: Limits,
    connected: VecDeque<JobId>,
    returning: VecDeque<JobId>,
    new: VecDeque<JobId>,
    failing: VecDeque<JobId>,
    /// The next connection may begin at this moment.
    connect_at: Instant,
    running: Running,
}

/// How many jobs run, and how many of these are in which queue.
#[derive(Debug, Default)]
struct Running {
    all: usize,
    connecting: usize,
    returning: usize,
    failing: usize,
}

impl ReadyQueues {
    pub(super) fn new(limits: Limits, now: Instant) -> Self {
        Self {
            limits,
            connected: VecDeque::new(),
            returning: VecDeque::new(),
            new: VecDeque::new(),
            failing: VecDeque::new(),
            connect_at: now,
            running: Running::default(),
        }
    }

    pub(super) fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Puts a job after the others of its queue.
    pub(super) fn wait(&mut self, job: JobId, queue: ReadyQueue) {
        match queue {
            ReadyQueue::Connected => self.connected.push_back(job),
            ReadyQueue::Returning => self.returning.push_back(job),
            ReadyQueue::New => self.new.push_back(job),
            ReadyQueue::Failing => self.failing.push_back(job),
        }
    }

    /// Only these still wait.
    pub(super) fn retain(&mut self, stays: impl Fn(JobId) -> bool) {
        for queue in [&mut self.connected, &mut self.returning, &mut self.new, &mut self.failing] {
            queue.retain(|&job| stays(job));
        }
    }

    /// The job that begins now, if one may.
    pub(super) fn take(&mut self, now: Instant) -> Option<JobId> {
        if self.running.all >= self.limits.running_max {
            return None;
        }
        let (job, queue) = match self.connected.pop_front() {
            Some(job) => (job, ReadyQueue::Connected),
            None if self.may_connect() && self.connect_at <= now => self.connect(now)?,
            None => return None,
        };
        self.running.enter(queue);
        Some(job)
    }

    fn connect(&mut self, now: Instant) -> Option<(JobId, ReadyQueue)> {
        let step = Duration::from_secs(1) / self.limits.connect_rate.max(1);
        // A timer that comes late costs no connection, and an idle hour saves up none.
        let oldest = now.checked_sub(CONNECT_SLACK).unwrap_or(now);
        self.connect_at = self.connect_at.max(oldest) + step;
        if let Some(job) = self.returning.pop_front() {
            return Some((job, ReadyQueue::Returning));
        }
        let new = self.new.pop_front().map(|job| (job, ReadyQueue::New));
        new.or_else(|| self.failing.pop_front().map(|job| (job, ReadyQueue::Failing)))
    }

    /// A job of this queue ended, or was removed while it ran.
    pub(super) fn leave(&mut self, queue: ReadyQueue) {
        self.running.leave(queue);
    }

    /// When the next connection may begin, if somebody waits for one.
    pub(super) fn connect_at(&self) -> Option<Instant> {
        self.may_connect().then_some(self.connect_at)
    }

    /// Whether somebody waits for a connection and has the slot for it, but for the rate.
    fn may_connect(&self) -> bool {
        let Running { all, connecting, returning, failing } = self.running;
        let max = self.limits.connecting_max;
        let has_room = all < self.limits.running_max && connecting < max;
        // Those that hang hold theirs for as long as a collection may take, and leave some to those that answer.
        let may_begin = connecting - returning < (max * 3).div_ceil(4);
        let may_retry = failing < max.div_ceil(2);
        let is_other = !self.new.is_empty() || (may_retry && !self.failing.is_empty());
        has_room && (!self.returning.is_empty() || (may_begin && is_other))
    }

    /// Jobs that run now.
    pub(super) fn running(&self) -> usize {
        self.running.all
    }

    /// Those of them whose target has no connection yet.
    pub(super) fn connecting(&self) -> usize {
        self.running.connecting
    }

    /// Targets that wait for their turn to be connected.
    pub(super) fn waiting_to_connect(&self) -> usize {
        self.returning.len() + self.new.len() + self.failing.len()
    }
}

impl Running {
    fn enter(&mut self, queue: ReadyQueue) {
        self.all += 1;
        self.connecting += usize::from(queue != ReadyQueue::Connected);
        self.returning += usize::from(queue == ReadyQueue::Returning);
        self.failing += usize::from(queue == ReadyQueue::Failing);
    }

    fn leave(&mut self, queue: ReadyQueue) {
        self.all -= 1;
        self.connecting -= usize::from(queue != ReadyQueue::Connected);
        self.returning -= usize::from(queue == ReadyQueue::Returning);
        self.failing -= usize::from(queue == ReadyQueue::Failing);
    }
}

/// One of the planner's jobs. Never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

/// Whose job it is. Never used twice: a target that changed is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u64);

/// What is done again and again: the collections of one plugin on one target.
#[derive(Clone, Debug)]
pub struct JobSpec {
    pub job: JobId,
    /// The target. Its jobs never run at the same time.
    pub target: TargetId,
    /// What the job's slot in its interval is drawn from: the same key, the same slot, in every run and however
    /// often the job is removed and added again.
    pub key: String,
    pub interval: Duration,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Good,
    /// The target answered, but this job failed.
    Bad {
        /// The next try comes no earlier than after so long, within the planner's bounds.
        retry_after: Option<Duration>,
    },
    /// The job could not even begin, which says nothing of the target and of its other jobs.
    NotStarted {
        /// The next try comes after so long; by the back-off's rule where nothing is said.
        retry_after: Option<Duration>,
    },
    /// The target was not reached: its other jobs would fail too.
    Unreachable {
        /// The next try comes no earlier than after so long, within the planner's bounds.
        retry_after: Option<Duration>,
    },
}
