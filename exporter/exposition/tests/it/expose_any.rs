//! Whatever strings and values a plugin sends, the page is one.

use std::sync::Arc;

use exposition::testing::plugin::{complete, send_column, send_histograms};
use exposition::{Escaping, Format, Representation, page, page_bytes};
use plugin_abi::{Column, DataSink, Display, FamilyDef, Kind, Outcome, SeriesDef, ValueKind, Verdict};
use proptest::prelude::*;
use series::model::{Snapshot, Target, Value};
use series::pipeline::{Catalog, Limits, NoObserver, Profile, Scope, Store};

use crate::protobuf_reader;
use crate::text_reader::{Samples, parse};

/// Texts that are hard on encoders, and any others. Few enough that names collide.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec![
            "", "a", "A", "a total", "Total", "info", "Count", "created", "bucket", "a\"b", "\\", "\n", "\r\n", "\0",
            "seconds", "Bytes/sec", "% a", "é", "日本", "{}", "=\"", " # {", "# EOF", "\u{2028}", "exporter", "rpc", "1",
            "target", "exported_target", "__name__", "le", "_", "a.b", "a_b", "a_dot_b", "U__a_2e_b", "a:b", "a.b_total",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

#[derive(Clone, Debug)]
pub(crate) struct AnyFamily {
    texts: [String; 7],
    kind: Kind,
    value: ValueKind,
    bounds: Vec<f64>,
    series: Vec<(Vec<(String, String)>, u64)>,
}

pub(crate) fn family() -> impl Strategy<Value = AnyFamily> {
    let kind =
        prop::sample::select(vec![Kind::Gauge, Kind::Counter, Kind::Info, Kind::Unknown, Kind::Histogram]);
    let value = prop::sample::select(vec![ValueKind::F64, ValueKind::U64, ValueKind::I64]);
    let labels = prop::collection::vec((text(), text()), 0..4);
    let bits = prop_oneof![
        any::<u64>(),
        any::<f64>().prop_map(f64::to_bits),
        prop::num::f64::ANY.prop_map(f64::to_bits)
    ];
    let series = prop::collection::vec((labels, bits), 0..4);
    let texts = prop::array::uniform7(text());
    let bound =
        prop_oneof![Just(0.0), 0.0..10.0, prop::num::f64::POSITIVE.prop_filter("finite", |x| x.is_finite())];
    let bounds = prop::collection::vec(bound, 1..6).prop_map(|mut bounds: Vec<f64>| {
        bounds.sort_by(f64::total_cmp);
        bounds.dedup();
        bounds
    });
    (texts, kind, value, bounds, series).prop_map(|(texts, kind, value, bounds, series)| {
        let is_histogram = kind == Kind::Histogram;
        let value = if is_histogram { ValueKind::Histogram } else { value };
        let bounds = if is_histogram { bounds } else { Vec::new() };
        AnyFamily { texts, kind, value, bounds, series }
    })
}

/// Registers and sends; what is refused is not sent.
pub(crate) fn collect(store: &Store, families: &[AnyFamily]) {
    for family in families {
        let [namespace, object, item, part, unit, help, origin] = family.texts.each_ref().map(String::as_str);
        let (kind, value) = (family.kind, family.value);
        let mut verdicts = Vec::new();
        let def = FamilyDef {
            namespace,
            object,
            item,
            part,
            kind,
            unit,
            help,
            origin,
            value,
            bounds: &family.bounds,
            display: Display::NONE,
        };
        store.register_families(&[def], &mut verdicts);
        let [Verdict::Accepted(id)] = verdicts[..] else { continue };
        for (labels, bits) in &family.series {
            let labels: Vec<(&str, &str)> =
                labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            verdicts.clear();
            let start_time_unix_nanos = Some(bits.cast_signed()).filter(|start| start % 3 == 0);
            let def = SeriesDef::new(id, &labels, start_time_unix_nanos);
            store.register_series(&[def], &mut verdicts);
            let [Verdict::Accepted(series)] = verdicts[..] else { continue };
            let outcome = match family.value {
                ValueKind::U64 => send_column(store, &[series], Column::U64(&[*bits])),
                ValueKind::Histogram => {
                    let counts: Vec<u64> =
                        (0..=family.bounds.len()).map(|bucket| bits >> (4 * bucket + 4)).collect();
                    let sum = f64::from_bits(*bits).abs();
                    send_histograms(
                        store,
                        id,
                        &[series],
                        &[(&counts, if sum.is_finite() { sum } else { 0.5 })],
                    )
                }
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
        .filter(|family| family.family().kind != series::model::Kind::Info)
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

/// The samples of a page, which are the same in each format, without those that say since when a series counts.
pub(crate) fn every_format(snapshots: &[Arc<Snapshot>], escaping: Escaping) -> Result<Samples, String> {
    let text_of = |format| {
        let representation = Representation::newest(format, escaping);
        let page = page(representation, snapshots.to_vec(), None);
        parse(representation, &page).map_err(|problem| format!("{escaping:?}: {problem}\n{page}"))
    };
    let (text, mut openmetrics) = (text_of(Format::Text)?, text_of(Format::OpenMetrics)?);
    openmetrics.retain(|series, _| text.contains_key(series));
    let protobuf = Representation::newest(Format::Protobuf, escaping);
    let protobuf = protobuf_reader::parse(escaping, &page_bytes(protobuf, snapshots.to_vec(), None))?;
    if text != openmetrics {
        return Err(format!("{escaping:?}: {text:?} is not {openmetrics:?}"));
    }
    let doubles = protobuf_reader::as_doubles(&text);
    if doubles == protobuf { Ok(text) } else { Err(format!("{escaping:?}: {doubles:?} is not {protobuf:?}")) }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn no_string_and_no_value_breaks_a_page(
        targets in prop::collection::vec((text(), prop::collection::vec((text(), text()), 0..3), any::<bool>()), 1..3),
        families in prop::collection::vec(family(), 0..6),
        profile in prop::sample::select(vec![Profile::Native, Profile::Verbatim]),
    ) {
        let catalog = Catalog::new();
        // The configuration sees to it that targets' names are distinct.
        let snapshots: Vec<_> = targets.into_iter().zip(0..).map(|((name, labels, labelled), index)| {
            let target = Target { name: format!("{index}{name}"), labels, labelled: labelled || index > 0 };
            let scope = Scope::with_profile(Arc::clone(&catalog), target, Limits::default(), profile.clone());
            let store = scope.store(Arc::new(NoObserver));
            collect(&store, &families);
            store.snapshot()
        }).collect();

        let mut exact = Samples::new();
        for escaping in Escaping::ALL {
            let samples = every_format(&snapshots, escaping).map_err(TestCaseError::fail)?;
            let series: usize = snapshots.iter().map(|snapshot| snapshot.series()).sum();
            prop_assert_eq!(samples.len(), series);
            let mut labels = samples.keys().flat_map(|(_, labels)| labels.keys());
            prop_assert!(profile == Profile::Verbatim || labels.all(|label| !label.starts_with("__")));
            exact = samples;
        }
        let old = page(Format::Text, snapshots.clone(), None);
        parse(Format::Text, &old).map_err(|problem| TestCaseError::fail(format!("{problem}\n{old}")))?;
        values_are_exact(&snapshots, &exact.values().collect::<Vec<_>>());
    }
}
