//! Names that are others in OTLP than on pages.

use std::sync::Arc;

use exposition::testing::plugin::{complete, counter, gauge, instances, samples, send};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, NumberDataPoint};
use otlp::encode::Temporality;
use plugin_abi::{FamilyDef, Kind, Outcome};
use series::model::{OtlpAttribute, OtlpNames, Target};
use series::pipeline::{
    Catalog, Entry, LabelMap, LabelValue, Limits, MappedMetric, NameMap, NoObserver, Others, Profile, Scope,
    Store,
};

use crate::encode::otlp_encode::{T1, encode, part};

fn entry(item: &str, name: &str, kind: Kind, otlp: OtlpNames) -> Entry {
    let from = LabelValue::From {
        label: "counter_instance".to_owned(),
        strip: String::new(),
        after: String::new(),
        until: String::new(),
        underscores: false,
    };
    let labels = LabelMap::default().with_labels(vec![("cpu_mode".to_owned(), from)]);
    let (name, unit) = (name.to_owned(), "seconds".to_owned());
    let metric = MappedMetric {
        name,
        kind,
        unit,
        help: String::new(),
        factor: None,
        labels,
        is_shared: false,
        also: Vec::new(),
        otlp: Some(Arc::new(otlp)),
    };
    Entry {
        namespace: String::new(),
        objects: vec!["X".to_owned()],
        item: item.to_owned(),
        part: String::new(),
        metric,
    }
}

fn attribute(name: &str, is_integer: bool) -> OtlpAttribute {
    OtlpAttribute { label: "cpu_mode".to_owned(), name: name.to_owned(), is_integer }
}

fn store(entries: Vec<Entry>) -> Arc<Store> {
    let profile = Profile::Mapped(Arc::new(NameMap::new(Others::Drop, entries).unwrap()));
    let scope = Scope::with_profile(Catalog::new(), Target::new("web1"), Limits::default(), profile);
    scope.store(Arc::new(NoObserver))
}

// Windows calls logical processors by their group or NUMA node and their number there.
#[test]
fn an_attribute_that_is_an_integer_is_sent_as_one() {
    let names = OtlpNames {
        name: "system.cpu.time".to_owned(),
        unit: "s".to_owned(),
        is_sum: false,
        attributes: vec![attribute("cpu.logical_number", true)],
    };
    let store = store(vec![entry("% User Time", "system_cpu_time_seconds_total", Kind::Counter, names)]);
    let values = ["7", "0,3", "1,0", "0,_Total", "1,64", "-1", "99999999999", "0x7", ""];
    let ids = instances(&store, &FamilyDef { unit: "seconds", ..counter("% User Time") }, &values);
    send(&store, &ids, &[1.0; 9]);
    complete(&store, Outcome::Full);
    let found = encode(vec![part(store.snapshot(), T1, None)], Temporality::Cumulative);
    let scope = &found.resource_metrics[0].scope_metrics[0];
    assert_eq!(scope.schema_url, "https://opentelemetry.io/schemas/1.40.0");
    let Some(Data::Sum(sum)) = &scope.metrics[0].data else { panic!("{scope:?}") };
    let sent = sum.data_points.iter().map(|point| {
        let value = point.attributes.first().and_then(|one| one.value.clone()).and_then(|any| any.value);
        match value {
            Some(Any::IntValue(number)) => number.to_string(),
            Some(Any::StringValue(text)) => format!("{text:?}"),
            other => format!("{other:?}"),
        }
    });
    let expected =
        ["7", "3", "64", "\"0,_Total\"", "\"1,64\"", "\"-1\"", "\"99999999999\"", "\"0x7\"", "None"];
    assert_eq!(sent.collect::<Vec<_>>(), expected);
}

#[test]
fn a_metric_has_the_name_unit_and_attributes_that_are_said_for_otlp() {
    let names = |name: &str, unit: &str, is_sum| OtlpNames {
        name: name.to_owned(),
        unit: unit.to_owned(),
        is_sum,
        attributes: vec![attribute("cpu.mode", false)],
    };
    let entries = vec![
        entry(
            "% User Time",
            "system_cpu_time_seconds_total",
            Kind::Counter,
            names("system.cpu.time", "s", false),
        ),
        entry("Handles", "system_handles_seconds", Kind::Gauge, names("system.handles", "{handle}", true)),
    ];
    let store = store(entries);
    let mut ids = instances(&store, &FamilyDef { unit: "seconds", ..counter("% User Time") }, &["user"]);
    ids.extend(instances(&store, &gauge("Handles"), &["user"]));
    send(&store, &ids, &[1.5, 7.0]);
    complete(&store, Outcome::Full);
    assert!(
        samples(&[&store]).contains("system_cpu_time_seconds_total{target=\"web1\",cpu_mode=\"user\"} 1.5\n")
    );

    for (temporality, expected) in [(Temporality::Cumulative, 2), (Temporality::Delta, 1)] {
        let found = encode(vec![part(store.snapshot(), T1, None)], temporality);
        let metrics = &found.resource_metrics[0].scope_metrics[0].metrics;
        assert_eq!(metrics.len(), expected, "what was counted before the first export is not known");
        for metric in metrics {
            let Some(Data::Sum(sum)) = &metric.data else { panic!("{metric:?}") };
            let is_counter = metric.name == "system.cpu.time";
            let unit = if is_counter { "s" } else { "{handle}" };
            assert!(is_counter || metric.name == "system.handles");
            assert_eq!((&*metric.unit, sum.is_monotonic), (unit, is_counter));
            assert_eq!(sum.aggregation_temporality(), AggregationTemporality::Cumulative);
            let [NumberDataPoint { attributes, .. }] = &*sum.data_points else { panic!("one point") };
            assert_eq!(attributes.iter().map(|one| &*one.key).collect::<Vec<_>>(), ["cpu.mode"]);
        }
    }
}
