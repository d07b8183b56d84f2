//! Names of a profile: what becomes of families, labels and values.

use std::sync::Arc;

use exposition::testing::plugin::{
    complete, counter, family, gauge, instances, samples, send, send_column, series,
};
use plugin_abi::{Column, DataSink, DropReason, FamilyDef, Kind, Outcome, ValueKind};
use series::model::{Factor, Target};
use series::pipeline::{
    Catalog, Entry, LabelMap, LabelValue, Limits, MappedMetric, NameMap, NoObserver, Normalize, Others,
    Profile, Rules, Scope, Store,
};

use crate::rules::relabel;
use crate::snapshots::expect_steady;

fn entry(item: &str, mode: &str, factor: Option<Factor>) -> Entry {
    let labels =
        LabelMap::default().with_labels(vec![("mode".to_owned(), LabelValue::Fixed(mode.to_owned()))]);
    let (name, kind, unit, help) = ("cpu_total".to_owned(), Kind::Counter, String::new(), String::new());
    let also = Vec::new();
    let metric = MappedMetric { name, also, kind, unit, help, factor, labels, is_shared: false, otlp: None };
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
fn a_star_in_a_countersets_name_becomes_a_label() {
    let labels = vec![("server".to_owned(), LabelValue::Star("DEFAULT".to_owned()))];
    let mut entry = entry("Pages", "", None);
    entry.objects = ["Server:Buffers", "NAMED$*:Buffers"].map(str::to_owned).to_vec();
    entry.metric.labels = LabelMap::default().with_labels(labels);
    let store = store(vec![entry]);
    let mut ids = Vec::new();
    for object in ["Server:Buffers", "named$ßeta:buffers", "NAMED$A:Buffers"] {
        ids.extend(instances(&store, &FamilyDef { object, ..counter("Pages") }, &[""]));
    }
    for object in ["NAMED$A:Locks", "NAMED:Buffers", "NAMED$Buffers"] {
        let def = FamilyDef { object, ..counter("Pages") };
        assert_eq!(family(&store, &def), Err(DropReason::Rule), "{object}");
    }
    send(&store, &ids, &[1.0, 2.0, 3.0]);
    complete(&store, Outcome::Full);
    assert_eq!(
        samples(&[&store]),
        "cpu_total{target=\"web1\",server=\"DEFAULT\"} 1\n\
         cpu_total{target=\"web1\",server=\"ßeta\"} 2\n\
         cpu_total{target=\"web1\",server=\"A\"} 3\n"
    );
}

fn two_names(factor: Option<Factor>) -> Entry {
    let mut entry = entry("Busy", "a", factor);
    entry.metric.also = vec!["cpu_busy_total".to_owned()];
    entry
}

const BOTH: &str = "cpu_total{target=\"web1\",counter_instance=\"1\",mode=\"a\"} 6\n\
                    cpu_busy_total{target=\"web1\",counter_instance=\"1\",mode=\"a\"} 6\n";

#[test]
fn one_value_has_both_of_its_names_until_it_goes() {
    let store = store(vec![two_names(Factor::times(2.0))]);
    let ids = instances(&store, &counter("Busy"), &["0", "1"]);
    send(&store, &ids, &[1.0, 3.0]);
    complete(&store, Outcome::Full);
    assert_eq!(store.snapshot().series(), 4);
    store.retire(&ids[..1]);
    send(&store, &ids, &[1.0, 3.0]);
    complete(&store, Outcome::Full);
    assert_eq!(samples(&[&store]), BOTH);
    assert_eq!(store.snapshot().series(), 2);
    // Both names of the instance that went are free again.
    assert_eq!(series(&store, 0, &[("counter_instance", "0")]), Ok(ids[0]));
}

#[test]
fn rules_change_each_name_of_a_value_for_itself() {
    let ruled = |json: &str| {
        let profile = Profile::Mapped(Arc::new(
            NameMap::new(Others::Drop, vec![two_names(Factor::times(2.0))]).unwrap(),
        ));
        let scope = Scope::new(Catalog::new(), Target::new("web1"), Limits::default());
        let rules = Rules::from_iter([relabel(json)]);
        let store =
            scope.ruled_store(Arc::new(NoObserver), Normalize { profile, rules, ..Normalize::default() });
        let ids = instances(&store, &counter("Busy"), &["0", "1"]);
        send(&store, &ids, &[1.0, 3.0]);
        complete(&store, Outcome::Full);
        store
    };
    let kept = ruled(r#"{"action":"keep","source_labels":["__name__"],"regex":"cpu_busy_total"}"#);
    assert_eq!(
        samples(&[&kept]),
        "cpu_busy_total{target=\"web1\",counter_instance=\"0\",mode=\"a\"} 2\n\
         cpu_busy_total{target=\"web1\",counter_instance=\"1\",mode=\"a\"} 6\n"
    );
    let by_instance =
        ruled(r#"{"action":"drop","source_labels":["__name__","counter_instance"],"regex":"cpu_total;1"}"#);
    assert_eq!(
        samples(&[&by_instance]),
        "cpu_total{target=\"web1\",counter_instance=\"0\",mode=\"a\"} 2\n\
         cpu_busy_total{target=\"web1\",counter_instance=\"0\",mode=\"a\"} 2\n\
         cpu_busy_total{target=\"web1\",counter_instance=\"1\",mode=\"a\"} 6\n"
    );
}

#[test]
fn a_series_has_all_of_its_names_or_none() {
    let profile = Profile::Mapped(Arc::new(NameMap::new(Others::Drop, vec![two_names(None)]).unwrap()));
    let limits = Limits { instance_series_max: 3, ..Limits::default() };
    let store =
        Scope::with_profile(Catalog::new(), Target::new("web1"), limits, profile).store(Arc::new(NoObserver));
    let id = family(&store, &counter("Busy")).unwrap();
    assert_eq!(series(&store, id, &[("counter_instance", "1")]), Ok(0));
    assert_eq!(series(&store, id, &[("counter_instance", "2")]), Err(DropReason::Limit));
    send(&store, &[0, 1], &[6.0, 1.0]);
    complete(&store, Outcome::Full);
    assert_eq!(samples(&[&store]), BOTH);
}

#[test]
fn a_family_has_all_of_its_names_or_none() {
    let entries = vec![two_names(Factor::times(2.0)), entry("User", "user", Factor::times(4.0))];
    let profile = Profile::Mapped(Arc::new(NameMap::new(Others::Drop, entries).unwrap()));
    let limits = Limits { name_bytes_max: "cpu_total".len(), ..Limits::default() };
    let store =
        Scope::with_profile(Catalog::new(), Target::new("web1"), limits, profile).store(Arc::new(NoObserver));
    assert_eq!(family(&store, &counter("Busy")), Err(DropReason::Invalid), "the second name is too long");
    complete(&store, Outcome::Full);
    let ids = instances(&store, &counter("User"), &["1"]);
    send(&store, &ids, &[1.0]);
    complete(&store, Outcome::Full);
    let expected = "cpu_total{target=\"web1\",counter_instance=\"1\",mode=\"user\"} 4\n";
    assert_eq!(samples(&[&store]), expected);
    assert_eq!(store.snapshot().layout().blocks().len(), 1);
}

#[test]
fn a_collection_with_factors_allocates_nothing_per_sample() {
    expect_steady(&store(vec![entry("A", "a", Factor::times(1_024.0))]));
}
