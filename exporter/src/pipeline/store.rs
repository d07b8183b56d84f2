//! Where one plugin instance sends what it finds.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plugin_host::InstanceSink;
use plugin_host::sink::{
    Batch, BatchOutcome, CollectionId, Column, Completion, Event, FamilyDef, Level, Outcome, SeriesDef,
    Verdict,
};

use super::collection::{Buffers, Inherit};
use super::limits::{Refusal, Refusals};
use super::registry::Registry;
use super::{Scope, StoreObserver};
use crate::model::{Scattered, Snapshot};

/// The series of one plugin instance on one target.
///
/// Families and series are registered, then values come in batches, then the collection is completed; that
/// publishes a new [`Snapshot`], which is all that readers ever see. What a collection means for the series:
///
/// * FULL: those that got a value are there, the others are gone;
/// * PARTIAL: the same for the families it covers. The others keep their last values, unless the collection says
///   that they failed: then they are gone as after FAILED;
/// * FAILED: all are gone, and what came is thrown away; [`super::Limits::stale_collections_max`] puts that off.
///
/// Values that come outside of a collection show when the next one ends.
pub struct Store {
    scope: Arc<Scope>,
    observer: Arc<dyn StoreObserver>,
    refusals: Refusals,
    state: Mutex<State>,
    published: Mutex<Arc<Snapshot>>,
}

struct State {
    registry: Registry,
    buffers: Buffers,
    /// Collections in a row that failed, or failed in part.
    failures: u8,
    /// The series ids of the published snapshot are those of `registry`: nothing was reset in between.
    same_ids: bool,
}

impl Store {
    pub(super) fn new(scope: Arc<Scope>, observer: Arc<dyn StoreObserver>) -> Self {
        Self {
            observer,
            refusals: Refusals::default(),
            state: Mutex::new(State::new(&scope)),
            published: Mutex::new(Arc::new(Snapshot::empty(Arc::clone(&scope.target)))),
            scope,
        }
    }

    /// The last collection's series.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.published.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was not taken, by reason.
    #[must_use]
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Says that a collection failed before it reached the plugin.
    pub fn fail(&self) {
        self.lock().fail(self);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the snapshot and answers the old one.
    fn publish(&self, snapshot: Snapshot) -> Arc<Snapshot> {
        let snapshot = Arc::new(snapshot);
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut published, snapshot)
    }

    /// Whether series that failed so many times in a row may still be shown.
    fn still_holds(&self, failures: u8) -> bool {
        failures <= self.scope.limits.stale_collections_max.min(STALE_COLLECTIONS_MAX)
    }

    fn verdict(&self, result: Result<u32, Refusal>) -> Verdict {
        match result {
            Ok(id) => Verdict::Accepted(id),
            Err(refusal) => {
                self.refusals.add(refusal, 1);
                Verdict::Dropped(refusal.verdict())
            }
        }
    }
}

impl State {
    fn new(scope: &Scope) -> Self {
        Self { registry: Registry::new(scope), buffers: Buffers::default(), failures: 0, same_ids: true }
    }

    fn commit(&mut self, store: &Store, inherit: Inherit<'_>) {
        let inherit = if self.same_ids { inherit } else { Inherit::Nothing };
        let last = store.snapshot();
        let (registry, target) = (&mut self.registry, &store.scope.target);
        let snapshot = self.buffers.commit(registry, target, &last, inherit, &store.refusals);
        self.same_ids = true;
        self.buffers.recycle(&last);
        drop(last);
        store.publish(snapshot);
    }

    fn fail(&mut self, store: &Store) {
        self.buffers.discard();
        self.failures = self.failures.saturating_add(1);
        if !store.still_holds(self.failures) {
            let old = store.publish(Snapshot::empty(Arc::clone(&store.scope.target)));
            self.buffers.recycle(&old);
        }
    }
}

impl InstanceSink for Store {
    fn register_families(&self, families: &[FamilyDef<'_>], verdicts: &mut Vec<Verdict>) {
        let mut state = self.lock();
        verdicts.extend(families.iter().map(|def| self.verdict(state.registry.add_family(&self.scope, def))));
    }

    fn register_series(&self, series: &[SeriesDef<'_>], verdicts: &mut Vec<Verdict>) {
        let mut state = self.lock();
        let State { registry, buffers, .. } = &mut *state;
        let mut known = self.scope.lock();
        verdicts.extend(
            series
                .iter()
                .map(|def| self.verdict(registry.add_series(&self.scope, &mut known, buffers.begun(), def))),
        );
    }

    fn retire(&self, ids: &[u32]) {
        let mut state = self.lock();
        let State { registry, buffers, .. } = &mut *state;
        registry.retire(&mut self.scope.lock(), buffers.begun(), ids);
    }

    fn batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        let mut state = self.lock();
        let State { registry, buffers, .. } = &mut *state;
        let values = buffers.building(registry);
        let scattered = match batch.values {
            Column::F64(column) => values.scatter_f64(batch.ids, column),
            Column::U64(column) => values.scatter_u64(batch.ids, column),
            Column::I64(column) => values.scatter_i64(batch.ids, column),
            _ => Scattered { wrong_kind: batch.ids.len() as u64, ..Scattered::default() },
        };
        if let Some(start_times) = batch.start_times {
            values.scatter_starts(batch.ids, start_times);
        }
        self.refusals.add(Refusal::RetiredSeries, scattered.retired);
        self.refusals.add(Refusal::WrongValueKind, scattered.wrong_kind);
        let Scattered { stored, retired, wrong_kind } = scattered;
        BatchOutcome { stored, retired, wrong_kind }
    }

    fn complete(&self, collection: CollectionId, completion: Completion<'_>) {
        let mut state = self.lock();
        match &completion.outcome {
            Outcome::Full => {
                state.failures = 0;
                state.commit(self, Inherit::Nothing);
            }
            Outcome::Partial { families, failure } => {
                state.failures = if failure.is_some() { state.failures.saturating_add(1) } else { 0 };
                let holds = self.still_holds(state.failures);
                state.commit(self, if holds { Inherit::AllBut(families) } else { Inherit::Nothing });
            }
            Outcome::Failed(_) => state.fail(self),
        }
        drop(state);
        self.observer.completed(collection, &completion, self.snapshot().series());
    }

    fn reset(&self) {
        let mut state = self.lock();
        state.registry.release(&mut self.scope.lock());
        *state = State { failures: state.failures, same_ids: false, ..State::new(&self.scope) };
    }

    fn log_enabled(&self, level: Level) -> bool {
        self.observer.log_enabled(level)
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, &str)]) {
        self.observer.log(level, message, fields);
    }

    fn event(&self, event: &Event<'_>) {
        self.observer.event(event);
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.registry.release(&mut self.scope.lock());
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("target", &self.scope.target.name).finish_non_exhaustive()
    }
}

/// The house allows stale series for at most three intervals.
const STALE_COLLECTIONS_MAX: u8 = 3;
