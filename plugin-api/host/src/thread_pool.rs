//! Threads that call plugins. A thread that does not return is abandoned and replaced, a few times.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

pub(crate) type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// When a call has taken too long.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Limit {
    /// This long after its start.
    Within {
        ns: u64,
    },
    At {
        ns: u64,
    },
}

/// A call into the plugin.
pub(crate) struct Job {
    pub(crate) limit: Limit,
    pub(crate) work: Box<dyn FnOnce() + Send>,
    /// Called once when the limit has passed and the call has not returned.
    pub(crate) overrun: Box<dyn FnOnce() + Send>,
}

/// Some threads with one queue of calls.
#[derive(Clone)]
pub(crate) struct ThreadPool(Arc<Shared>);

struct Shared {
    name: String,
    clock: Clock,
    threads_max: usize,
    lost_max: usize,
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<(u64, Job)>,
    running: HashMap<u64, Running>,
    threads: usize,
    idle: usize,
    lost: usize,
    next: u64,
}

struct Running {
    until_ns: u64,
    /// `None` after the thread was abandoned.
    overrun: Option<Box<dyn FnOnce() + Send>>,
}

impl ThreadPool {
    pub(crate) fn new(name: String, clock: Clock, threads_max: usize, lost_max: usize) -> Self {
        let state = Mutex::default();
        Self(Arc::new(Shared { name, clock, threads_max, lost_max, state, ready: Condvar::new() }))
    }

    /// Queues a call. Returns false if all threads hang and no more are allowed.
    pub(crate) fn submit(&self, job: Job) -> bool {
        let mut state = self.0.state.lock();
        if state.threads == 0 && state.lost >= self.0.lost_max {
            return false;
        }
        let id = state.next;
        state.next += 1;
        state.queue.push_back((id, job));
        self.staff(&mut state);
        self.0.ready.notify_one();
        true
    }

    /// Abandons threads whose call has passed its limit. Returns the earliest time of the next one.
    pub(crate) fn check(&self, now_ns: u64) -> Option<u64> {
        let mut overruns = Vec::new();
        let next = {
            let mut guard = self.0.state.lock();
            let state = &mut *guard;
            for running in state.running.values_mut().filter(|running| running.until_ns <= now_ns) {
                if let Some(overrun) = running.overrun.take() {
                    overruns.push(overrun);
                    state.threads -= 1;
                    state.lost += 1;
                }
            }
            self.staff(state);
            state
                .running
                .values()
                .filter(|running| running.overrun.is_some())
                .map(|running| running.until_ns)
                .min()
        };
        overruns.into_iter().for_each(|overrun| overrun());
        next
    }

    /// How many threads hang in a call.
    pub(crate) fn lost(&self) -> usize {
        self.0.state.lock().lost
    }

    /// Ensures that there is a thread for queued calls.
    fn staff(&self, state: &mut State) {
        while state.idle < state.queue.len()
            && state.threads < self.0.threads_max
            && state.lost < self.0.lost_max
        {
            let pool = self.clone();
            let spawned = std::thread::Builder::new().name(self.0.name.clone()).spawn(move || pool.work());
            if spawned.is_err() {
                return;
            }
            state.threads += 1;
            state.idle += 1;
        }
    }

    fn work(self) {
        loop {
            let (id, work) = self.take();
            // A panic here is a bug of the host; the inner boundary has reported it already.
            let _ = catch_unwind(AssertUnwindSafe(work));
            let mut state = self.0.state.lock();
            let given_up = state.running.remove(&id).is_some_and(|running| running.overrun.is_none());
            if given_up {
                state.lost -= 1;
                if state.threads >= self.0.threads_max {
                    return;
                }
                state.threads += 1;
            }
            state.idle += 1;
        }
    }

    /// Waits for a call and marks it as running. The thread counts as idle before.
    fn take(&self) -> (u64, Box<dyn FnOnce() + Send>) {
        let mut state = self.0.state.lock();
        loop {
            if let Some((id, Job { limit, work, overrun })) = state.queue.pop_front() {
                let until_ns = match limit {
                    Limit::Within { ns } => (self.0.clock)().saturating_add(ns),
                    Limit::At { ns } => ns,
                };
                state.idle -= 1;
                state.running.insert(id, Running { until_ns, overrun: Some(overrun) });
                return (id, work);
            }
            self.0.ready.wait(&mut state);
        }
    }
}
