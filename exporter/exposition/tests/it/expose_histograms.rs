//! Histograms of a plugin in every format.

use std::sync::Arc;

use expect_test::expect;
use exposition::testing::plugin::{complete, histogram, send_histograms, series, store};
use exposition::{Encoder, Escaping, Format, Representation, page, page_bytes};
use plugin_abi::{DataSink, FamilyDef, HistogramBatch, Outcome, SeriesDef};
use series::model::{Snapshot, Target};
use series::pipeline::{Catalog, Limits, NoObserver, Profile, Scope, Store};

use crate::protobuf_reader::families;
use crate::text_reader::parse;

/// A family in seconds with two series, of which one says since when it counts.
fn snapshot(store: &Arc<Store>, item: &str, bounds: &[f64], sum: f64) -> Arc<Snapshot> {
    let def = FamilyDef { unit: "seconds", help: "How long calls took", ..histogram(item, bounds) };
    let mut verdicts = Vec::new();
    store.register_families(&[def], &mut verdicts);
    let labels = [("method", "GET \"/\"")];
    let starts = [Some(1_700_000_000_120_000_000), None];
    for (labels, start) in [&labels[..], &[]].into_iter().zip(starts) {
        store.register_series(&[SeriesDef::new(0, labels, start)], &mut verdicts);
    }
    let counts: Vec<u64> = (0..=bounds.len() as u64).collect();
    send_histograms(store, 0, &[0, 1], &[(&counts, sum), (&counts, 1e9)]);
    complete(store, Outcome::Full);
    store.snapshot()
}

