use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use plugin_abi::{
    Batch, BatchOutcome, CollectionId, Completion, DataSink, FamilyDef, HistogramBatch, SeriesDef, Verdict,
};
use series::pipeline::Store;

use super::costs::PluginCosts;

/// A store whose work is timed. The store itself knows no clock.
#[derive(Debug)]
pub struct TimedStore {
    store: Arc<Store>,
    costs: Arc<PluginCosts>,
    /// What the values of the collection that is under way took so far.
    ingest_ns: AtomicU64,
}

impl TimedStore {
    /// Times `store` for `costs`.
    #[must_use]
    pub fn new(store: Arc<Store>, costs: Arc<PluginCosts>) -> Self {
        Self { store, costs, ingest_ns: AtomicU64::new(0) }
    }

    /// Has the store take a batch, and enters what that took and what became of the rows.
    fn timed(&self, take: impl FnOnce(&Store) -> BatchOutcome) -> BatchOutcome {
        let began = Instant::now();
        let outcome = take(&self.store);
        let took_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.ingest_ns.fetch_add(took_ns, Ordering::Relaxed);
        self.costs.batches.fetch_add(1, Ordering::Relaxed);
        let BatchOutcome { stored, retired, wrong_kind } = outcome;
        for (count, rows) in self.costs.rows.iter().zip([stored, retired, wrong_kind]) {
            count.fetch_add(rows, Ordering::Relaxed);
        }
        outcome
    }

    fn register(
        &self,
        accepted: usize,
        verdicts: &mut Vec<Verdict>,
        register: impl FnOnce(&mut Vec<Verdict>),
    ) {
        let known = verdicts.len();
        self.costs.registration.of(|| register(verdicts));
        let new = verdicts.get(known..).unwrap_or_default();
        let count = new.iter().filter(|verdict| matches!(verdict, Verdict::Accepted(_))).count();
        self.costs.registered[accepted].fetch_add(count as u64, Ordering::Relaxed);
        self.costs.registered[accepted + 1].fetch_add((new.len() - count) as u64, Ordering::Relaxed);
    }
}

impl DataSink for TimedStore {
    fn register_families(&self, families: &[FamilyDef<'_>], verdicts: &mut Vec<Verdict>) {
        self.register(FAMILIES, verdicts, |verdicts| self.store.register_families(families, verdicts));
    }

    fn register_series(&self, series: &[SeriesDef<'_>], verdicts: &mut Vec<Verdict>) {
        self.register(SERIES, verdicts, |verdicts| self.store.register_series(series, verdicts));
    }

    fn retire(&self, ids: &[u32]) {
        self.costs.retired.fetch_add(ids.len() as u64, Ordering::Relaxed);
        self.store.retire(ids);
    }

    fn batch(&self, batch: &Batch<'_>) -> BatchOutcome {
        self.timed(|store| store.batch(batch))
    }

    fn histograms(&self, batch: &HistogramBatch<'_>) -> BatchOutcome {
        self.timed(|store| store.histograms(batch))
    }

    fn checked(&self, took_ns: u64) {
        self.costs.validation.took(Duration::from_nanos(took_ns));
    }

    fn complete(&self, collection: CollectionId, completion: Completion<'_>) {
        let ingest_ns = self.ingest_ns.swap(0, Ordering::Relaxed);
        self.costs.ingest.took(Duration::from_nanos(ingest_ns));
        self.costs.publish.of(|| self.store.complete(collection, completion));
    }

    fn reset(&self) {
        self.store.reset();
    }
}

/// Where accepted ones are counted; those that are dropped come after.
const FAMILIES: usize = 0;
const SERIES: usize = 2;
