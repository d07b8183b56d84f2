//! The receiver of one plugin instance's data.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use plugin_abi::{
    Batch, BatchOutcome, CollectionId, Column, Completion, DataSink, Failure, FamilyDef, HistogramBatch,
    Outcome, SeriesDef, Verdict,
};

use super::limits::{Refusal, Refusals};
use super::registry::Registry;
use super::{
    Buffers, FailureStreak, Footprint, Inherit, Normalize, Rules, Scope, Stale, StoreObserver, only,
};
use crate::model::{Scattered, Snapshot};

/// The series of one plugin instance on one target.
///
/// Families and series are registered, then values come in batches, then the collection is completed; that
/// publishes a new [`Snapshot`], which is all that readers ever see. What a collection means for the series:
///
/// * FULL: those that got a value are there, the others are gone;
/// * PARTIAL: the same for the families it covers. The others keep their last values, unless the collection says
///   that they failed: then they are gone as after FAILED;
/// * FAILED: all are gone, and what came is thrown away. With [`super::Limits::keeps_stale`] they go when
///   [`Store::expire`] is called, unless a collection succeeds before.
///
/// Values that come outside of a collection show when the next one ends.
pub struct Store {
    scope: Arc<Scope>,
    observer: Arc<dyn StoreObserver>,
    normalize: Arc<Normalize>,
    refusals: Refusals,
    state: Mutex<State>,
    published: Mutex<Arc<Snapshot>>,
    footprint: Mutex<Footprint>,
}

struct State {
    registry: Registry,
    buffers: Buffers,
    stale: Stale,
    /// The series ids of the published snapshot are those of `registry`: nothing was reset in between.
    same_ids: bool,
}

impl Scope {
    /// A store for one more plugin instance of this target.
    #[must_use]
    pub fn store(self: &Arc<Self>, observer: Arc<dyn StoreObserver>) -> Arc<Store> {
        let normalize =
            Normalize { profile: self.profile.clone(), rules: Rules::default(), limits: self.limits };
        self.ruled_store(observer, normalize)
    }

    /// The same with names, rules and limits of its own. A scope in which any store has names beyond ASCII is made with
    /// such a profile.
    #[must_use]
    pub fn ruled_store(
        self: &Arc<Self>,
        observer: Arc<dyn StoreObserver>,
        normalize: Normalize,
    ) -> Arc<Store> {
        Arc::new(Store::new(Arc::clone(self), observer, normalize))
    }
}

impl Store {
    pub(super) fn new(scope: Arc<Scope>, observer: Arc<dyn StoreObserver>, normalize: Normalize) -> Self {
        let normalize = Arc::new(normalize);
        Self {
            observer,
            refusals: Refusals::default(),
            state: Mutex::new(State::new(&scope, &normalize)),
            normalize,
            published: Mutex::new(Arc::new(Snapshot::empty(Arc::clone(&scope.target)))),
            footprint: Mutex::default(),
            scope,
        }
    }

