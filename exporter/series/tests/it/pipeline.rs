//! What a plugin sends in one collection after another, and what is then there.

use std::sync::Arc;

use expect_test::{Expect, expect};
use exposition::testing::plugin::{
    complete, failure, family, gauge, instances, samples, send, series, store,
};
use plugin_abi::{BatchOutcome, DataSink, Outcome};
use series::model::Target;
use series::pipeline::{Catalog, Limits, NoObserver, Scope, Store};

pub(crate) fn check(store: &Arc<Store>, expected: &Expect) {
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
