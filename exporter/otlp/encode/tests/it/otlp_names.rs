//! Names that are others in OTLP than on pages.

use std::sync::Arc;

use exporter_testing::plugin::{complete, counter, gauge, instances, samples, send};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, NumberDataPoint};
use otlp_encode::Temporality;
use plugin_contract::{FamilyDef, Kind, Outcome};
use series::model::{OtlpNames, Target};
use series::pipeline::{
    Catalog, Entry, LabelMap, LabelValue, Limits, MappedMetric, NameMap, NoObserver, Others, Profile, Scope,
};

use crate::otlp_encode::{T1, encode, part};

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

#[test]
fn a_metric_has_the_name_unit_and_attributes_that_are_said_for_otlp() {
    let names = |name: &str, unit: &str, is_sum| OtlpNames {
        name: name.to_owned(),
        unit: unit.to_owned(),
        is_sum,
        attributes: vec![("cpu_mode".to_owned(), "cpu.mode".to_owned())],
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
    let map = NameMap::new(Others::Drop, entries).unwrap();
    let profile = Profile::Mapped(Arc::new(map));
    let scope = Scope::with_profile(Catalog::new(), Target::new("web1"), Limits::default(), profile);
    let store = scope.store(Arc::new(NoObserver));
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
