//! Names of a profile: what becomes of families, labels and values.

use std::sync::Arc;

use exporter_testing::plugin::{complete, counter, family, gauge, instances, samples, send, send_column};
use plugin_contract::{
    Batch, CollectionId, Column, Completion, DropReason, FamilyDef, InstanceSink, Kind, Outcome, ValueKind,
};
use series::model::{Factor, Target};
use series::pipeline::{
    Catalog, Entry, LabelMap, LabelValue, Limits, MappedMetric, NameMap, NoObserver, Others, Profile, Scope,
    Store,
};

fn entry(item: &str, mode: &str, factor: Option<Factor>) -> Entry {
    let labels =
        LabelMap::default().with_labels(vec![("mode".to_owned(), LabelValue::Fixed(mode.to_owned()))]);
    let (name, kind, unit, help) = ("cpu_total".to_owned(), Kind::Counter, String::new(), String::new());
    let metric = MappedMetric { name, kind, unit, help, factor, labels, is_shared: false, otlp: None };
    Entry {
        namespace: String::new(),
        objects: vec!["X".to_owned()],
        item: item.to_owned(),
        part: String::new(),
        metric,
    }
}

fn store(entries: Vec<Entry>) -> Arc<Store> {
    let profile = Profile::Mapped(Arc::new(NameMap::new(Others::Drop, entries).unwrap()));
    let scope = Scope::with_profile(Catalog::new(), Target::new("web1"), Limits::default(), profile);
    scope.store(Arc::new(NoObserver))
}

#[test]
fn several_families_become_one_metric_and_are_registered_once_each() {
    let store = store(vec![entry("Idle", "idle", None), entry("User", "user", None)]);
    let mut ids = instances(&store, &counter("Idle"), &["0"]);
    // Names of counters are the same in any case, and a gauge may be a counter.
    ids.extend(instances(&store, &gauge("USER"), &["0"]));
    assert_eq!(family(&store, &counter("Idle")), family(&store, &counter("Idle")));
    assert_eq!(family(&store, &gauge("Idle")), Err(DropReason::Duplicate));
    assert_eq!(family(&store, &counter("Other")), Err(DropReason::Rule));
    send(&store, &ids, &[1.0, 2.0]);
    complete(&store, Outcome::Full);
    assert_eq!(
        samples(&[&store]),
        "cpu_total{target=\"web1\",counter_instance=\"0\",mode=\"idle\"} 1\n\
         cpu_total{target=\"web1\",counter_instance=\"0\",mode=\"user\"} 2\n"
    );
}

#[test]
fn integers_stay_exact_where_the_product_is_one() {
    let store = store(vec![
        entry("Kilobytes", "a", Factor::times(1_024.0)),
        entry("Eighths", "b", Factor::divided_by(8.0)),
    ]);
    let whole = |item| FamilyDef { value: ValueKind::U64, ..counter(item) };
    let mut ids = instances(&store, &whole("Kilobytes"), &["0", "1"]);
    ids.extend(instances(&store, &whole("Eighths"), &["0"]));
    send_column(&store, &ids, Column::U64(&[(1 << 53) + 1, u64::MAX, 12]));
    complete(&store, Outcome::Full);
    let samples = samples(&[&store]);
    let values: Vec<&str> = samples.lines().filter_map(|line| line.rsplit(' ').next()).collect();
    assert_eq!(values, ["9223372036854776832", "1.888946593147858e+22", "1.5"]);
}

#[test]
fn a_collection_with_factors_allocates_nothing_per_sample() {
    let store = store(vec![entry("A", "a", Factor::times(1_024.0))]);
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
