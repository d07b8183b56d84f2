//! Histograms that a plugin sends, and what is then there.

use std::sync::Arc;

use expect_test::expect;
use exposition::testing::plugin::{
    complete, counter, failure, family, gauge, histogram, instances, samples, send, send_histograms, series,
    store, store_with,
};
use plugin_abi::{BatchOutcome, DataSink, DropReason, FamilyDef, HistogramBatch, Outcome};
use series::model::{Snapshot, Target};
use series::pipeline::{
    Catalog, Limits, NoObserver, Normalize, Refusal, RelabelConfig, Rule, Rules, Scope, Store,
};

const BOUNDS: &[f64] = &[0.5, 1.0];

/// Counts and sum of each histogram of a snapshot.
fn histograms(snapshot: &Snapshot) -> Vec<(Vec<u64>, f64)> {
    let points = snapshot.families().flat_map(|family| family.points().collect::<Vec<_>>());
    let histograms = points.filter_map(|point| point.histogram);
    histograms.map(|histogram| (histogram.counts.to_vec(), histogram.sum)).collect()
}

/// A store whose families and series go through these rules.
fn ruled(rules: impl IntoIterator<Item = Rule>) -> Arc<Store> {
    let scope = Scope::new(Catalog::new(), Target::new("web1"), Limits::default());
    let normalize = Normalize { rules: Rules::from_iter(rules), ..Normalize::default() };
    scope.ruled_store(Arc::new(NoObserver), normalize)
}

