//! Protobuf pages, read by prometheus-client's model and compared with its encoder.

use std::time::Duration;

use exposition::testing::peer;
use exposition::testing::plugin::{
    complete, counter, family, gauge, histogram, instances, send, send_column, store, store_with,
};
use exposition::{Encoder, Format, OwnMetrics, page, page_bytes};
use plugin_abi::{Batch, Column, DataSink, FamilyDef, HistogramBatch, Kind, Outcome, SeriesDef, ValueKind};
use prometheus_client::encoding::prometheus_protobuf;
use prometheus_client::metrics::histogram::{Histogram, NativeHistogramConfig};
use prometheus_client::registry::{Registry, Unit};
use series::pipeline::{Catalog, Limits};

use crate::protobuf_reader::families;

/// The judge is `prometheus_client`'s encoder.
#[test]
fn messages_are_those_of_prometheus_client() {
    let catalog = Catalog::new();
    let long = "x".repeat(300);
    let stores = ["web1", "web\"2\n"].map(|name| store_with(&catalog, name, Limits::default()));
    for store in &stores {
        let names = ["0", "C:\\", "\"quoted\"\n", "ä", &long, "1", "a,b=\"{}", "2"];
        let ids = instances(store, &gauge("A"), &names);
        send(store, &ids, &[0.25, f64::NEG_INFINITY, -1e-3, 0.0, 1e300, 5.0, 6.0, 7.0]);
        let ids = instances(store, &FamilyDef { unit: "bytes", help: "Some\nhelp \\", ..gauge("B") }, &["0"]);
        send(store, &ids, &[2.5]);
        let def = FamilyDef { unit: "seconds", help: "More help", value: ValueKind::U64, ..counter("C") };
        let ids = instances(store, &def, &["0", "1"]);
        send_column(store, &ids, Column::U64(&[u64::MAX, 7]));
        let ids = instances(store, &FamilyDef { kind: Kind::Info, ..gauge("D") }, &["text"]);
        send(store, &ids, &[1.0]);
        complete(store, Outcome::Full);
    }
    let snapshots: Vec<_> = stores.iter().map(|store| store.snapshot()).collect();
    let registry = peer::Peer::registry(&peer::Strings::of(&snapshots), &snapshots);
    let theirs = prometheus_protobuf::encode(&registry).unwrap();
    let whole = page_bytes(Format::Protobuf, snapshots.clone(), None);
    assert_eq!(families(&whole).unwrap(), theirs);

    for chunk_bytes in [1, 100, 1_000_000] {
        let (mut pieces, mut bytes) = (0, Vec::new());
        let mut encoder =
            Encoder::new(Format::Protobuf, snapshots.clone(), None).with_chunk_bytes(chunk_bytes);
        while encoder.next_chunk(&mut bytes) {
            pieces += 1;
        }
        assert_eq!((bytes == whole, pieces > 1), (true, chunk_bytes < 1_000_000));
    }
}

#[test]
fn start_times_are_told_where_they_are_known() {
    let store = store("web1");
    let id = family(&store, &counter("A")).unwrap();
    let labels = ["0", "1", "2"].map(|value| [("i", value)]);
    let starts = [Some(1_700_000_000_120_000_000), None, Some(-5)];
    let defs: Vec<_> = labels
        .iter()
        .zip(starts)
        .map(|(labels, start_time_unix_nanos)| SeriesDef::new(id, labels, start_time_unix_nanos))
        .collect();
    let mut verdicts = Vec::new();
    store.register_series(&defs, &mut verdicts);
    let values = Column::F64(&[1.0, 2.0, 3.0]);
    store.batch(&Batch { ids: &[0, 1, 2], values, timestamps: None, start_times: None });
    complete(&store, Outcome::Full);

    let read = families(&page_bytes(Format::Protobuf, vec![store.snapshot()], None)).unwrap();
    let starts = read[0].metric.iter().map(|metric| {
        let start = metric.counter.as_ref().unwrap().start_timestamp.as_ref();
        start.map(|time| (time.seconds, time.nanos))
    });
    assert_eq!(starts.collect::<Vec<_>>(), [Some((1_700_000_000, 120_000_000)), None, None]);
    assert_eq!(
        page(Format::OpenMetrics, vec![store.snapshot()], None),
        "# TYPE perfmon_x_a counter\n\
         perfmon_x_a_total{target=\"web1\",i=\"0\"} 1\n\
         perfmon_x_a_created{target=\"web1\",i=\"0\"} 1700000000.12\n\
         perfmon_x_a_total{target=\"web1\",i=\"1\"} 2\n\
         perfmon_x_a_total{target=\"web1\",i=\"2\"} 3\n\
         # EOF\n"
    );
    assert!(!page(Format::Text, vec![store.snapshot()], None).contains("_created"));
}

