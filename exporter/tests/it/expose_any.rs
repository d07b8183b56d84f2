//! Whatever strings and values a plugin sends, the page is one.

use std::sync::Arc;

use perfmon_exporter::expose::{Format, page};
use perfmon_exporter::model::{Snapshot, Target, Value};
use perfmon_exporter::pipeline::{Catalog, Limits, NoObserver, Scope, Store};
use plugin_host::InstanceSink;
use plugin_host::sink::{Column, FamilyDef, Kind, Outcome, SeriesDef, ValueKind, Verdict};
use proptest::prelude::*;

use crate::expose_parser::parse;
use crate::pipeline_plugin::{complete, send_column};

/// Texts that are hard on encoders, and any others. Few enough that names collide.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec![
            "", "a", "A", "a total", "Total", "info", "Count", "created", "bucket", "a\"b", "\\", "\n", "\r\n", "\0",
            "seconds", "Bytes/sec", "% a", "é", "日本", "{}", "=\"", " # {", "# EOF", "\u{2028}", "exporter", "rpc", "1",
            "target", "exported_target", "__name__", "le", "_",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

#[derive(Clone, Debug)]
struct AnyFamily {
    texts: [String; 7],
    kind: Kind,
    value: ValueKind,
    series: Vec<(Vec<(String, String)>, u64)>,
}

fn family() -> impl Strategy<Value = AnyFamily> {
    let kind = prop::sample::select(vec![Kind::Gauge, Kind::Counter, Kind::Info, Kind::Unknown]);
    let value = prop::sample::select(vec![ValueKind::F64, ValueKind::U64, ValueKind::I64]);
    let labels = prop::collection::vec((text(), text()), 0..4);
    let bits = prop_oneof![
        any::<u64>(),
        any::<f64>().prop_map(f64::to_bits),
        prop::num::f64::ANY.prop_map(f64::to_bits)
    ];
    let series = prop::collection::vec((labels, bits), 0..4);
    let texts = prop::array::uniform7(text());
    (texts, kind, value, series).prop_map(|(texts, kind, value, series)| AnyFamily {
        texts,
        kind,
        value,
        series,
    })
}

/// Registers and sends; what is refused is not sent.
fn collect(store: &Store, families: &[AnyFamily]) {
    for family in families {
        let [namespace, object, item, part, unit, help, origin] = family.texts.each_ref().map(String::as_str);
        let (kind, value) = (family.kind, family.value);
        let mut verdicts = Vec::new();
        let def = FamilyDef { namespace, object, item, part, kind, unit, help, origin, value };
        store.register_families(&[def], &mut verdicts);
        let [Verdict::Accepted(id)] = verdicts[..] else { continue };
        for (labels, bits) in &family.series {
            let labels: Vec<(&str, &str)> =
                labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            verdicts.clear();
            let def = SeriesDef { family: id, labels: &labels, start_time_unix_nanos: None };
            store.register_series(&[def], &mut verdicts);
            let [Verdict::Accepted(series)] = verdicts[..] else { continue };
            let outcome = match family.value {
                ValueKind::U64 => send_column(store, &[series], Column::U64(&[*bits])),
                ValueKind::I64 => send_column(store, &[series], Column::I64(&[bits.cast_signed()])),
                _ => send_column(store, &[series], Column::F64(&[f64::from_bits(*bits)])),
            };
            assert_eq!(outcome.stored, 1);
        }
    }
    complete(store, Outcome::Full);
}

/// Every value reads back as the one that the snapshot holds.
fn values_are_exact(snapshots: &[Arc<Snapshot>], written: &[&String]) {
    let number = |value: Value| match value {
        Value::F64(value) if value.is_nan() => "NaN".to_owned(),
        Value::F64(value) => format!("{:?}", value.to_bits()),
        Value::U64(value) => value.to_string(),
        Value::I64(value) => value.to_string(),
    };
    let held: Vec<String> = snapshots
        .iter()
        .flat_map(|snapshot| snapshot.families())
        .filter(|family| family.family().kind != perfmon_exporter::model::Kind::Info)
        .flat_map(|family| family.points().map(|point| number(point.value)).collect::<Vec<_>>())
        .collect();
    let readings = |text: &str| {
        let double =
            text.parse::<f64>().map_or_else(|_| String::new(), |value| format!("{:?}", value.to_bits()));
        [text.to_owned(), double]
    };
    let readings: Vec<[String; 2]> = written.iter().map(|text| readings(text)).collect();
    for value in held {
        assert!(
            readings.iter().flatten().any(|reading| *reading == value),
            "{value} is not among {written:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn no_string_and_no_value_breaks_a_page(
        targets in prop::collection::vec((text(), prop::collection::vec((text(), text()), 0..3), any::<bool>()), 1..3),
        families in prop::collection::vec(family(), 0..6),
    ) {
        let catalog = Catalog::new();
        // The configuration sees to it that targets' names are distinct.
        let snapshots: Vec<_> = targets.into_iter().zip(0..).map(|((name, labels, labelled), index)| {
            let target = Target { name: format!("{index}{name}"), labels, labelled: labelled || index > 0 };
            let store = Scope::new(Arc::clone(&catalog), target, Limits::default()).store(Arc::new(NoObserver));
            collect(&store, &families);
            store.snapshot()
        }).collect();

        let text = page(Format::Text, snapshots.clone(), None);
        let openmetrics = page(Format::OpenMetrics, snapshots.clone(), None);
        let text = parse(Format::Text, &text).map_err(|problem| TestCaseError::fail(format!("{problem}\n{text}")))?;
        let openmetrics = parse(Format::OpenMetrics, &openmetrics)
            .map_err(|problem| TestCaseError::fail(format!("{problem}\n{openmetrics}")))?;
        prop_assert_eq!(&text, &openmetrics);
        let series: usize = snapshots.iter().map(|snapshot| snapshot.series()).sum();
        prop_assert_eq!(text.len(), series);
        values_are_exact(&snapshots, &text.values().collect::<Vec<_>>());
    }
}