#[test]
fn a_histogram_is_its_buckets_its_sum_and_its_count_beside_other_series() {
    let store = store("web1");
    let numbers = instances(&store, &gauge("A"), &["0"]);
    let ids = instances(&store, &histogram("Waits", BOUNDS), &["0", "1"]);
    send(&store, &numbers, &[4.0]);
    let outcome = send_histograms(&store, 1, &ids, &[(&[1, 2, 3], 5.5), (&[0, 0, 0], 0.0)]);
    assert_eq!(outcome, BatchOutcome { stored: 2, ..BatchOutcome::default() });
    complete(&store, Outcome::Full);
    expect![[r#"
        perfmon_x_a{target="web1",counter_instance="0"} 4
        perfmon_x_waits_bucket{target="web1",counter_instance="0",le="0.5"} 1
        perfmon_x_waits_bucket{target="web1",counter_instance="0",le="1.0"} 3
        perfmon_x_waits_bucket{target="web1",counter_instance="0",le="+Inf"} 6
        perfmon_x_waits_sum{target="web1",counter_instance="0"} 5.5
        perfmon_x_waits_count{target="web1",counter_instance="0"} 6
        perfmon_x_waits_bucket{target="web1",counter_instance="1",le="0.5"} 0
        perfmon_x_waits_bucket{target="web1",counter_instance="1",le="1.0"} 0
        perfmon_x_waits_bucket{target="web1",counter_instance="1",le="+Inf"} 0
        perfmon_x_waits_sum{target="web1",counter_instance="1"} 0
        perfmon_x_waits_count{target="web1",counter_instance="1"} 0
    "#]]
    .assert_eq(&samples(&[&store]));
    let snapshot = store.snapshot();
    assert_eq!((snapshot.series(), snapshot.points()), (11, 3));
    // What is absent from the next collection is gone.
    send_histograms(&store, 1, &ids[1..], &[(&[1, 0, 0], 0.5)]);
    complete(&store, Outcome::Full);
    assert_eq!(histograms(&store.snapshot()), [(vec![1, 0, 0], 0.5)]);
    assert_eq!(store.snapshot().series(), 5);
}

#[test]
fn rows_of_other_families_and_retired_series_are_left_out() {
    let store = store("web1");
    let ids = instances(&store, &histogram("Waits", BOUNDS), &["0", "1"]);
    let other = instances(&store, &histogram("Sizes", BOUNDS), &["0"]);
    let number = instances(&store, &counter("N"), &["0"]);
    store.retire(&ids[1..]);
    let row: (&[u64], f64) = (&[1, 0, 0], 0.5);
    let outcome = send_histograms(&store, 0, &[ids[0], ids[1], other[0], number[0]], &[row; 4]);
    assert_eq!(outcome, BatchOutcome { stored: 1, retired: 1, wrong_kind: 2 });
    // With another number of buckets, and as a number.
    let outcome = send_histograms(&store, 0, &ids[..1], &[(&[1, 0, 0, 0], 0.5)]);
    assert_eq!(outcome.wrong_kind, 1);
    assert_eq!(send(&store, &ids[..1], &[1.0]).wrong_kind, 1);
    complete(&store, Outcome::Full);
    assert_eq!(histograms(&store.snapshot()), [(vec![1, 0, 0], 0.5)]);
    let count = |refusal| store.refusals().count(refusal);
    assert_eq!((count(Refusal::WrongValueKind), count(Refusal::RetiredSeries)), (4, 1));
}

#[test]
fn a_histogram_counts_as_its_bounds_and_three_more_series() {
    let limits = Limits { series_max: 11, ..Limits::default() };
    let store = store_with(&Catalog::new(), "web1", limits);
    let waits = family(&store, &histogram("Waits", BOUNDS)).unwrap();
    let numbers = family(&store, &gauge("A")).unwrap();
    let label = |value| [("i", value)];
    let first = series(&store, waits, &label("0")).unwrap();
    series(&store, waits, &label("1")).unwrap();
    assert_eq!(series(&store, waits, &label("2")), Err(DropReason::Limit), "ten of eleven are taken");
    series(&store, numbers, &label("0")).unwrap();
    assert_eq!(series(&store, numbers, &label("1")), Err(DropReason::Limit));
    store.retire(&[first]);
    for value in ["1", "2", "3", "4", "5"] {
        series(&store, numbers, &label(value)).unwrap();
    }
    assert_eq!(series(&store, numbers, &label("6")), Err(DropReason::Limit));
}

#[test]
fn the_limits_of_an_instance_and_of_a_family_count_histograms_as_that_too() {
    for limits in [
        Limits { instance_series_max: 9, ..Limits::default() },
        Limits { family_series_max: 9, ..Limits::default() },
    ] {
        let store = store_with(&Catalog::new(), "web1", limits);
        let waits = family(&store, &histogram("Waits", BOUNDS)).unwrap();
        series(&store, waits, &[("i", "0")]).unwrap();
        assert_eq!(series(&store, waits, &[("i", "1")]), Err(DropReason::Limit), "{limits:?}");
    }
}

#[test]
fn names_that_samples_of_a_histogram_have_are_no_others() {
    let store = store("web1");
    family(&store, &histogram("Waits", BOUNDS)).unwrap();
    for item in ["Waits Bucket", "Waits Sum", "Waits Count", "Waits Created"] {
        // The native names of gauges avoid these suffixes, those of a rule do not.
        let suffix = item.to_lowercase().replace(' ', "_");
        let rules = [Rule::rename("perfmon_x_other", &format!("perfmon_x_{suffix}")).unwrap()];
        let catalog = Catalog::new();
        let scope = Scope::new(catalog, Target::new("web1"), Limits::default());
        let normalize = Normalize { rules: Rules::from_iter(rules), ..Normalize::default() };
        let store = scope.ruled_store(Arc::new(NoObserver), normalize);
        family(&store, &gauge("Other")).unwrap();
        assert_eq!(family(&store, &histogram("Waits", BOUNDS)), Err(DropReason::Duplicate), "{suffix}");
    }
    // Nor is the name itself, of another kind or with other buckets.
    assert_eq!(family(&store, &gauge("Waits")), Err(DropReason::Duplicate));
    assert_eq!(family(&store, &histogram("Waits", &[1.0])), Err(DropReason::Duplicate));
    assert_eq!(family(&store, &histogram("Waits", BOUNDS)), Ok(0));
}

#[test]
fn targets_may_have_other_buckets_under_one_name() {
    let catalog = Catalog::new();
    let stores = ["web1", "web2"].map(|name| store_with(&catalog, name, Limits::default()));
    for (store, bounds) in stores.iter().zip([&[1.0][..], &[2.0, 4.0]]) {
        let ids = instances(store, &histogram("Waits", bounds), &["0"]);
        send_histograms(store, 0, &ids, &[(&vec![1; bounds.len() + 1], 3.0)]);
        complete(store, Outcome::Full);
    }
    expect![[r#"
        perfmon_x_waits_bucket{target="web1",counter_instance="0",le="1.0"} 1
        perfmon_x_waits_bucket{target="web1",counter_instance="0",le="+Inf"} 2
        perfmon_x_waits_sum{target="web1",counter_instance="0"} 3
        perfmon_x_waits_count{target="web1",counter_instance="0"} 2
        perfmon_x_waits_bucket{target="web2",counter_instance="0",le="2.0"} 1
        perfmon_x_waits_bucket{target="web2",counter_instance="0",le="4.0"} 2
        perfmon_x_waits_bucket{target="web2",counter_instance="0",le="+Inf"} 3
        perfmon_x_waits_sum{target="web2",counter_instance="0"} 3
        perfmon_x_waits_count{target="web2",counter_instance="0"} 3
    "#]]
    .assert_eq(&samples(&[&stores[0], &stores[1]]));
}

#[test]
fn le_is_the_buckets_own_label() {
    let target = Target::new("web1").with_label("le", "configured");
    let store = Scope::new(Catalog::new(), target, Limits::default()).store(Arc::new(NoObserver));
    let waits = family(&store, &histogram("Waits", &[1.0])).unwrap();
    let number = family(&store, &gauge("A")).unwrap();
    let histograms = [series(&store, waits, &[]).unwrap(), series(&store, waits, &[("le", "own")]).unwrap()];
    let number = series(&store, number, &[]).unwrap();
    let row: (&[u64], f64) = (&[1, 0], 0.5);
    send_histograms(&store, waits, &histograms, &[row; 2]);
    send(&store, &[number], &[1.0]);
    complete(&store, Outcome::Full);
    expect![[r#"
        perfmon_x_a{target="web1",le="configured"} 1
        perfmon_x_waits_bucket{target="web1",exported_le="configured",le="1.0"} 1
        perfmon_x_waits_bucket{target="web1",exported_le="configured",le="+Inf"} 1
        perfmon_x_waits_sum{target="web1",exported_le="configured"} 0.5
        perfmon_x_waits_count{target="web1",exported_le="configured"} 1
        perfmon_x_waits_bucket{target="web1",exported_exported_le="configured",exported_le="own",le="1.0"} 1
        perfmon_x_waits_bucket{target="web1",exported_exported_le="configured",exported_le="own",le="+Inf"} 1
        perfmon_x_waits_sum{target="web1",exported_exported_le="configured",exported_le="own"} 0.5
        perfmon_x_waits_count{target="web1",exported_exported_le="configured",exported_le="own"} 1
    "#]]
    .assert_eq(&samples(&[&store]));
}

#[test]
fn rules_see_a_histogram_by_its_familys_name() {
    let send_one = |store: &Arc<Store>| {
        let waits = family(store, &histogram("Waits", &[1.0]))?;
        let id = series(store, waits, &[("i", "0")])?;
        send_histograms(store, waits, &[id], &[(&[1, 0], 0.5)]);
        complete(store, Outcome::Full);
        Ok(samples(&[store]))
    };
    let renamed = send_one(&ruled([Rule::rename("perfmon_x_(.*)", "own_$1").unwrap()])).unwrap();
    assert!(renamed.starts_with("own_waits_bucket{target=\"web1\",i=\"0\",le=\"1.0\"} 1\n"), "{renamed}");
    let dropped = |name| send_one(&ruled([Rule::drop_series(name, &[]).unwrap()]));
    assert_eq!(dropped("perfmon_x_waits"), Err(DropReason::Rule));
    assert!(dropped("perfmon_x_waits_bucket").is_ok(), "there is no family of that name");
    // A name that belongs to another kind, and the buckets' label.
    let refused = send_one(&ruled([Rule::rename("perfmon_x_waits", "waits_total").unwrap()]));
    assert_eq!(refused, Err(DropReason::Invalid));
    let le = RelabelConfig {
        target_label: Some("le".to_owned()),
        replacement: Some("1".to_owned()),
        ..RelabelConfig::default()
    };
    assert_eq!(send_one(&ruled([le.compile(false).unwrap()])), Err(DropReason::Invalid));
}

#[test]
fn a_partial_collection_keeps_the_histograms_that_it_does_not_cover() {
    let store = store("web1");
    let waits = instances(&store, &histogram("Waits", BOUNDS), &["0"]);
    let sizes = instances(&store, &histogram("Sizes", BOUNDS), &["0", "1"]);
    send_histograms(&store, 0, &waits, &[(&[1, 1, 1], 3.0)]);
    send_histograms(&store, 1, &sizes, &[(&[2, 2, 2], 6.0), (&[3, 3, 3], 9.0)]);
    complete(&store, Outcome::Full);
    let first = store.snapshot();
    // A series of it goes, and another takes its id and its room.
    store.retire(&sizes[..1]);
    let new = series(&store, 1, &[("counter_instance", "new")]).unwrap();
    assert_eq!(new, sizes[0]);
    send_histograms(&store, 0, &waits, &[(&[4, 4, 4], 12.0)]);
    complete(&store, Outcome::Partial { families: &[0], failure: None });
    assert_eq!(histograms(&store.snapshot()), [(vec![4; 3], 12.0), (vec![3; 3], 9.0)]);
    assert_eq!(histograms(&first), [(vec![1; 3], 3.0), (vec![2; 3], 6.0), (vec![3; 3], 9.0)]);
    send_histograms(&store, 1, &[new], &[(&[5, 5, 5], 15.0)]);
    complete(&store, Outcome::Partial { families: &[1], failure: Some(failure()) });
    assert_eq!(histograms(&store.snapshot()), [(vec![5; 3], 15.0)]);
}

#[test]
fn what_a_failed_collection_brought_is_not_taken_over() {
    let limits = Limits { keeps_stale: true, ..Limits::default() };
    let store = store_with(&Catalog::new(), "web1", limits);
    let waits = instances(&store, &histogram("Waits", BOUNDS), &["0"]);
    let sizes = instances(&store, &histogram("Sizes", BOUNDS), &["0"]);
    send_histograms(&store, 0, &waits, &[(&[1, 1, 1], 3.0)]);
    send_histograms(&store, 1, &sizes, &[(&[2, 2, 2], 6.0)]);
    complete(&store, Outcome::Full);
    send_histograms(&store, 1, &sizes, &[(&[9, 9, 9], 27.0)]);
    complete(&store, Outcome::Failed(failure()));
    send_histograms(&store, 0, &waits, &[(&[4, 4, 4], 12.0)]);
    complete(&store, Outcome::Partial { families: &[0], failure: None });
    assert_eq!(histograms(&store.snapshot()), [(vec![4; 3], 12.0), (vec![2; 3], 6.0)]);
}

#[test]
fn room_that_histograms_leave_serves_the_next_ones() {
    let store = store("web1");
    let waits = family(&store, &histogram("Waits", BOUNDS)).unwrap();
    let collect = |round: u64| {
        let ids: Vec<u32> =
            (0..100).map(|row| series(&store, waits, &[("i", &format!("{round}.{row}"))]).unwrap()).collect();
        let counts = [round, 0, 1];
        send_histograms(&store, waits, &ids, &vec![(&counts[..], 1.0); 100]);
        complete(&store, Outcome::Full);
        assert!(histograms(&store.snapshot()).iter().all(|(found, _)| *found == counts));
        store.retire(&ids);
        store.footprint().value_bytes
    };
    let bytes: Vec<u64> = (0..20).map(collect).collect();
    assert!(bytes[19] <= 2 * bytes[2], "{bytes:?}");
}

#[test]
fn the_steady_state_allocates_what_a_snapshot_takes_and_no_more() {
    let store = store("web1");
    let def = FamilyDef { unit: "seconds", ..histogram("Waits", BOUNDS) };
    let names: Vec<String> = (0..500).map(|row| row.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ids = instances(&store, &def, &names);
    let (counts, sums) = (vec![7; 1_500], vec![0.5; 500]);
    let collect = || {
        store.histograms(&HistogramBatch {
            family: 0,
            buckets: 3,
            ids: &ids,
            counts: &counts,
            sums: &sums,
            timestamps: None,
            start_times: None,
        });
        complete(&store, Outcome::Full);
    };
    (0..3).for_each(|_| collect());
    let steady = allocation_counter::measure(collect);
    assert!(steady.count_total <= 4, "{steady:?}");
    assert!(steady.bytes_total < 1_000, "{steady:?}");
}