#[test]
fn text_has_buckets_sum_and_count() {
    let snapshot = snapshot(&store("web1"), "Call Duration", &[0.005, 1.0, 2.5e6], 0.125);
    expect![[r#"
        # HELP perfmon_x_call_duration_seconds How long calls took
        # TYPE perfmon_x_call_duration_seconds histogram
        perfmon_x_call_duration_seconds_bucket{target="web1",method="GET \"/\"",le="0.005"} 0
        perfmon_x_call_duration_seconds_bucket{target="web1",method="GET \"/\"",le="1.0"} 1
        perfmon_x_call_duration_seconds_bucket{target="web1",method="GET \"/\"",le="2.5e+06"} 3
        perfmon_x_call_duration_seconds_bucket{target="web1",method="GET \"/\"",le="+Inf"} 6
        perfmon_x_call_duration_seconds_sum{target="web1",method="GET \"/\""} 0.125
        perfmon_x_call_duration_seconds_count{target="web1",method="GET \"/\""} 6
        perfmon_x_call_duration_seconds_bucket{target="web1",le="0.005"} 0
        perfmon_x_call_duration_seconds_bucket{target="web1",le="1.0"} 1
        perfmon_x_call_duration_seconds_bucket{target="web1",le="2.5e+06"} 3
        perfmon_x_call_duration_seconds_bucket{target="web1",le="+Inf"} 6
        perfmon_x_call_duration_seconds_sum{target="web1"} 1000000000
        perfmon_x_call_duration_seconds_count{target="web1"} 6
    "#]]
    .assert_eq(&page(Format::Text, vec![Arc::clone(&snapshot)], None));
    let openmetrics = page(Format::OpenMetrics, vec![snapshot], None);
    let created =
        "perfmon_x_call_duration_seconds_created{target=\"web1\",method=\"GET \\\"/\\\"\"} 1700000000.12\n";
    assert_eq!(openmetrics.matches("_created").count(), 1, "{openmetrics}");
    assert!(openmetrics.contains(created), "{openmetrics}");
    assert!(openmetrics.contains("# UNIT perfmon_x_call_duration_seconds seconds\n"), "{openmetrics}");
    parse(Format::OpenMetrics, &openmetrics).unwrap();
}

#[test]
fn where_observations_may_be_negative_openmetrics_has_no_sum() {
    let snapshot = snapshot(&store("web1"), "Drift", &[-1.0, 0.0, 1.0], -7.5);
    let text = page(Format::Text, vec![Arc::clone(&snapshot)], None);
    assert!(
        text.contains("le=\"-1.0\"} 0\n")
            && text.contains("_sum{target=\"web1\",method=\"GET \\\"/\\\"\"} -7.5\n")
    );
    // OpenMetrics 1.0: "Sum MUST NOT be present with negative buckets"; and a count only beside a sum.
    let openmetrics = page(Format::OpenMetrics, vec![snapshot], None);
    assert!(!openmetrics.contains("_sum") && !openmetrics.contains("_count"), "{openmetrics}");
    parse(Format::OpenMetrics, &openmetrics).unwrap();
}

#[test]
fn protobuf_has_classic_buckets() {
    let snapshot = snapshot(&store("web1"), "Call Duration", &[0.005, 1.0], 0.125);
    let read = families(&page_bytes(Format::Protobuf, vec![snapshot], None)).unwrap();
    assert_eq!((read.len(), &*read[0].name), (1, "perfmon_x_call_duration_seconds"));
    let [first, second] = &*read[0].metric else { panic!("two series") };
    let labels: Vec<_> = first.label.iter().map(|label| (&*label.name, &*label.value)).collect();
    assert_eq!(labels, [("target", "web1"), ("method", "GET \"/\"")]);
    let (first, second) = (first.histogram.as_ref().unwrap(), second.histogram.as_ref().unwrap());
    assert_eq!((first.sample_count, first.sample_sum, second.sample_sum), (3, 0.125, 1e9));
    let buckets: Vec<_> = first.bucket.iter().map(|one| (one.upper_bound, one.cumulative_count)).collect();
    assert_eq!(buckets, [(0.005, 0), (1.0, 1)]);
    let start =
        |histogram: &prometheus_client::encoding::prometheus_protobuf::prometheus_data_model::Histogram| {
            histogram.start_timestamp.as_ref().map(|time| (time.seconds, time.nanos))
        };
    assert_eq!((start(first), start(second)), (Some((1_700_000_000, 120_000_000)), None));
}

#[test]
fn names_in_quotes_keep_the_suffix_inside() {
    let scope =
        Scope::with_profile(Catalog::new(), Target::new("web1"), Limits::default(), Profile::Verbatim);
    let store = scope.store(Arc::new(NoObserver));
    let snapshot = snapshot(&store, "% Calls", &[1.0], 0.5);
    let lines = |escaping| {
        let page =
            page(Representation::newest(Format::OpenMetrics, escaping), vec![Arc::clone(&snapshot)], None);
        page.lines().filter(|line| line.contains("le=\"1.0\"")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        lines(Escaping::AllowUtf8)[1],
        "{\"perfmon.X.% Calls_seconds_bucket\",target=\"web1\",le=\"1.0\"} 0"
    );
    assert_eq!(
        lines(Escaping::Underscores)[1],
        "perfmon_X___Calls_seconds_bucket{target=\"web1\",le=\"1.0\"} 0"
    );
    // As Prometheus' own exporters do it: the family's name is escaped, and the suffix comes after that.
    assert_eq!(
        lines(Escaping::Values)[1],
        "U__perfmon_2e_X_2e__25__20_Calls__seconds_bucket{target=\"web1\",le=\"1.0\"} 0"
    );
}

#[test]
fn a_page_in_pieces_is_the_page() {
    let store = store("web1");
    let bounds: Vec<f64> = (1..=64).map(f64::from).collect();
    let id = exposition::testing::plugin::family(&store, &histogram("Waits", &bounds)).unwrap();
    let ids: Vec<u32> =
        (0..200).map(|row| series(&store, id, &[("i", &format!("{row}"))]).unwrap()).collect();
    let (counts, sums) = (vec![3; 200 * 65], vec![0.5; 200]);
    let (counts, sums, ids) = (&*counts, &*sums, &*ids);
    let batch =
        HistogramBatch { family: id, buckets: 65, ids, counts, sums, timestamps: None, start_times: None };
    assert_eq!(store.histograms(&batch).stored, 200);
    complete(&store, Outcome::Full);
    for format in [Format::Text, Format::OpenMetrics, Format::Protobuf] {
        let snapshots = || vec![store.snapshot()];
        let whole = page_bytes(format, snapshots(), None);
        for chunk_bytes in [1, 1_000, 1 << 30] {
            let mut encoder = Encoder::new(format, snapshots(), None).with_chunk_bytes(chunk_bytes);
            let mut bytes = Vec::new();
            while encoder.next_chunk(&mut bytes) {}
            assert!(bytes == whole, "{format:?} {chunk_bytes}");
        }
    }
    let text = page(Format::Text, vec![store.snapshot()], None);
    assert_eq!(parse(Format::Text, &text).unwrap().len(), 200 * 67);
}