#[test]
fn a_new_start_time_is_told_from_then_on() {
    let store = store("web1");
    let mut verdicts = Vec::new();
    store.register_families(&[counter("A"), histogram("B", &[1.0])], &mut verdicts);
    let began = Some(1_500_000_000_000_000_000);
    let series = |family| SeriesDef::new(family, &[], began);
    store.register_series(&[series(0), series(1)], &mut verdicts);
    for collection in 0..8 {
        let restarted = [1_700_000_000_000_000_000];
        let start_times = Some(&restarted[..]).filter(|_| collection == 2);
        store.batch(&Batch { ids: &[0], values: Column::F64(&[1.0]), timestamps: None, start_times });
        let (counts, sums) = (&[1, 0][..], &[0.5][..]);
        let (family, buckets, ids, timestamps) = (1, 2, &[1][..], None);
        store.histograms(&HistogramBatch { family, buckets, ids, counts, sums, timestamps, start_times });
        complete(&store, Outcome::Full);
        let expected = if collection < 2 { 1_500_000_000 } else { 1_700_000_000 };
        let text = page(Format::OpenMetrics, vec![store.snapshot()], None);
        for name in ["perfmon_x_a_created", "perfmon_x_b_created"] {
            assert!(text.contains(&format!("{name}{{target=\"web1\"}} {expected}")), "{collection}: {text}");
        }
        let read = families(&page_bytes(Format::Protobuf, vec![store.snapshot()], None)).unwrap();
        let [counter, histogram] = [&read[0].metric[0], &read[1].metric[0]];
        let counter = counter.counter.as_ref().unwrap().start_timestamp.as_ref();
        let histogram = histogram.histogram.as_ref().unwrap().start_timestamp.as_ref();
        for start in [counter, histogram] {
            assert_eq!(start.map(|time| time.seconds), Some(expected), "collection {collection}");
        }
    }
}

/// A registry with each kind of histogram.
fn histograms() -> Registry {
    let mut registry = Registry::with_prefix("perfmon_exporter");
    let native = || NativeHistogramConfig::new(1.1).max_buckets(100).min_reset_duration(Duration::ZERO);
    let observed = |histogram: Histogram| {
        [0.0, 0.004, 0.5, 0.5, 3.0, -2.0].into_iter().for_each(|value| histogram.observe(value));
        histogram
    };
    let classic = observed(Histogram::new([0.005, 1.0]));
    registry.register_with_unit("classic", "Classic", Unit::Seconds, classic);
    let both = observed(Histogram::new_classic_and_native([0.005, 1.0], native()));
    registry.register_with_unit("both", "Both", Unit::Seconds, both);
    registry.register("sparse", "Native alone", observed(Histogram::new_native(native())));
    registry.register("empty", "Native, nothing observed", Histogram::new_native(native()));
    registry
}

#[test]
fn native_histograms_of_the_exporter_reach_protobuf() {
    let registry = histograms();
    let theirs = prometheus_protobuf::encode(&registry).unwrap();
    let own = OwnMetrics::read(&registry).unwrap();
    let ours = families(&page_bytes(Format::Protobuf, Vec::new(), Some(own))).unwrap();
    assert_eq!(ours, theirs);
    let sparse = ours.iter().find(|family| family.name == "perfmon_exporter_sparse").unwrap();
    let histogram = sparse.metric[0].histogram.as_ref().unwrap();
    assert!(!histogram.positive_span.is_empty() && !histogram.negative_delta.is_empty());
    assert_eq!((histogram.sample_count, histogram.zero_count), (6, 1));
}

#[test]
fn readers_of_text_get_the_classic_side_of_histograms() {
    let own = OwnMetrics::read(&histograms()).unwrap();
    let page = page(Format::Text, Vec::new(), Some(own));
    let samples = crate::text_reader::parse(Format::Text, &page).unwrap();
    let of = |name: &str| samples.keys().filter(|(sample, _)| sample.contains(name)).count();
    assert_eq!((of("both"), of("classic"), of("sparse")), (5, 5, 3), "{page}");
}
