//! Snapshots: their values, times and ids, and what they cost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use expect_test::expect;
use exposition::testing::plugin::{
    complete, counter, failure, family, gauge, histogram, instances, send, send_column, store,
};
use plugin_abi::{
    Batch, CollectionId, Column, Completion, DataSink, FamilyDef, HistogramBatch, Outcome, SeriesDef,
    ValueKind,
};
use series::model::Target;
use series::pipeline::{Catalog, Limits, Scope, Store, StoreObserver};

use crate::pipeline::check;

#[test]
fn integers_stay_exact() {
    let store = store("web1");
    let unsigned = instances(&store, &FamilyDef { value: ValueKind::U64, ..counter("U") }, &["0", "1"]);
    let signed = instances(&store, &FamilyDef { value: ValueKind::I64, ..gauge("S") }, &["0"]);
    send_column(&store, &unsigned, Column::U64(&[u64::MAX, (1 << 53) + 1]));
    send_column(&store, &signed, Column::I64(&[i64::MIN]));
    complete(&store, Outcome::Full);
    check(
        &store,
        &expect![[r#"
            perfmon_x_s{target="web1",counter_instance="0"} -9223372036854775808
            perfmon_x_u_total{target="web1",counter_instance="0"} 18446744073709551615
            perfmon_x_u_total{target="web1",counter_instance="1"} 9007199254740993
        "#]],
    );
}

#[test]
fn start_times_come_from_registration_and_from_batches() {
    let store = store("web1");
    let id = family(&store, &counter("A")).unwrap();
    let mut verdicts = Vec::new();
    let labels = [[("i", "0")], [("i", "1")], [("i", "2")]];
    let defs: Vec<_> = labels
        .iter()
        .zip([Some(5), None, None])
        .map(|(labels, start_time_unix_nanos)| SeriesDef::new(id, labels, start_time_unix_nanos))
        .collect();
    store.register_series(&defs, &mut verdicts);
    store.batch(&Batch {
        ids: &[0, 1, 2],
        values: Column::F64(&[1.0, 2.0, 3.0]),
        timestamps: None,
        start_times: Some(&[0, 7, 0]),
    });
    complete(&store, Outcome::Full);
    assert_eq!(starts(&store), [Some(5), Some(7), None]);
}

/// The start times of all series of the last collection.
fn starts(store: &Store) -> Vec<Option<i64>> {
    let snapshot = store.snapshot();
    let points = snapshot.families().flat_map(|family| family.points().collect::<Vec<_>>());
    points.map(|point| point.start_time_unix_nanos).collect()
}

#[test]
fn a_start_time_holds_until_another_one_is_given() {
    let store = store("web1");
    let (count, waits) = (counter("A"), histogram("Waits", &[1.0]));
    let mut verdicts = Vec::new();
    store.register_families(&[count, waits], &mut verdicts);
    let series = |family| SeriesDef::new(family, &[], Some(5));
    store.register_series(&[series(0), series(1)], &mut verdicts);
    let collect = |start: i64, outcome: Outcome<'_>| {
        let start = [start];
        let start_times = Some(&start[..]).filter(|_| start != [0]);
        store.batch(&Batch { ids: &[0], values: Column::F64(&[1.0]), timestamps: None, start_times });
        let (counts, sums) = (&[1, 0][..], &[0.5][..]);
        let (family, buckets, ids, timestamps) = (1, 2, &[1][..], None);
        store.histograms(&HistogramBatch { family, buckets, ids, counts, sums, timestamps, start_times });
        complete(&store, outcome);
    };
    for (start, expected) in [(0, 5), (7, 7), (0, 7), (0, 7), (0, 7), (0, 7), (9, 9), (0, 9), (0, 9)] {
        collect(start, Outcome::Full);
        assert_eq!(starts(&store), [Some(expected); 2]);
    }
    // What a failed collection said of the start is true all the same, and is not said again.
    collect(11, Outcome::Failed(failure()));
    for outcome in [Outcome::Full, Outcome::Partial { families: &[0, 1], failure: None }, Outcome::Full] {
        collect(0, outcome);
        assert_eq!(starts(&store), [Some(11); 2]);
    }
    store.retire(&[0]);
    store.register_series(&[SeriesDef::new(0, &[], None)], &mut verdicts);
    collect(0, Outcome::Full);
    assert_eq!(starts(&store), [None, Some(11)], "another series");
}

/// A clock that goes on by one whenever it is read.
#[derive(Default)]
struct Ticks(AtomicU64);

impl StoreObserver for Ticks {
    fn now_unix_nanos(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

#[test]
fn each_snapshot_has_its_time_and_an_id_that_no_other_of_its_catalog_has() {
    let catalog = Catalog::new();
    let store = |name| {
        let scope = Scope::new(Arc::clone(&catalog), Target::new(name), Limits::default());
        scope.store(Arc::new(Ticks::default()))
    };
    let (one, other) = (store("web1"), store("web2"));
    let seen = |store: &Store| (store.snapshot().id(), store.snapshot().time_unix_nanos());
    assert_eq!(seen(&one), (0, 0), "nothing was published");
    complete(&one, Outcome::Full);
    complete(&other, Outcome::Full);
    assert_eq!((seen(&one), seen(&other)), ((1, 1), (2, 1)));
    // One without series is another one, too.
    complete(&one, Outcome::Failed(failure()));
    assert_eq!(seen(&one), (3, 2));
}

#[test]
fn a_slow_reader_keeps_its_snapshot_unchanged() {
    let store = store("web1");
    let ids = instances(&store, &gauge("A"), &["0"]);
    let mut held = None;
    for value in 0..5_u8 {
        send(&store, &ids, &[f64::from(value)]);
        complete(&store, Outcome::Full);
        held.get_or_insert_with(|| store.snapshot());
    }
    let held = held.unwrap();
    let values: Vec<_> = held
        .families()
        .flat_map(|family| family.points().map(|point| point.value).collect::<Vec<_>>())
        .collect();
    assert_eq!(values, [series::model::Value::F64(0.0)]);
    assert_eq!(Arc::strong_count(&held), 1, "the store has let go of it");
    assert_eq!(Arc::strong_count(held.values()), 1, "and of its values");
}

#[test]
fn a_collection_allocates_nothing_per_sample() {
    expect_steady(&store("web1"));
}

/// Later collections of 10,000 samples allocate nothing for one of them.
pub(crate) fn expect_steady(store: &Store) {
    let names: Vec<String> = (0..10_000).map(|index| index.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ids = instances(store, &gauge("A"), &names);
    let values = vec![1.5; ids.len()];
    let collect = || {
        store.batch(&Batch { ids: &ids, values: Column::F64(&values), timestamps: None, start_times: None });
        store.complete(CollectionId(1), Completion { outcome: Outcome::Full, stages: &[] });
    };
    for _ in 0..3 {
        collect();
    }
    let steady = allocation_counter::measure(collect);
    assert!(steady.count_total <= 4 && steady.bytes_total <= 1_024, "{steady:?}");
}
