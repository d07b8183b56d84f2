//! The series that benchmarks and the example page are made of.
//!
//! Ten targets; families of 1,000 series each, half gauges and half counters; about 138 bytes a sample. A third
//! of the values are large integers, a third have three decimals, a third are any double; each round changes all.
#![allow(dead_code, reason = "each user takes what it needs")]

use std::sync::Arc;

use plugin_abi::{
    Batch, CollectionId, Column, Completion, DataSink, Display, FamilyDef, Kind, Outcome, SeriesDef,
    ValueKind, Verdict,
};
use series::model::{Snapshot, Target};
use series::pipeline::{Catalog, Limits, NoObserver, Scope, Store};

/// Rows of one batch: the most that the ABI takes.
pub(crate) const BATCH_ROWS: usize = 65_536;
const TARGETS: usize = 10;
const SERIES_PER_FAMILY: usize = 1_000;
const MODES: [&str; 8] = ["idle", "user", "privileged", "interrupt", "dpc", "read", "write", "flush"];

/// Several targets with one store each.
pub(crate) struct Fleet {
    pub(crate) stores: Vec<Arc<Store>>,
    pub(crate) series_per_store: usize,
}

impl Fleet {
    pub(crate) fn new(series: usize) -> Self {
        Self::with_targets(series, TARGETS)
    }

    pub(crate) fn with_targets(series: usize, targets: usize) -> Self {
        let catalog = Catalog::new();
        let series_per_store = series / targets;
        let limits = Limits { series_max: series, ..Limits::default() };
        let stores = (0..targets).map(|index| {
            let target = Target::new(format!("host-{index:03}.example.com"));
            let store = Scope::new(Arc::clone(&catalog), target, limits).store(Arc::new(NoObserver));
            register(&*store, series_per_store);
            store
        });
        Self { stores: stores.collect(), series_per_store }
    }

    /// Sends one collection to each store. All values differ from those of the round before.
    pub(crate) fn collect(&self, round: u64) {
        let ids = ids(self.series_per_store);
        for (store, target) in self.stores.iter().zip(0..) {
            let values = values(self.series_per_store, round * 1_000 + target);
            send(&**store, &ids, &values);
            complete(&**store, round);
        }
    }

    pub(crate) fn snapshots(&self) -> Vec<Arc<Snapshot>> {
        self.stores.iter().map(|store| store.snapshot()).collect()
    }
}

/// Registers so many series, family by family.
pub(crate) fn register(sink: &dyn DataSink, series: usize) {
    let mut verdicts = Vec::new();
    for family in 0..series.div_ceil(SERIES_PER_FAMILY) {
        let (kind, unit) = if family % 2 == 0 { (Kind::Gauge, "") } else { (Kind::Counter, "seconds") };
        verdicts.clear();
        sink.register_families(
            &[FamilyDef {
                namespace: "",
                object: "Disk Activity",
                item: &format!("Item {family}"),
                part: "",
                kind,
                unit,
                help: "A family of the benchmark",
                origin: "\\Disk Activity(*)\\Item",
                value: ValueKind::F64,
                bounds: &[],
                display: Display::NONE,
            }],
            &mut verdicts,
        );
        let Some(&Verdict::Accepted(id)) = verdicts.first() else {
            panic!("the family is refused: {verdicts:?}")
        };
        let count = SERIES_PER_FAMILY.min(series - family * SERIES_PER_FAMILY);
        let texts: Vec<_> =
            (0..count).map(|index| (format!("{index},disk"), format!("zone-{}", index % 7))).collect();
        let labels: Vec<_> = texts
            .iter()
            .zip(0..)
            .map(|((instance, zone), index): (_, usize)| {
                [("counter_instance", instance.as_str()), ("mode", MODES[index % 8]), ("zone", zone.as_str())]
            })
            .collect();
        let defs: Vec<_> = labels.iter().map(|labels| SeriesDef::new(id, labels, None)).collect();
        verdicts.clear();
        sink.register_series(&defs, &mut verdicts);
        assert!(
            verdicts.iter().all(|verdict| matches!(verdict, Verdict::Accepted(_))),
            "a series is refused"
        );
    }
}

pub(crate) fn ids(series: usize) -> Vec<u32> {
    (0..series).map(|id| u32::try_from(id).expect("ids are small here")).collect()
}

/// One value for each series.
pub(crate) fn values(series: usize, seed: u64) -> Vec<f64> {
    let mut random = Random(seed);
    (0..series)
        .map(|index| {
            let bits = random.draw();
            #[expect(clippy::cast_precision_loss, reason = "any number will do")]
            match index % 3 {
                0 => (bits >> 24) as f64,
                1 => (bits >> 40) as f64 / 1e3,
                _ => (bits >> 11) as f64 / 1e16,
            }
        })
        .collect()
}

/// Sends values in batches of the ABI's size.
pub(crate) fn send(sink: &dyn DataSink, ids: &[u32], values: &[f64]) {
    for (ids, values) in ids.chunks(BATCH_ROWS).zip(values.chunks(BATCH_ROWS)) {
        let batch = Batch { ids, values: Column::F64(values), timestamps: None, start_times: None };
        let outcome = sink.batch(&batch);
        assert_eq!(outcome.stored, ids.len() as u64, "every row is stored");
    }
}

pub(crate) fn complete(sink: &dyn DataSink, collection: u64) {
    sink.complete(CollectionId(collection), Completion { outcome: Outcome::Full, stages: &[] });
}

/// Numbers without a pattern that a cache or a branch predictor could learn (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = usize::try_from(self.draw() % (last as u64 + 1)).unwrap_or(0);
            items.swap(last, other);
        }
    }
}
