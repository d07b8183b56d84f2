//! An instance inside the library: the source, its buffers, and its pending collection.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Once};
use std::task::Poll;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use plugin_abi::raw::{
    Array, Collect, Completion, OK, OUTCOME_FAILED, OUTCOME_FULL, OUTCOME_PARTIAL, PANICKED, STALE,
    StageCost, Str, struct_size,
};
use plugin_abi::{GeneralReason, Problem, Stage};

use super::failure::{Coverage, Failure};
use super::handle::Handle;
use crate::collection::{Collection, Stages};
use crate::output::Output;
use crate::settings::checked;
use crate::source::{BlockingSource, End, Setup, Source};
use crate::state::{Cancel, CancelEntry, CollectionTask, Slot, State};
use crate::{Target, host, log};

/// The source and its buffers; no source after a panic.
struct Work<S> {
    source: Option<S>,
    output: Output,
}

/// The common part of both kinds of instance.
struct Common<T> {
    target: Arc<Target>,
    handle: Handle,
    /// New settings for the next collection.
    pending: Mutex<Option<T>>,
    /// The collection that `destroy` cancels.
    current: Mutex<Option<Arc<Cancel>>>,
}

impl<T> Common<T> {
    fn new(target: Target, handle: Handle) -> Self {
        Self { target: Arc::new(target), handle, pending: Mutex::default(), current: Mutex::default() }
    }

    fn begin(
        &self,
        state: &'static State,
        request: &Collect,
        cancel: &Arc<Cancel>,
        output: Output,
    ) -> Collection {
        *self.current.lock() = Some(Arc::clone(cancel));
        let left = Duration::from_nanos(request.deadline_ns.saturating_sub(host::now_ns()));
        Collection {
            target: Arc::clone(&self.target),
            handle: self.handle.clone(),
            output,
            stages: Stages::default(),
            began: Duration::from_nanos(request.now_ns),
            deadline: Instant::now() + left,
            cancelled: cancel.flag(),
            runtime: state.runtime().handle().clone(),
        }
    }

    fn cancel_current(&self) {
        if let Some(cancel) = self.current.lock().take() {
            cancel.set();
        }
    }
}

/// An instance of an async source.
pub(crate) struct AsyncSlot<S: Source> {
    common: Common<S::Settings>,
    work: tokio::sync::Mutex<Work<S>>,
}

impl<S: Source> AsyncSlot<S> {
    pub(crate) fn create(setup: Setup<S::Settings>) -> Result<Arc<Self>, Vec<Problem>> {
        let output = setup.handle.output();
        let common = Common::new(setup.target.clone(), setup.handle.clone());
        let source = S::create(setup)?;
        Ok(Arc::new(Self { common, work: tokio::sync::Mutex::new(Work { source: Some(source), output }) }))
    }

    async fn run(&self, state: &'static State, request: Collect, cancel: CancelEntry) {
        let mut owed = PendingCompletion::new(&request);
        let mut work = self.work.lock().await;
        let Work { source, output } = &mut *work;
        let Some(mut running) = source.take() else {
            return owed.fail(&Stages::default(), Failure::new(Stage::Plugin, GeneralReason::Panicked, ""));
        };
        let taken = std::mem::replace(output, Output::new(request.instance));
        let mut collection = self.common.begin(state, &request, &cancel.cancel, taken);
        if let Some(settings) = self.common.pending.lock().take() {
            running.reconfigure(settings);
        }
        let stages = collection.stages.clone();
        let deadline = collection.deadline;
        let guarded = cancel.cancel.unless(caught_future(running.collect(&mut collection)));
        let ended = tokio::time::timeout_at(deadline.into(), guarded).await;
        let result = match ended {
            Ok(Some(Ok(result))) => result,
            Ok(Some(Err(panic))) => {
                let message = panic.to_string();
                log::error(request.instance, "Collection panicked", &[("panic", &message)]);
                drop_quietly(running);
                return owed.fail(&stages, Failure::new(Stage::Plugin, GeneralReason::Panicked, message));
            }
            Ok(None) => Err(interrupted(&stages, deadline)),
            Err(_) => Err(Failure::new(stages.current(), GeneralReason::Timeout, "the deadline passed")),
        };
        *source = Some(running);
        owed.end(&stages, &mut collection.output, result);
        *output = collection.output;
    }
}

impl<S: Source> Slot for AsyncSlot<S> {
    fn reconfigure(&self, settings: &str) -> Result<(), Vec<Problem>> {
        let settings = checked(settings, &self.common.target, S::check)?;
        *self.common.pending.lock() = Some(settings);
        Ok(())
    }

