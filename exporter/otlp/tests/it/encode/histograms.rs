//! Histograms, as a collector reads them.

use std::sync::Arc;

use exposition::testing::plugin::{complete, histogram, instances, send_histograms};
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Histogram, HistogramDataPoint, Metric,
};
use otlp::encode::{Requests, Templates, Temporality};
use plugin_abi::{DataSink, FamilyDef, Outcome, SeriesDef};
use prost::Message;
use series::model::Snapshot;
use series::pipeline::Store;

use crate::encode::otlp_encode::{T1, T2, encode, part, store};

const BOUNDS: &[f64] = &[0.5, 1.0];

type Row<'a> = (&'a [u64], f64);

fn collect(store: &Store, ids: &[u32], rows: &[Row<'_>]) -> Arc<Snapshot> {
    assert_eq!(send_histograms(store, 0, ids, rows).stored, ids.len() as u64);
    complete(store, Outcome::Full);
    store.snapshot()
}

fn metric(request: &ExportMetricsServiceRequest) -> &Metric {
    &request.resource_metrics[0].scope_metrics[0].metrics[0]
}

fn data(request: &ExportMetricsServiceRequest) -> &Histogram {
    match &metric(request).data {
        Some(Data::Histogram(histogram)) => histogram,
        other => panic!("{other:?}"),
    }
}

/// Start, count, sum and buckets of each point.
fn points(request: &ExportMetricsServiceRequest) -> Vec<(u64, u64, Option<f64>, Vec<u64>)> {
    let each = |point: &HistogramDataPoint| {
        (point.start_time_unix_nano, point.count, point.sum, point.bucket_counts.clone())
    };
    data(request).data_points.iter().map(each).collect()
}

#[test]
fn a_cumulative_histogram_has_explicit_bounds_and_a_start() {
    let store = store();
    let def = FamilyDef { unit: "seconds", help: "How long", ..histogram("Waits", BOUNDS) };
    let mut verdicts = Vec::new();
    store.register_families(&[def], &mut verdicts);
    let labels = [("counter_instance", "a")];
    store.register_series(
        &[SeriesDef::new(0, &labels, Some(77)), SeriesDef::new(0, &[], None)],
        &mut verdicts,
    );
    let snapshot = collect(&store, &[0, 1], &[(&[1, 2, 3], 5.5), (&[0, 0, 0], 0.0)]);
    let found = encode(vec![part(snapshot, T1, None)], Temporality::Cumulative);
    let Metric { name, unit, .. } = metric(&found);
    assert_eq!((&**name, &**unit), ("perfmon_x_waits_seconds", "s"));
    assert_eq!(data(&found).aggregation_temporality(), AggregationTemporality::Cumulative);
    assert_eq!(points(&found), [(77, 6, Some(5.5), vec![1, 2, 3]), (0, 0, Some(0.0), vec![0, 0, 0])]);
    let [first, second] = &*data(&found).data_points else { panic!("two points") };
    assert_eq!((&*first.explicit_bounds, first.time_unix_nano, first.flags), (BOUNDS, T1, 0));
    assert_eq!((first.attributes.len(), &*first.attributes[0].key), (1, "counter_instance"));
    assert_eq!((second.attributes.len(), &*second.explicit_bounds), (0, BOUNDS));
}

#[test]
fn a_delta_is_what_each_bucket_gained() {
    let store = store();
    let ids = instances(&store, &histogram("Waits", BOUNDS), &["a", "b", "c"]);
    let first = collect(&store, &ids[..2], &[(&[1, 2, 3], 5.5), (&[4, 4, 4], 9.0)]);
    let found = encode(vec![part(Arc::clone(&first), T1, None)], Temporality::Delta);
    assert!(found.resource_metrics.is_empty(), "what was counted before the first export is not known");
    // The second fell, so that nobody knows what it gained, and the third is seen for the first time.
    let second = collect(&store, &ids, &[(&[1, 5, 3], 7.5), (&[5, 3, 5], 10.0), (&[9, 9, 9], 99.0)]);
    let found = encode(vec![part(Arc::clone(&second), T2, Some(&first))], Temporality::Delta);
    assert_eq!(data(&found).aggregation_temporality(), AggregationTemporality::Delta);
    assert_eq!(points(&found), [(T1, 3, Some(2.0), vec![0, 3, 0])]);
}

#[test]
fn a_histogram_that_vanished_has_no_recorded_value() {
    let store = store();
    let ids = instances(&store, &histogram("Waits", BOUNDS), &["a", "b"]);
    let row: Row<'_> = (&[1, 2, 3], 5.5);
    let first = collect(&store, &ids, &[row; 2]);
    let second = collect(&store, &ids[..1], &[row]);
    let found = encode(vec![part(Arc::clone(&second), T2, Some(&first))], Temporality::Cumulative);
    let metrics = &found.resource_metrics[0].scope_metrics[0].metrics;
    let [Some(Data::Histogram(left)), Some(Data::Histogram(gone))] = [&metrics[0].data, &metrics[1].data]
    else {
        panic!("{metrics:?}")
    };
    assert_eq!((left.data_points.len(), left.data_points[0].flags), (1, 0));
    let [gone] = &*gone.data_points else { panic!("{gone:?}") };
    assert_eq!((gone.flags, gone.count, gone.bucket_counts.len(), gone.sum), (1, 0, 0, None));
    assert_eq!(&*gone.attributes[0].key, "counter_instance");
    let found = encode(vec![part(second, T2, Some(&first))], Temporality::Delta);
    assert_eq!(points(&found).len(), 1, "silence says as much");
}

#[test]
fn where_observations_may_be_negative_there_is_no_sum() {
    let store = store();
    let ids = instances(&store, &histogram("Drift", &[-1.0, 1.0]), &["a"]);
    let snapshot = collect(&store, &ids, &[(&[1, 2, 3], -5.5)]);
    let found = encode(vec![part(snapshot, T1, None)], Temporality::Cumulative);
    assert_eq!(points(&found), [(0, 6, None, vec![1, 2, 3])]);
    assert_eq!(data(&found).data_points[0].explicit_bounds, [-1.0, 1.0]);
}

#[test]
fn requests_with_histograms_are_split_by_bytes_and_lose_nothing() {
    let store = store();
    let names: Vec<String> = (0..500).map(|row| row.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let bounds: Vec<f64> = (1..=20).map(f64::from).collect();
    let ids = instances(&store, &histogram("Waits", &bounds), &names);
    let counts: Vec<Vec<u64>> = ids.iter().map(|&id| vec![u64::from(id); 21]).collect();
    let rows: Vec<Row<'_>> = counts.iter().map(|counts| (&**counts, 1.0)).collect();
    let first = collect(&store, &ids, &rows);
    for (temporality, earlier) in [(Temporality::Cumulative, None), (Temporality::Delta, Some(&first))] {
        let second = collect(&store, &ids, &rows);
        let (mut templates, mut body, mut sums) = (Templates::default(), Vec::new(), Vec::new());
        let mut requests = Requests::new(vec![part(second, T2, earlier)], temporality);
        while let Some(request) = requests.next_request(&mut templates, 10_000, &mut body) {
            assert!(body.len() <= 10_000, "{}", body.len());
            let found = ExportMetricsServiceRequest::decode(&*body).unwrap();
            assert_eq!(points(&found).len() as u64, request.points);
            sums.extend(points(&found).iter().map(|(_, count, ..)| *count));
        }
        let grown = |row: u64| if temporality == Temporality::Delta { 0 } else { 21 * row };
        assert_eq!(sums, (0..500).map(grown).collect::<Vec<_>>());
    }
}
