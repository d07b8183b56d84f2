//! The state of a library: instances, runs of commands, and their cancel tokens.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;
use plugin_abi::Problem;
use plugin_abi::raw::Collect;
use tokio::runtime::Runtime;

use super::token::Signal;
use crate::command::Run;
use crate::source::End;

/// The state of a library.
pub(crate) struct State {
    runtime: &'static Runtime,
    instances: Mutex<HashMap<u64, Arc<dyn Slot>>>,
    cancels: Mutex<HashMap<u64, Arc<Cancel>>>,
    runs: Mutex<HashMap<u64, Run>>,
}

/// An instance of any source, as the exported functions use it.
pub(crate) trait Slot: Send + Sync {
    fn reconfigure(&self, settings: &str) -> Result<(), Vec<Problem>>;
    fn collect(self: Arc<Self>, state: &'static State, request: Collect) -> i32;
    fn wake(&self);
    fn destroy(self: Arc<Self>, state: &'static State, end: End);
}

impl State {
    pub(crate) fn new(runtime: &'static Runtime) -> Self {
        Self { runtime, instances: Mutex::default(), cancels: Mutex::default(), runs: Mutex::default() }
    }

    pub(crate) fn runtime(&self) -> &'static Runtime {
        self.runtime
    }

    pub(crate) fn instance(&self, token: u64) -> Option<Arc<dyn Slot>> {
        self.instances.lock().get(&token).cloned()
    }

    pub(crate) fn insert_instance(&self, token: u64, slot: Arc<dyn Slot>) {
        self.instances.lock().insert(token, slot);
    }

    pub(crate) fn remove_instance(&self, token: u64) -> Option<Arc<dyn Slot>> {
        self.instances.lock().remove(&token)
    }

    /// A cancel token that `cancel` finds until the returned entry is dropped.
    pub(crate) fn cancel_for(&'static self, token: u64) -> CancelEntry {
        let cancel = Arc::new(Cancel::default());
        self.cancels.lock().insert(token, Arc::clone(&cancel));
        CancelEntry { state: self, token, cancel }
    }

    pub(crate) fn cancel(&self, token: u64) {
        let cancel = self.cancels.lock().get(&token).cloned();
        if let Some(cancel) = cancel {
            cancel.set();
            if let Some(task) = cancel.task.get().and_then(Weak::upgrade) {
                let _inside = self.runtime.enter();
                task.end_if_idle();
            }
        }
    }

    pub(crate) fn begin_run(&self, run: Run) {
        self.runs.lock().insert(run.token, run);
    }

    pub(crate) fn end_run(&self, token: u64) {
        self.runs.lock().remove(&token);
    }

    pub(crate) fn wake(&self, owner: u64) {
        if let Some(slot) = self.instance(owner) {
            slot.wake();
            return;
        }
        let run = self.runs.lock().get(&owner).cloned();
        if let Some(run) = run {
            run.wake.raise();
        }
    }
}

/// A cancel token while it can be found.
pub(crate) struct CancelEntry {
    state: &'static State,
    token: u64,
    pub(crate) cancel: Arc<Cancel>,
}

impl Drop for CancelEntry {
    fn drop(&mut self) {
        self.state.cancels.lock().remove(&self.token);
    }
}

/// A flag that can be waited for.
#[derive(Default)]
pub(crate) struct Cancel {
    flag: Arc<AtomicBool>,
    signal: Signal,
    /// The task of a collection.
    task: OnceLock<Weak<CollectionTask>>,
}

/// The task of a collection. One that is cancelled while no thread polls it ends at once, by the thread that cancels it: when
/// another target occupies all threads of the library, this one has not hung.
pub(crate) struct CollectionTask(Mutex<TaskState>);

struct TaskState {
    future: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// That of the runtime.
    waker: Waker,
}

impl CollectionTask {
    /// The future, which `cancel` ends.
    pub(crate) fn new(future: Pin<Box<dyn Future<Output = ()> + Send>>, cancel: &Cancel) -> Arc<Self> {
        let task = TaskState { future: Some(future), waker: Waker::noop().clone() };
        let task = Arc::new(Self(Mutex::new(task)));
        cancel.task.get_or_init(|| Arc::downgrade(&task));
        task
    }

    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let mut task = self.0.lock();
        task.waker.clone_from(context.waker());
        task.poll()
    }

    fn end_if_idle(&self) {
        if let Some(mut task) = self.0.try_lock() {
            let _ = task.poll();
        }
    }
}

impl TaskState {
    fn poll(&mut self) -> Poll<()> {
        // One that panics is gone: it must not be polled again.
        let Some(mut future) = self.future.take() else { return Poll::Ready(()) };
        let polled = future.as_mut().poll(&mut Context::from_waker(&self.waker));
        if polled.is_pending() {
            self.future = Some(future);
        }
        polled
    }
}

impl Cancel {
    /// Whether it was cancelled.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    pub(crate) fn set(&self) {
        self.flag.store(true, Ordering::Release);
        self.signal.raise();
    }

    /// Runs `work` unless it is cancelled first.
    pub(crate) async fn unless<F: Future>(&self, work: F) -> Option<F::Output> {
        let mut raised = pin!(self.signal.raised());
        let mut work = pin!(work);
        poll_fn(|context| {
            if self.flag.load(Ordering::Acquire) {
                return Poll::Ready(None);
            }
            if let Poll::Ready(output) = work.as_mut().poll(context) {
                return Poll::Ready(Some(output));
            }
            let cancelled = self.flag.load(Ordering::Acquire) || raised.as_mut().poll(context).is_ready();
            if cancelled { Poll::Ready(None) } else { Poll::Pending }
        })
        .await
    }
}