    fn collect(self: Arc<Self>, state: &'static State, request: Collect) -> i32 {
        let entry = state.cancel_for(request.collection);
        let cancel = Arc::clone(&entry.cancel);
        let future = Box::pin(async move { self.run(state, request, entry).await });
        let task = CollectionTask::new(Box::pin(log::Scoped { owner: request.instance, future }), &cancel);
        state.runtime().spawn(poll_fn(move |context| task.poll(context)));
        OK
    }

    fn wake(&self) {
        self.common.handle.wake.raise();
    }

    fn destroy(self: Arc<Self>, state: &'static State, end: End) {
        self.common.cancel_current();
        let owner = self.common.handle.instance;
        let future = Box::pin(async move {
            if let Some(source) = self.work.lock().await.source.take() {
                let ending = tokio::time::timeout_at(end.deadline.into(), caught_future(source.end(end)));
                match ending.await {
                    Ok(Ok(())) => {}
                    Ok(Err(panic)) => log::error(owner, "End panicked", &[("panic", &panic.to_string())]),
                    Err(_) => log::error(owner, "End did not come by the deadline", &[]),
                }
            }
            host::destroyed(owner);
        });
        state.runtime().spawn(log::Scoped { owner, future });
    }
}

/// An instance of a blocking source.
pub(crate) struct BlockingSlot<S: BlockingSource> {
    common: Common<S::Settings>,
    work: Mutex<Work<S>>,
}

impl<S: BlockingSource> BlockingSlot<S> {
    pub(crate) fn create(setup: Setup<S::Settings>) -> Result<Arc<Self>, Vec<Problem>> {
        let output = setup.handle.output();
        let common = Common::new(setup.target.clone(), setup.handle.clone());
        let source = S::create(setup)?;
        Ok(Arc::new(Self { common, work: Mutex::new(Work { source: Some(source), output }) }))
    }
}

impl<S: BlockingSource> Slot for BlockingSlot<S> {
    fn reconfigure(&self, settings: &str) -> Result<(), Vec<Problem>> {
        let settings = checked(settings, &self.common.target, S::check)?;
        *self.common.pending.lock() = Some(settings);
        Ok(())
    }

    fn collect(self: Arc<Self>, state: &'static State, request: Collect) -> i32 {
        let mut work = self.work.lock();
        let Work { source, output } = &mut *work;
        let Some(mut running) = source.take() else { return PANICKED };
        let mut owed = PendingCompletion::new(&request);
        let cancel = state.cancel_for(request.collection);
        let taken = std::mem::replace(output, Output::new(request.instance));
        let mut collection = self.common.begin(state, &request, &cancel.cancel, taken);
        let pending = self.common.pending.lock().take();
        let stages = collection.stages.clone();
        let result = log::scope(request.instance, || {
            caught(|| {
                if let Some(settings) = pending {
                    running.reconfigure(settings);
                }
                running.collect(&mut collection)
            })
        });
        match result {
            Ok(result) => {
                *source = Some(running);
                owed.end(&stages, &mut collection.output, result);
                *output = collection.output;
            }
            Err(panic) => {
                let message = panic.to_string();
                log::error(request.instance, "Collection panicked", &[("panic", &message)]);
                drop_quietly(running);
                owed.fail(&stages, Failure::new(Stage::Plugin, GeneralReason::Panicked, message));
            }
        }
        OK
    }

    fn wake(&self) {
        self.common.handle.wake.raise();
    }

    fn destroy(self: Arc<Self>, state: &'static State, end: End) {
        self.common.cancel_current();
        state.runtime().spawn_blocking(move || {
            let owner = self.common.handle.instance;
            if let Some(source) = self.work.lock().source.take()
                && let Err(panic) = log::scope(owner, || caught(|| source.end(end)))
            {
                log::error(owner, "End panicked", &[("panic", &panic.to_string())]);
            }
            host::destroyed(owner);
        });
    }
}

/// A completion that the host waits for. If it is lost (a panic in a destructor), dropping reports a failure.
struct PendingCompletion {
    instance: u64,
    collection: u64,
    done: bool,
}

impl PendingCompletion {
    fn new(request: &Collect) -> Self {
        Self { instance: request.instance, collection: request.collection, done: false }
    }

    fn end(&mut self, stages: &Stages, output: &mut Output, result: Result<Coverage, Failure>) {
        match result {
            Ok(Coverage::Full) => {
                output.flush();
                self.complete(OUTCOME_FULL, &[], &stages.close(), None);
            }
            Ok(Coverage::Partial { families, failure }) => {
                output.flush();
                let families: Vec<u32> = families.iter().map(|family| family.0).collect();
                self.complete(OUTCOME_PARTIAL, &families, &stages.close(), failure.as_ref());
            }
            Err(failure) => {
                output.clear();
                self.fail(stages, failure);
            }
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "ends the failure's way")]
    fn fail(&mut self, stages: &Stages, failure: Failure) {
        self.complete(OUTCOME_FAILED, &[], &stages.close(), Some(&failure));
    }

