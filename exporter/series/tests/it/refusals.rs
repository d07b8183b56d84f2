//! What a store refuses of a plugin's families, series and values, and how it counts that.

use std::sync::Arc;

use expect_test::expect;
use exposition::testing::plugin::{
    complete, counter, family, gauge, instances, send, send_column, series, store, store_with,
};
use plugin_abi::{BatchOutcome, Column, DataSink, DropReason, FamilyDef, Kind, Outcome};
use series::model::Target;
use series::pipeline::{Catalog, Limits, NoObserver, Refusal, Scope};

use crate::pipeline::check;

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