    /// What its series take, as of the last collection that brought any.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        *self.footprint.lock()
    }

    fn set_footprint(&self, footprint: Footprint) {
        *self.footprint.lock() = footprint;
    }

    /// The last collection's series.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.published.lock())
    }

    /// Refused data, by reason.
    #[must_use]
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Says that a collection failed before it reached the plugin.
    pub fn fail(&self) {
        let streak = self.state.lock().fail(self);
        self.report_stale(streak);
    }

    /// Series that outlived the collections of `streak`, which all failed, go now.
    pub fn expire(&self, streak: FailureStreak) {
        self.state.lock().expire(self, streak);
    }

    fn report_stale(&self, streak: Option<FailureStreak>) {
        if let Some(streak) = streak {
            self.observer.stale(streak);
        }
    }

    /// Replaces the snapshot and returns the old one.
    fn publish(&self, snapshot: Snapshot) -> Arc<Snapshot> {
        let id = self.scope.catalog.next_snapshot_id();
        let snapshot = Arc::new(snapshot.published(id, self.observer.now_unix_nanos()));
        let mut published = self.published.lock();
        std::mem::replace(&mut published, snapshot)
    }

    /// Counts the rows that were left out.
    fn stored(&self, scattered: Scattered) -> BatchOutcome {
        let Scattered { stored, retired, wrong_kind } = scattered;
        self.refusals.add(Refusal::RetiredSeries, retired);
        self.refusals.add(Refusal::WrongValueKind, wrong_kind);
        BatchOutcome { stored, retired, wrong_kind }
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
    fn new(scope: &Scope, normalize: &Arc<Normalize>) -> Self {
        Self {
            registry: Registry::new(scope, normalize),
            buffers: Buffers::default(),
            stale: Stale::default(),
            same_ids: true,
        }
    }

    fn commit(&mut self, store: &Store, inherit: Inherit<'_>) {
        let inherit = if self.same_ids { inherit } else { Inherit::Nothing };
        let last = store.snapshot();
        let (registry, target) = (&mut self.registry, &store.scope.target);
        let snapshot = self.buffers.commit(registry, target, &last, inherit, &store.refusals);
        self.same_ids = true;
        let is_same = Arc::ptr_eq(last.layout(), snapshot.layout());
        self.buffers.recycle(&last);
        drop(last);
        if !is_same {
            store.set_footprint(Footprint::of(&self.registry, &self.buffers, &snapshot));
        }
        store.publish(snapshot);
    }

    /// Answers the streak that began, if series outlive it.
    fn fail(&mut self, store: &Store) -> Option<FailureStreak> {
        self.buffers.discard(&mut self.registry);
        let begun = self.stale.fail(&[]);
        if self.keeps(store) {
            begun.filter(|_| store.snapshot().series() > 0)
        } else {
            self.publish(store, Snapshot::empty(Arc::clone(&store.scope.target)));
            None
        }
    }

    fn complete_in_part(
        &mut self,
        store: &Store,
        families: &[u32],
        failure: Option<&Failure>,
    ) -> Option<FailureStreak> {
        let begun = if failure.is_some() {
            let mut families = families.to_vec();
            families.sort_unstable();
            self.stale.fail(&self.registry.blocks_of(&families))
        } else {
            self.stale.end();
            None
        };
        let keeps = failure.is_none() || self.keeps(store);
        self.commit(store, if keeps { Inherit::AllBut(families) } else { Inherit::Nothing });
        begun.filter(|_| keeps)
    }

    fn expire(&mut self, store: &Store, streak: FailureStreak) {
        let Some(covered) = self.stale.expire(streak) else { return };
        let left = only(&store.snapshot(), covered);
        self.publish(store, left);
    }

    fn keeps(&self, store: &Store) -> bool {
        store.scope.limits.keeps_stale && !self.stale.is_expired()
    }

    fn publish(&mut self, store: &Store, snapshot: Snapshot) {
        let old = store.publish(snapshot);
        self.buffers.recycle(&old);
    }
}

impl DataSink for Store {
    fn register_families(&self, families: &[FamilyDef<'_>], verdicts: &mut Vec<Verdict>) {
        let mut state = self.state.lock();
        verdicts.extend(families.iter().map(|def| self.verdict(state.registry.add_family(&self.scope, def))));
    }

    fn register_series(&self, series: &[SeriesDef<'_>], verdicts: &mut Vec<Verdict>) {
        let mut state = self.state.lock();
        let State { registry, buffers, .. } = &mut *state;
        let mut known = self.scope.guard();
        verdicts.extend(
            series
                .iter()
                .map(|def| self.verdict(registry.add_series(&self.scope, &mut known, buffers.begun(), def))),
        );
    }

    fn retire(&self, ids: &[u32]) {
        let mut state = self.state.lock();
        let State { registry, buffers, .. } = &mut *state;
        registry.retire(&mut self.scope.guard(), buffers.begun(), ids);
    }

    fn batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        let mut state = self.state.lock();
        let State { registry, buffers, .. } = &mut *state;
        let values = buffers.building(registry);
        let scattered = match batch.values {
            Column::F64(column) => values.scatter_f64(batch.ids, column),
            Column::U64(column) => values.scatter_u64(batch.ids, column),
            Column::I64(column) => values.scatter_i64(batch.ids, column),
        };
        if let Some(start_times) = batch.start_times {
            values.scatter_starts(batch.ids, start_times);
        }
        self.stored(scattered)
    }

    fn histograms(&self, batch: &HistogramBatch<'_>) -> BatchOutcome {
        let mut state = self.state.lock();
        let State { registry, buffers, .. } = &mut *state;
        let values = buffers.building(registry);
        self.stored(values.scatter_histograms(batch, |id| registry.is_of_family(id, batch.family)))
    }

    fn complete(&self, collection: CollectionId, completion: Completion<'_>) {
        let mut state = self.state.lock();
        let streak = match &completion.outcome {
            Outcome::Full => {
                state.stale.end();
                state.commit(self, Inherit::Nothing);
                None
            }
            Outcome::Partial { families, failure } => {
                state.complete_in_part(self, families, failure.as_ref())
            }
            Outcome::Failed(_) => state.fail(self),
        };
        drop(state);
        self.report_stale(streak);
        self.observer.completed(collection, &completion, self.snapshot().series());
    }

    fn reset(&self) {
        let mut state = self.state.lock();
        state.registry.release(&mut self.scope.guard());
        let stale = std::mem::take(&mut state.stale);
        *state = State { stale, same_ids: false, ..State::new(&self.scope, &self.normalize) };
        self.set_footprint(Footprint::default());
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        state.registry.release(&mut self.scope.guard());
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("target", &self.scope.target.name).finish_non_exhaustive()
    }
}