    fn complete(&mut self, outcome: u32, families: &[u32], stages: &[StageCost], failure: Option<&Failure>) {
        self.done = true;
        let completion = Completion {
            size: struct_size::<Completion>(),
            outcome,
            families: Array::of(families),
            stages: Array::of(stages),
            failure_stage: failure.map_or(0, |failure| failure.stage.code()),
            failure_reason: failure.map_or(0, |failure| failure.reason.code()),
            message: failure.map_or(Str::EMPTY, |failure| Str::of(&failure.message)),
            retry_after_ms: failure.and_then(|failure| failure.retry_after).map_or(0, whole_ms),
        };
        host::complete(self.instance, self.collection, &completion);
    }
}

impl Drop for PendingCompletion {
    fn drop(&mut self) {
        if !self.done {
            let failure = Failure::new(
                Stage::Plugin,
                GeneralReason::Panicked,
                "the collection dropped the collection without completing it",
            );
            self.complete(OUTCOME_FAILED, &[], &[], Some(&failure));
        }
    }
}

/// In milliseconds, and never zero, which means "none".
fn whole_ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// The status for a collection on an instance that is not there.
pub(crate) const NO_INSTANCE: i32 = STALE;

/// The host cancels at the deadline, too; the result must not depend on which comes first.
fn interrupted(stages: &Stages, deadline: Instant) -> Failure {
    if deadline.saturating_duration_since(Instant::now()) <= DEADLINE_NEAR {
        Failure::new(stages.current(), GeneralReason::Timeout, "the deadline passed")
    } else {
        Failure::new(stages.current(), GeneralReason::Cancelled, "")
    }
}

/// Drops what may panic while it is dropped.
fn drop_quietly<T>(value: T) {
    if let Err(panic) = caught(|| drop(value)) {
        log::error(host::library(), "Destructor panicked", &[("panic", &panic.to_string())]);
    }
}

const DEADLINE_NEAR: Duration = Duration::from_millis(10);

// Catches panics, with the place where they occurred.
//
// By default a panic prints to the standard error, where no operator sees it. Inside of `caught` it is kept
// instead, with file and line, so that the caller can write it to the host's log.

/// A panic that was caught.
pub(crate) struct Panic {
    message: String,
    place: Option<String>,
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.place.as_ref().map_or(Ok(()), |place| write!(f, " (at {place})"))
    }
}

/// Runs `action`, and catches its panic.
pub(crate) fn caught<R>(action: impl FnOnce() -> R) -> Result<R, Panic> {
    install_hook();
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    let result = catch_unwind(AssertUnwindSafe(action));
    DEPTH.set(depth);
    result.map_err(Panic::of)
}

/// Polls `work`, and catches its panic.
async fn caught_future<F: Future>(work: F) -> Result<F::Output, Panic> {
    let mut work = pin!(work);
    poll_fn(|context| match caught(|| work.as_mut().poll(context)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

impl Panic {
    /// The payload is leaked, because its destructor could panic.
    fn of(payload: Box<dyn Any + Send>) -> Self {
        let message = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".to_owned());
        std::mem::forget(payload);
        Self { message, place: PLACE.take() }
    }
}

thread_local! {
    /// How many calls of [`caught`] this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The place of its last panic inside of one.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if DEPTH.get() == 0 || !keep_place(info) {
                before(info);
            }
        }));
    });
}

/// Whether the place could be kept. A panic while another one is being kept goes to the previous hook.
fn keep_place(info: &PanicHookInfo<'_>) -> bool {
    let place = info.location().map(ToString::to_string);
    PLACE.with(|kept| kept.try_borrow_mut().map(|mut kept| *kept = place).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_told_with_its_place() {
        let panic = caught(|| panic!("no disk {}", 7)).unwrap_err().to_string();
        let place = panic.strip_prefix("no disk 7 (at ").expect("the message comes first");
        assert!(place.contains("slot.rs:") && place.ends_with(')'), "{place}");
    }

    #[test]
    fn a_panic_inside_of_another_call_is_told_once() {
        let outer = caught(|| {
            let inner = caught(|| panic!("inner")).unwrap_err().to_string();
            assert!(inner.starts_with("inner (at "), "{inner}");
            panic!("outer");
        });
        assert!(outer.unwrap_err().to_string().starts_with("outer (at "));
        assert_eq!(caught(|| 1).ok(), Some(1));
    }
}
