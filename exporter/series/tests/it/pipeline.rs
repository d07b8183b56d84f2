//! What a plugin sends and what is then there.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use expect_test::{Expect, expect};
use exporter_testing::plugin::{
    complete, counter, failure, family, gauge, instances, samples, send, send_column, series, store,
    store_with,
};
use plugin_contract::{
    Batch, BatchOutcome, CollectionId, Column, Completion, DropReason, FamilyDef, InstanceSink, Kind,
    Outcome, SeriesDef, ValueKind,
};
use series::model::Target;
use series::pipeline::{
    Catalog, FailureStreak, Limits, NoObserver, Normalize, Refusal, Rules, Scope, Store, StoreObserver,
};

use crate::rules::relabel;

fn check(store: &Arc<Store>, expected: &Expect) {
    expected.assert_eq(&samples(&[store]));
}

#[test]
fn nothing_shows_before_the_collection_is_complete() {
    let store = store("web1");
    let ids = instances(&store, &gauge("A"), &["0", "1"]);
    send(&store, &ids, &[1.0, 2.0]);
    check(&store, &expect![""]);
    complete(&store, Outcome::Full);
    check(
        &store,
        &expect![[r#"
            perfmon_x_a{target="web1",counter_instance="0"} 1
            perfmon_x_a{target="web1",counter_instance="1"} 2
        "#]],
    );
}

#[test]
fn after_a_full_collection_what_is_absent_is_gone() {
    let store = store("web1");
    let ids = instances(&store, &gauge("A"), &["0", "1"]);
    send(&store, &ids, &[1.0, 2.0]);
    complete(&store, Outcome::Full);
    send(&store, &ids[1..], &[3.0]);
    complete(&store, Outcome::Full);
    check(
        &store,
        &expect![[r#"
            perfmon_x_a{target="web1",counter_instance="1"} 3
        "#]],
    );
    assert_eq!(store.snapshot().series(), 1);
}

#[test]
fn a_partial_collection_speaks_for_its_families_alone() {
    let store = store("web1");
    let a = instances(&store, &gauge("A"), &["0", "1"]);
    let b = instances(&store, &gauge("B"), &["0", "1"]);
    send(&store, &a, &[1.0, 2.0]);
    send(&store, &b, &[3.0, 4.0]);
    complete(&store, Outcome::Full);
    send(&store, &a[..1], &[5.0]);
    send(&store, &b[..1], &[6.0]);
    complete(&store, Outcome::Partial { families: &[0], failure: None });
    check(
        &store,
        &expect![[r#"
            perfmon_x_a{target="web1",counter_instance="0"} 5
            perfmon_x_b{target="web1",counter_instance="0"} 6
            perfmon_x_b{target="web1",counter_instance="1"} 4
        "#]],
    );
}

#[test]
fn families_that_failed_in_a_partial_collection_are_gone() {
    let store = store("web1");
    let a = instances(&store, &gauge("A"), &["0"]);
    let b = instances(&store, &gauge("B"), &["0"]);
    send(&store, &[a[0], b[0]], &[1.0, 2.0]);
    complete(&store, Outcome::Full);
    send(&store, &a, &[3.0]);
    complete(&store, Outcome::Partial { families: &[0], failure: Some(failure()) });
    check(
        &store,
        &expect![[r#"
            perfmon_x_a{target="web1",counter_instance="0"} 3
        "#]],
    );
}

#[test]
fn a_reused_id_does_not_inherit_the_value_of_the_series_before() {
    let store = store("web1");
    let a = instances(&store, &gauge("A"), &["0", "1"]);
    send(&store, &a, &[1.0, 2.0]);
    complete(&store, Outcome::Full);
    store.retire(&a[..1]);
    assert_eq!(series(&store, 0, &[("counter_instance", "new")]), Ok(a[0]));
    complete(&store, Outcome::Partial { families: &[], failure: None });
    check(
        &store,
        &expect![[r#"
            perfmon_x_a{target="web1",counter_instance="1"} 2
        "#]],
    );
}

#[test]
fn series_vanish_with_the_first_failed_collection() {
    let store = store("web1");
    let ids = instances(&store, &gauge("A"), &["0"]);
    send(&store, &ids, &[1.0]);
    complete(&store, Outcome::Full);
    send(&store, &ids, &[2.0]);
    complete(&store, Outcome::Failed(failure()));
    check(&store, &expect![""]);
    complete(&store, Outcome::Full);
    check(&store, &expect![""]);
    send(&store, &ids, &[3.0]);
    complete(&store, Outcome::Full);
    check(
        &store,
        &expect![[r#"
            perfmon_x_a{target="web1",counter_instance="0"} 3
        "#]],
    );
    store.fail();
    check(&store, &expect![""]);
}

/// Tells of rows in which series outlived failures.
#[derive(Default)]
struct Rows(Mutex<Vec<FailureStreak>>);

impl StoreObserver for Rows {
    fn stale(&self, row: FailureStreak) {
        self.0.lock().unwrap().push(row);
    }
}

fn keeping() -> (Arc<Rows>, Arc<Store>) {
    let limits = Limits { keeps_stale: true, ..Limits::default() };
    let rows = Arc::new(Rows::default());
    let scope = Scope::new(Catalog::new(), Target::new("web1"), limits);
    (Arc::clone(&rows), scope.store(rows))
}

#[test]
fn series_that_outlive_failures_go_when_they_are_too_old() {
    let (rows, store) = keeping();
    let ids = instances(&store, &gauge("A"), &["0"]);
    store.fail();
    assert!(rows.0.lock().unwrap().is_empty(), "there was nothing yet");
    send(&store, &ids, &[1.0]);
    complete(&store, Outcome::Full);
    for _ in 0..9 {
        complete(&store, Outcome::Failed(failure()));
        assert_eq!(store.snapshot().series(), 1);
    }
    let told = rows.0.lock().unwrap().clone();
    assert_eq!(told.len(), 1, "once a row");
    store.expire(told[0]);
    check(&store, &expect![""]);
    complete(&store, Outcome::Failed(failure()));
    check(&store, &expect![""]);
}

#[test]
fn a_row_of_failures_that_ended_ends_nothing_any_more() {
    let (rows, store) = keeping();
    let ids = instances(&store, &gauge("A"), &["0"]);
    for value in [1.0, 2.0] {
        send(&store, &ids, &[value]);
        complete(&store, Outcome::Full);
        store.fail();
    }
    let told = rows.0.lock().unwrap().clone();
    assert_eq!(told.len(), 2);
    store.expire(told[0]);
    assert_eq!(store.snapshot().series(), 1, "they were read anew since");
    store.expire(told[1]);
    assert_eq!(store.snapshot().series(), 0);
}

#[test]
fn of_a_part_that_fails_only_that_part_goes() {
    let (rows, store) = keeping();
    let a = instances(&store, &gauge("A"), &["0"]);
    let b = instances(&store, &gauge("B"), &["0"]);
    send(&store, &[a[0], b[0]], &[1.0, 1.0]);
    complete(&store, Outcome::Full);
    let part = || Outcome::Partial { families: &[0], failure: Some(failure()) };
    send(&store, &a, &[2.0]);
    complete(&store, part());
    assert_eq!(store.snapshot().series(), 2);
    // The next one is under way when the others' time is over.
    send(&store, &a, &[3.0]);
    store.expire(rows.0.lock().unwrap()[0]);
    let left = expect![[r#"
        perfmon_x_a{target="web1",counter_instance="0"} 2
    "#]];
    check(&store, &left);
    complete(&store, part());
    check(
        &store,
        &expect![[r#"
            perfmon_x_a{target="web1",counter_instance="0"} 3
        "#]],
    );
}

#[test]
fn a_part_that_goes_is_that_of_its_families_whatever_rules_made_of_their_names() {
    let limits = Limits { keeps_stale: true, ..Limits::default() };
    let rows = Arc::new(Rows::default());
    let scope = Scope::new(Catalog::new(), Target::new("web1"), limits);
    let split = relabel(
        r#"{"source_labels":["__name__","counter_instance"],"regex":"perfmon_x_a;(.)","target_label":"__name__","replacement":"a_$1"}"#,
    );
    let normalize = Normalize { rules: Rules::from_iter([split]), limits, ..Normalize::default() };
    let store = scope.ruled_store(Arc::clone(&rows) as _, normalize);
    let a = instances(&store, &gauge("A"), &["0", "1"]);
    let b = instances(&store, &gauge("B"), &["0"]);
    send(&store, &[a[0], a[1], b[0]], &[1.0, 1.0, 1.0]);
    complete(&store, Outcome::Full);
    send(&store, &b, &[2.0]);
    complete(&store, Outcome::Partial { families: &[1], failure: Some(failure()) });
    store.expire(rows.0.lock().unwrap()[0]);
    check(
        &store,
        &expect![[r#"
            perfmon_x_b{target="web1",counter_instance="0"} 2
        "#]],
    );
}

#[test]
fn retired_series_are_gone_and_their_names_free() {
    let store = store("web1");
    let ids = instances(&store, &gauge("A"), &["0", "1"]);
    store.retire(&[ids[0], ids[0], 77]);
    assert_eq!(send(&store, &ids, &[1.0, 2.0]), BatchOutcome { stored: 1, retired: 1, wrong_kind: 0 });
    assert_eq!(series(&store, 0, &[("counter_instance", "0")]), Ok(ids[0]));
    complete(&store, Outcome::Full);
    check(
        &store,
        &expect![[r#"
            perfmon_x_a{target="web1",counter_instance="1"} 2
        "#]],
    );
}

#[test]
fn many_series_come_and_go_without_leaving_anything() {
    let catalog = Catalog::new();
    let scope = Scope::new(catalog, Target::new("web1"), Limits::default());
    let store = scope.store(Arc::new(NoObserver));
    let id = family(&store, &gauge("A")).unwrap();
    let names: Vec<String> = (0..5_000).map(|index| format!("process {index}")).collect();
    let mut live: Vec<u32> = Vec::new();
    for round in 0..20_usize {
        let fresh = names.iter().skip(round * 200).take(1_000);
        store.retire(&live);
        live = fresh.map(|name| series(&store, id, &[("counter_instance", name)]).unwrap()).collect();
        send(&store, &live, &vec![1.0; live.len()]);
        complete(&store, Outcome::Full);
        assert_eq!(samples(&[&store]).lines().count(), 1_000);
        assert_eq!(scope.series(), 1_000);
    }
    assert!(live.iter().all(|&id| id < 1_000), "ids are given out again");
    drop(store);
    assert_eq!(scope.series(), 0);
}

#[test]
fn after_a_reset_everything_begins_anew() {
    let store = store("web1");
    let ids = instances(&store, &gauge("A"), &["0"]);
    send(&store, &ids, &[1.0]);
    complete(&store, Outcome::Full);
    store.reset();
    assert_eq!(send(&store, &ids, &[2.0]), BatchOutcome { stored: 0, retired: 1, wrong_kind: 0 });
    assert_eq!(instances(&store, &gauge("B"), &["9"]), [0]);
    complete(&store, Outcome::Partial { families: &[], failure: None });
    check(&store, &expect![""]);
}

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
fn values_of_another_kind_than_the_familys_are_counted_and_left_out() {
    let store = store("web1");
    let ids = instances(&store, &gauge("A"), &["0"]);
    let outcome = send_column(&store, &ids, Column::U64(&[1]));
    assert_eq!(outcome, BatchOutcome { stored: 0, retired: 0, wrong_kind: 1 });
    complete(&store, Outcome::Full);
    check(&store, &expect![""]);
    assert_eq!(store.refusals().count(Refusal::WrongValueKind), 1);
}

#[test]
fn a_counter_that_cannot_be_one_is_left_out() {
    let store = store("web1");
    let ids = instances(&store, &counter("A"), &["0", "1", "2", "3"]);
    send(&store, &ids, &[f64::NAN, -1.0, f64::INFINITY, 4.0]);
    complete(&store, Outcome::Full);
    check(
        &store,
        &expect![[r#"
            perfmon_x_a_total{target="web1",counter_instance="2"} +Inf
            perfmon_x_a_total{target="web1",counter_instance="3"} 4
        "#]],
    );
    assert_eq!(store.refusals().count(Refusal::InvalidCount), 2);
}

#[test]
fn the_same_series_is_taken_once_whichever_instance_brings_it() {
    let scope = Scope::new(Catalog::new(), Target::new("web1"), Limits::default());
    let (first, second) = (scope.store(Arc::new(NoObserver)), scope.store(Arc::new(NoObserver)));
    let taken = instances(&first, &gauge("A"), &["0"]);
    let id = family(&second, &gauge("A")).unwrap();
    assert_eq!(series(&second, id, &[("counter_instance", "0")]), Err(DropReason::Duplicate));
    assert_eq!(series(&second, id, &[("counter_instance", "0"), ("empty", "")]), Err(DropReason::Duplicate));
    assert_eq!(second.refusals().count(Refusal::DuplicateSeries), 2);
    first.retire(&taken);
    assert!(series(&second, id, &[("counter_instance", "0")]).is_ok());
}

#[test]
fn the_order_of_labels_makes_no_other_series() {
    let store = store("web1");
    let id = family(&store, &gauge("A")).unwrap();
    assert!(series(&store, id, &[("a", "1"), ("b", "2")]).is_ok());
    assert_eq!(series(&store, id, &[("b", "2"), ("a", "1")]), Err(DropReason::Duplicate));
}

#[test]
fn families_that_collide_are_refused_or_shared() {
    let catalog = Catalog::new();
    let first = store_with(&catalog, "web1", Limits::default());
    let second = store_with(&catalog, "web2", Limits::default());
    let id = family(&first, &gauge("A b")).unwrap();
    assert_eq!(family(&first, &gauge("A b")), Ok(id), "the same again");
    assert_eq!(family(&first, &gauge("A-b")), Err(DropReason::Duplicate), "another counter of that name");
    let unknown = FamilyDef { kind: Kind::Unknown, ..gauge("A b") };
    assert_eq!(family(&second, &unknown), Err(DropReason::Duplicate), "another kind");
    assert!(family(&second, &FamilyDef { help: "other", ..gauge("A-b") }).is_ok(), "another target's help");
    assert_eq!(first.refusals().count(Refusal::FamilyCollision), 1);
    assert_eq!(second.refusals().count(Refusal::FamilyCollision), 1);
}

#[test]
fn limits_are_kept_and_counted_by_reason() {
    let limits = Limits {
        series_max: 2,
        families_max: 2,
        labels_max: 1,
        label_value_bytes_max: 4,
        name_bytes_max: 20,
        ..Limits::default()
    };
    let store = store_with(&Catalog::new(), "web1", limits);
    assert_eq!(family(&store, &gauge("A name that is too long")), Err(DropReason::Invalid));
    let id = family(&store, &gauge("A")).unwrap();
    assert!(family(&store, &gauge("B")).is_ok());
    assert_eq!(family(&store, &gauge("C")), Err(DropReason::Limit));
    assert_eq!(series(&store, 9, &[]), Err(DropReason::UnknownFamily));
    assert_eq!(series(&store, id, &[("a", "1"), ("b", "2")]), Err(DropReason::Limit));
    assert_eq!(series(&store, id, &[("a", "12345")]), Err(DropReason::Invalid));
    assert!(series(&store, id, &[("a", "1")]).is_ok());
    assert!(series(&store, id, &[("a", "2")]).is_ok());
    assert_eq!(series(&store, id, &[("a", "3")]), Err(DropReason::Limit));
    let counts: Vec<String> =
        store.refusals().iter().map(|(refusal, count)| format!("{} {count}", refusal.as_str())).collect();
    assert_eq!(
        counts,
        [
            "series_limit 1",
            "family_limit 1",
            "too_many_labels 1",
            "label_too_long 1",
            "name_too_long 1",
            "unknown_family 1"
        ]
    );
}

#[test]
fn start_times_come_from_registration_and_from_batches() {
    let store = store("web1");
    let id = family(&store, &counter("A")).unwrap();
    let mut verdicts = Vec::new();
    let labels = [[("i", "0")], [("i", "1")], [("i", "2")]];
    let starts = [Some(5), None, None];
    let defs: Vec<_> = labels
        .iter()
        .zip(starts)
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
    let snapshot = store.snapshot();
    let starts: Vec<_> = snapshot
        .families()
        .flat_map(|family| family.points().map(|point| point.start_time_unix_nanos).collect::<Vec<_>>())
        .collect();
    assert_eq!(starts, [Some(5), Some(7), None]);
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
    let store = store("web1");
    let names: Vec<String> = (0..10_000).map(|index| index.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ids = instances(&store, &gauge("A"), &names);
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
