//! Series that outlive failures for a while, and when they go.

use std::sync::Arc;

use expect_test::expect;
use exposition::testing::plugin::{complete, failure, gauge, instances, send};
use parking_lot::Mutex;
use plugin_abi::Outcome;
use series::model::Target;
use series::pipeline::{Catalog, FailureStreak, Limits, Normalize, Rules, Scope, Store, StoreObserver};

use crate::pipeline::check;
use crate::rules::relabel;

/// Tells of rows in which series outlived failures.
#[derive(Default)]
struct Rows(Mutex<Vec<FailureStreak>>);

impl StoreObserver for Rows {
    fn stale(&self, streak: FailureStreak) {
        self.0.lock().push(streak);
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
    assert!(rows.0.lock().is_empty(), "there was nothing yet");
    send(&store, &ids, &[1.0]);
    complete(&store, Outcome::Full);
    for _ in 0..9 {
        complete(&store, Outcome::Failed(failure()));
        assert_eq!(store.snapshot().series(), 1);
    }
    let told = rows.0.lock().clone();
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
    let told = rows.0.lock().clone();
    assert_eq!(told.len(), 2);
    store.expire(told[0]);
    assert_eq!(store.snapshot().series(), 1, "they were read again since");
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
    store.expire(rows.0.lock()[0]);
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
    store.expire(rows.0.lock()[0]);
    check(
        &store,
        &expect![[r#"
            perfmon_x_b{target="web1",counter_instance="0"} 2
        "#]],
    );
}
