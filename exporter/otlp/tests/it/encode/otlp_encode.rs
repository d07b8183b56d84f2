//! What a collector reads in our requests. The judge is prost with the types of `opentelemetry-proto`.

use std::sync::Arc;
use std::time::Duration;

use exposition::testing::plugin::{
    complete, counter, failure, family, gauge, histogram, instances, send, send_column, series,
};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Number;
use opentelemetry_proto::tonic::metrics::v1::{
    Gauge, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum,
};
use opentelemetry_proto::tonic::resource::v1::Resource as ProtoResource;
use otlp::encode::{
    Earlier, Facts, Part, Record, Requests, Resource, Scope, Templates, Temporality, put_records,
};
use plugin_abi::{
    Alert, AlertState, Batch, Column, Comparison, DataSink, Evaluation, Event, FamilyDef, HistogramBatch,
    Kind, Level, Outcome, ValueKind,
};
use prost::Message;
use series::model::{Snapshot, Target};
use series::pipeline::{Catalog, Limits, NoObserver, Scope as TargetScope, Store};

pub(crate) const T1: u64 = 1_750_000_000_000_000_000;
pub(crate) const T2: u64 = T1 + 30_000_000_000;
const BIG: usize = 3 << 20;

fn text(key: &str, value: &str) -> KeyValue {
    let value = Some(AnyValue { value: Some(Any::StringValue(value.to_owned())) });
    KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
}

fn double(key: &str, value: f64) -> KeyValue {
    let value = Some(AnyValue { value: Some(Any::DoubleValue(value)) });
    KeyValue { key: key.to_owned(), value, ..KeyValue::default() }
}

fn store_of(catalog: &Arc<Catalog>, target: Target) -> Arc<Store> {
    TargetScope::new(Arc::clone(catalog), target, Limits::default()).store(Arc::new(NoObserver))
}

pub(crate) fn store() -> Arc<Store> {
    store_of(&Catalog::new(), Target::new("web1"))
}

pub(crate) fn part(snapshot: Arc<Snapshot>, time_unix_nanos: u64, earlier: Option<&Arc<Snapshot>>) -> Part {
    let facts = Facts { host: "host.example.com", os_type: "windows", os_version: "" };
    Part {
        resource: Arc::new(Resource::of(snapshot.target(), &facts)),
        scope: Arc::new(Scope::new("pcq", "1.2")),
        snapshot,
        time_unix_nanos,
        earlier: earlier.map(|earlier| Earlier {
            sent: Arc::clone(earlier),
            counts: Arc::clone(earlier),
            counts_time_unix_nanos: T1,
        }),
    }
}

fn decode(bytes: &[u8]) -> ExportMetricsServiceRequest {
    ExportMetricsServiceRequest::decode(bytes).expect("prost reads it")
}

/// All in one request.
pub(crate) fn encode(parts: Vec<Part>, temporality: Temporality) -> ExportMetricsServiceRequest {
    let (mut templates, mut body) = (Templates::default(), Vec::new());
    let mut requests = Requests::new(parts, temporality);
    let written = requests.next_request(&mut templates, BIG, &mut body);
    let message = decode(&body);
    assert_eq!(written.map_or(0, |written| written.points), count(&message) as u64);
    assert_eq!(requests.next_request(&mut templates, BIG, &mut body), None);
    message
}

/// How many points it has of any kind.
fn count(request: &ExportMetricsServiceRequest) -> usize {
    let scopes = request.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    let points = scopes.flat_map(|scope| &scope.metrics).map(|metric| match &metric.data {
        Some(Data::Gauge(gauge)) => gauge.data_points.len(),
        Some(Data::Sum(sum)) => sum.data_points.len(),
        Some(Data::Histogram(histogram)) => histogram.data_points.len(),
        other => panic!("{other:?}"),
    });
    points.sum()
}

/// Each point with the name of its metric.
fn points(request: &ExportMetricsServiceRequest) -> Vec<(String, NumberDataPoint)> {
    let scopes = request.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    let metrics = scopes.flat_map(|scope| &scope.metrics);
    let points = metrics.flat_map(|metric| {
        let points = match metric.data.as_ref().expect("a metric has data") {
            Data::Gauge(gauge) => &gauge.data_points,
            Data::Sum(sum) => &sum.data_points,
            other => panic!("{other:?}"),
        };
        assert!(!points.is_empty(), "a metric without points says nothing");
        points.iter().map(|point| (metric.name.clone(), point.clone()))
    });
    points.collect()
}

/// `metric instance value` of each point, `-` where the flag "no recorded value" is.
fn values(request: &ExportMetricsServiceRequest) -> Vec<String> {
    let points = points(request).into_iter().map(|(name, point)| {
        let Some(Any::StringValue(instance)) = point.attributes[0].value.clone().and_then(|any| any.value)
        else {
            panic!("{point:?}")
        };
        let value = match (point.flags, point.value) {
            (1, None) => "-".to_owned(),
            (0, Some(Number::AsDouble(value))) => value.to_string(),
            (0, Some(Number::AsInt(value))) => value.to_string(),
            other => panic!("{other:?}"),
        };
        format!("{} {instance} {value}", name.trim_start_matches("perfmon_x_"))
    });
    points.collect()
}

#[test]
fn a_collector_reads_what_the_model_says() {
    let target = Target::new("web1").with_label("env", "prod").with_label("counter_instance", "mine");
    let store = store_of(&Catalog::new(), target);
    let busy =
        FamilyDef { unit: "seconds", help: "Time \"busy\"", origin: r"\X(*)\% Busy", ..counter("% Busy") };
    let ids = instances(&store, &busy, &["0", "_Total"]);
    let began = i64::try_from(T1 - 5).unwrap();
    let values = Column::F64(&[1.5, f64::INFINITY]);
    store.batch(&Batch { ids: &ids, values, timestamps: None, start_times: Some(&[began, 0]) });
    let ids = instances(&store, &gauge("Queue"), &["C:\\ \"é\"\n", "empty"]);
    send(&store, &ids, &[f64::NAN]);
    let ids = instances(&store, &FamilyDef { kind: Kind::Info, ..gauge("Version") }, &["10.0"]);
    send(&store, &ids, &[7.0]);
    let big = FamilyDef { value: ValueKind::U64, unit: "requests", ..counter("Big") };
    let ids = instances(&store, &big, &["a", "b"]);
    send_column(&store, &ids, Column::U64(&[(1 << 53) + 1, u64::MAX]));
    let signed = FamilyDef { value: ValueKind::I64, kind: Kind::Unknown, ..gauge("Signed") };
    let id = family(&store, &signed).and_then(|family| series(&store, family, &[])).unwrap();
    send_column(&store, &[id], Column::I64(&[-3]));
    complete(&store, Outcome::Full);

    let attributes = |instance: &str| {
        // The plugin's label has the name, and the point says the target's under the one it got.
        vec![text("exported_counter_instance", "mine"), text("counter_instance", instance)]
    };
    let point = |instance: &str, start_time_unix_nano: u64, value: Number| NumberDataPoint {
        attributes: attributes(instance),
        start_time_unix_nano,
        time_unix_nano: T1,
        value: Some(value),
        ..NumberDataPoint::default()
    };
    let metric = |name: &str, unit: &str, description: &str, data: Data| Metric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        description: description.to_owned(),
        data: Some(data),
        ..Metric::default()
    };
    let sum = |data_points: Vec<NumberDataPoint>| {
        Data::Sum(Sum { data_points, aggregation_temporality: 2, is_monotonic: true })
    };
    let gauge = |data_points: Vec<NumberDataPoint>| Data::Gauge(Gauge { data_points });
    let mut found = encode(vec![part(store.snapshot(), T1, None)], Temporality::Cumulative);
    // NaN is unequal to itself.
    let metrics = &mut found.resource_metrics[0].scope_metrics[0].metrics;
    let Some(Data::Gauge(queue)) = &mut metrics[1].data else { panic!("{metrics:?}") };
    assert!(matches!(queue.data_points[0].value.take(), Some(Number::AsDouble(value)) if value.is_nan()));
    let mut without_value = point("C:\\ \"é\"\n", 0, Number::AsInt(0));
    without_value.value = None;
    let mut without_instance = point("", 0, Number::AsInt(-3));
    without_instance.attributes = Vec::new();
    let expected = ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics {
            resource: Some(ProtoResource {
                attributes: vec![
                    text("service.name", "perfmon-exporter"),
                    text("service.instance.id", "web1"),
                    text("host.name", "host.example.com"),
                    text("os.type", "windows"),
                    text("env", "prod"),
                    text("counter_instance", "mine"),
                ],
                ..ProtoResource::default()
            }),
            scope_metrics: vec![ScopeMetrics {
                scope: Some(InstrumentationScope {
                    name: "pcq".to_owned(),
                    version: "1.2".to_owned(),
                    ..InstrumentationScope::default()
                }),
                // Names of the source.
                schema_url: String::new(),
                metrics: vec![
                    metric(
                        "perfmon_x_busy_seconds",
                        "s",
                        "Time \"busy\". \\X(*)\\% Busy",
                        sum(vec![
                            point("0", T1 - 5, Number::AsDouble(1.5)),
                            point("_Total", 0, Number::AsDouble(f64::INFINITY)),
                        ]),
                    ),
                    metric("perfmon_x_queue", "", "", gauge(vec![without_value])),
                    metric("perfmon_x_version_info", "", "", gauge(vec![point("10.0", 0, Number::AsInt(1))])),
                    metric(
                        "perfmon_x_big_requests",
                        "{requests}",
                        "",
                        sum(vec![
                            point("a", 0, Number::AsInt((1 << 53) + 1)),
                            point("b", 0, Number::AsDouble(18_446_744_073_709_551_615.0)),
                        ]),
                    ),
                    metric("perfmon_x_signed", "", "", gauge(vec![without_instance])),
                ],
            }],
            schema_url: "https://opentelemetry.io/schemas/1.40.0".to_owned(),
        }],
    };
    pretty(&found, &expected);
}

/// Two large messages differ in one line, most of the time.
fn pretty(found: &ExportMetricsServiceRequest, expected: &ExportMetricsServiceRequest) {
    if found != expected {
        let (found, expected) = (format!("{found:#?}"), format!("{expected:#?}"));
        let line = found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
        let line = line.unwrap_or(0).saturating_sub(6);
        let around = |text: &str| text.lines().skip(line).take(12).collect::<Vec<_>>().join("\n");
        panic!("found\n{}\nexpected\n{}", around(&found), around(&expected));
    }
}

/// Three targets with some hundred series each, every seventh of which has no value.
fn many() -> Vec<Part> {
    let catalog = Catalog::new();
    let parts = ["web1", "web2", "a-target-with-a-longer-name"].map(|target| {
        let store = store_of(&catalog, Target::new(target));
        for def in [counter("Requests"), gauge("Queue")] {
            let names: Vec<String> =
                (0..400).map(|index| "i".repeat(1 + index % 150) + &index.to_string()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let ids = instances(&store, &def, &names);
            let ids: Vec<u32> = ids.into_iter().filter(|id| id % 7 > 0).collect();
            let values: Vec<f64> = ids.iter().map(|&id| f64::from(id) / 8.0).collect();
            send(&store, &ids, &values);
        }
        complete(&store, Outcome::Full);
        part(store.snapshot(), T1, None)
    });
    parts.to_vec()
}

#[test]
fn requests_are_split_by_bytes_and_lose_nothing() {
    let whole = points(&encode(many(), Temporality::Cumulative));
    assert!(whole.len() > 2_000);
    let (mut templates, mut body) = (Templates::default(), Vec::new());
    for bytes_max in [700, 1_000, 4_096, 50_000] {
        let mut requests = Requests::new(many(), Temporality::Cumulative);
        let (mut found, mut parts_done) = (Vec::new(), Vec::new());
        while let Some(request) = requests.next_request(&mut templates, bytes_max, &mut body) {
            assert!(body.len() <= bytes_max, "{} bytes of {bytes_max}", body.len());
            let message = decode(&body);
            assert!(message.resource_metrics.iter().all(|resource| resource.resource.is_some()));
            found.extend(points(&message));
            parts_done.push(request.parts_done);
        }
        assert_eq!(found, whole);
        assert!(parts_done.is_sorted() && parts_done.last() == Some(&3), "{parts_done:?}");
    }
}

#[test]
fn a_point_that_is_larger_than_a_request_goes_alone() {
    let store = store();
    let ids = instances(&store, &gauge("Queue"), &["a", &"b".repeat(500), "c"]);
    send(&store, &ids, &[1.0, 2.0, 3.0]);
    complete(&store, Outcome::Full);
    let (mut templates, mut body) = (Templates::default(), Vec::new());
    let mut requests = Requests::new(vec![part(store.snapshot(), T1, None)], Temporality::Cumulative);
    let mut found = Vec::new();
    while let Some(request) = requests.next_request(&mut templates, 200, &mut body) {
        assert_eq!(request.points, 1);
        found.extend(points(&decode(&body)));
    }
    assert_eq!(found.len(), 3);
}

#[test]
fn a_request_that_was_too_large_is_written_again_smaller() {
    let (mut templates, mut body) = (Templates::default(), Vec::new());
    let mut requests = Requests::new(many(), Temporality::Cumulative);
    let first = requests.next_request(&mut templates, 4_000, &mut body).unwrap();
    let second = requests.next_request(&mut templates, 40_000, &mut body).unwrap();
    let refused = points(&decode(&body));
    requests.rewind();
    let mut found = Vec::new();
    while found.len() < refused.len() {
        requests.next_request(&mut templates, 3_000, &mut body).unwrap();
        found.extend(points(&decode(&body)));
    }
    assert_eq!(found[..refused.len()], refused);
    assert!(first.points < second.points);
}

#[test]
fn what_vanished_is_sent_once_more_without_a_value() {
    let store = store();
    let ids = instances(&store, &counter("Requests"), &["a", "b", "c"]);
    send(&store, &ids, &[1.0, 2.0, 3.0]);
    complete(&store, Outcome::Full);
    let first = store.snapshot();

    // No value this time.
    send(&store, &[ids[0], ids[2]], &[1.0, 3.0]);
    complete(&store, Outcome::Full);
    let second = store.snapshot();
    let found = encode(vec![part(Arc::clone(&second), T2, Some(&first))], Temporality::Cumulative);
    assert_eq!(values(&found), ["requests a 1", "requests c 3", "requests b -"]);
    assert!(points(&found).iter().all(|(_, point)| point.time_unix_nano == T2));
    let again = encode(vec![part(Arc::clone(&second), T2, Some(&second))], Temporality::Cumulative);
    assert_eq!(values(&again), ["requests a 1", "requests c 3"]);

    // Retired, and its id is another series' now.
    store.retire(&[ids[0]]);
    let late = instances(&store, &counter("Requests"), &["d"]);
    assert_eq!(late, [ids[0]]);
    send(&store, &[late[0], ids[2]], &[4.0, 5.0]);
    complete(&store, Outcome::Full);
    let third = store.snapshot();
    let found = encode(vec![part(Arc::clone(&third), T2, Some(&second))], Temporality::Cumulative);
    assert_eq!(values(&found), ["requests c 5", "requests d 4", "requests a -"]);

    // The target is down.
    complete(&store, Outcome::Failed(failure()));
    let found = encode(vec![part(store.snapshot(), T2, Some(&third))], Temporality::Cumulative);
    assert_eq!(values(&found), ["requests c -", "requests d -"]);
}

#[test]
fn a_delta_is_the_growth_since_the_last_export() {
    let store = store();
    let big = FamilyDef { value: ValueKind::U64, ..counter("Requests") };
    let ids = instances(&store, &big, &["a", "b"]);
    let queue = instances(&store, &gauge("Queue"), &["a"]);
    let collect = |values: &[u64]| {
        send_column(&store, &ids, Column::U64(values));
        send(&store, &queue, &[7.0]);
    };
    collect(&[1 << 60, 10]);
    complete(&store, Outcome::Full);
    let first = store.snapshot();
    let found = encode(vec![part(Arc::clone(&first), T1, None)], Temporality::Delta);
    assert_eq!(values(&found), ["queue a 7"], "what counters counted before the first export is not known");

    collect(&[(1 << 60) + 1, 3]);
    // A series that came after the last export began at 0 there.
    let mut verdicts = Vec::new();
    let began = i64::try_from(T1 + 5).unwrap();
    let labels = [("counter_instance", "new")];
    let definition = plugin_abi::SeriesDef::new(0, &labels, Some(began));
    store.register_series(&[definition], &mut verdicts);
    send_column(&store, &[3], Column::U64(&[9]));
    let unknown = instances(&store, &big, &["unknown"]);
    send_column(&store, &unknown, Column::U64(&[99]));
    complete(&store, Outcome::Full);
    let found = encode(vec![part(store.snapshot(), T2, Some(&first))], Temporality::Delta);
    // What fell was reset, and nobody said when.
    assert_eq!(values(&found), ["requests a 1", "requests new 9", "queue a 7"]);
    let starts: Vec<u64> = points(&found).iter().map(|(_, point)| point.start_time_unix_nano).collect();
    assert_eq!(starts, [T1, T1 + 5, 0]);
    let Some(Data::Sum(sum)) = &found.resource_metrics[0].scope_metrics[0].metrics[0].data else {
        panic!("{found:?}")
    };
    assert_eq!((sum.aggregation_temporality, sum.is_monotonic), (1, true));
}

/// A count and a histogram that had the start `then` at the last export and have the start `now`, with many more counts:
/// the start and the growth of each point that a delta endpoint gets, and the start that a cumulative one gets.
fn after_a_reset(then: i64, now: i64, counts: [u64; 2]) -> (Vec<(u64, u64)>, Vec<u64>) {
    let store = store();
    let mut verdicts = Vec::new();
    let count = FamilyDef { value: ValueKind::U64, ..counter("Requests") };
    store.register_families(&[count, histogram("Waits", &[1.0])], &mut verdicts);
    let series = |family| plugin_abi::SeriesDef::new(family, &[], Some(then));
    store.register_series(&[series(0), series(1)], &mut verdicts);
    let collect = |count: u64, start: Option<i64>| {
        let start = start.map(|start| [start]);
        let start_times = start.as_ref().map(|start| &start[..]);
        store.batch(&Batch { ids: &[0], values: Column::U64(&[count]), timestamps: None, start_times });
        let (counts, sums) = (&[count, 0][..], &[0.5][..]);
        let (family, buckets, ids, timestamps) = (1, 2, &[1][..], None);
        store.histograms(&HistogramBatch { family, buckets, ids, counts, sums, timestamps, start_times });
        complete(&store, Outcome::Full);
        store.snapshot()
    };
    let first = collect(counts[0], None);
    // The collection that says so is not the one that is sent.
    collect(counts[1], Some(now).filter(|&now| now != then));
    let second = collect(counts[1], None);
    let sent = |temporality| {
        let found = encode(vec![part(Arc::clone(&second), T2, Some(&first))], temporality);
        let scopes = found.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
        let points = scopes.flat_map(|scope| scope.metrics).map(|metric| match metric.data {
            Some(Data::Sum(sum)) => {
                let point = &sum.data_points[0];
                let Some(Number::AsInt(value)) = point.value else { panic!("{point:?}") };
                (point.start_time_unix_nano, value.cast_unsigned())
            }
            Some(Data::Histogram(histogram)) => {
                let point = &histogram.data_points[0];
                (point.start_time_unix_nano, point.count)
            }
            other => panic!("{other:?}"),
        });
        points.collect::<Vec<_>>()
    };
    let cumulative = sent(Temporality::Cumulative).iter().map(|&(start, _)| start).collect();
    (sent(Temporality::Delta), cumulative)
}

#[test]
fn a_reset_is_told_by_start_times_and_no_whole_count_is_growth() {
    let at = |moment: u64| i64::try_from(moment).unwrap();
    let (long_ago, later) = (at(T1 - 9_000_000_000), at(T1 - 5));
    let (meanwhile, now, ahead) = (at(T1 + 7), at(T2), at(T2 + 9_000_000_000));
    let check = |then, now, counts, delta: Option<(u64, u64)>, cumulative: u64| {
        let expected = delta.map_or(vec![], |point| vec![point; 2]);
        assert_eq!(
            after_a_reset(then, now, counts),
            (expected, vec![cumulative; 2]),
            "{then} {now} {counts:?}"
        );
    };
    check(long_ago, long_ago, [4, 9], Some((T1, 5)), T1 - 9_000_000_000);
    // A host that was started between the two exports, whether it counted less or more since.
    check(long_ago, meanwhile, [9, 4], Some((T1 + 7, 4)), T1 + 7);
    check(long_ago, meanwhile, [4, 9], Some((T1 + 7, 9)), T1 + 7);
    // Another host that has been up for long, in whose place no start is known to have been.
    check(long_ago, later, [4, 1 << 40], None, T1 - 5);
    check(later, long_ago, [1 << 40, 9], None, T1 - 9_000_000_000);
    // A host whose clock is ahead.
    check(long_ago, now, [4, 9], None, 0);
    check(long_ago, ahead, [9, 4], None, 0);
    check(ahead, ahead, [4, 9], Some((T1, 5)), 0);
    // It fell and nobody says why.
    check(long_ago, long_ago, [9, 4], None, T1 - 9_000_000_000);
}

#[test]
fn parts_of_one_target_are_told_apart_by_their_plugins() {
    let first = store();
    let ids = instances(&first, &gauge("Queue"), &["a"]);
    send(&first, &ids, &[1.0]);
    complete(&first, Outcome::Full);
    let mut parts = vec![part(first.snapshot(), T1, None), part(first.snapshot(), T1, None)];
    parts[1].scope = Arc::new(Scope::new("comt", ""));
    let found = encode(parts, Temporality::Cumulative);
    let scopes = found.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    let names: Vec<&str> = scopes.map(|scope| scope.scope.as_ref().unwrap().name.as_str()).collect();
    assert_eq!(names, ["pcq", "comt"]);
}

#[test]
fn nothing_to_say_is_no_request() {
    let store = store();
    instances(&store, &gauge("Queue"), &["a"]);
    complete(&store, Outcome::Full);
    let found = encode(vec![part(store.snapshot(), T1, None)], Temporality::Cumulative);
    assert!(found.resource_metrics.is_empty());
}

#[test]
fn labels_are_rendered_when_series_come_and_forgotten_when_they_go() {
    let (mut templates, mut body) = (Templates::default(), Vec::with_capacity(BIG));
    let parts = many();
    let write = |templates: &mut Templates, parts: Vec<Part>, body: &mut Vec<u8>| {
        let mut requests = Requests::new(parts, Temporality::Cumulative);
        while requests.next_request(templates, BIG, body).is_some() {}
    };
    write(&mut templates, parts.clone(), &mut body);
    let rendered = templates.chunks();
    let again = parts.clone();
    let used = allocation_counter::measure(|| write(&mut templates, again, &mut body));
    assert!(used.count_total < 100, "{} allocations for 2,000 points", used.count_total);
    templates.sweep();
    assert_eq!(templates.chunks(), rendered);
    drop(parts);
    templates.sweep();
    assert_eq!((templates.chunks(), templates.bytes()), (0, 0));
}

#[test]
fn an_event_becomes_a_log_record() {
    let event = Event {
        name: "pla.alert",
        level: Level::Warn,
        time_unix_nanos: Some(5),
        body: "The disk is full",
        fields: &[("set", "Disk")],
        alert: None,
    };
    let evaluation = Evaluation { value: Some(99.5), comparison: Comparison::Above, threshold: 90.0 };
    let alert = Alert::new("disk-7", AlertState::Closed, &[("disk", "C:")]);
    let alert = Some(Alert { evaluation: Some(evaluation), hold: Duration::from_secs(90), ..alert });
    let closed = Event { time_unix_nanos: None, fields: &[("alert.id", "mine")], alert, ..event };
    let records = [Record::of_event(&event, T1), Record::of_event(&closed, T2)];
    let resource = Resource::of(&Target::new("web1"), &Facts::default());
    let mut body = Vec::new();
    for _ in 0..2 {
        put_records(&mut body, &resource, &Scope::new("pla", "1"), &records);
    }
    let found = ExportLogsServiceRequest::decode(&body[..]).unwrap();
    assert_eq!(found.resource_logs.len(), 2);
    let records = &found.resource_logs[1].scope_logs[0].log_records;
    assert_eq!(records.len(), 2);
    let record = &records[0];
    assert_eq!((record.time_unix_nano, record.observed_time_unix_nano), (5, T1));
    assert_eq!(
        (records[1].time_unix_nano, records[1].observed_time_unix_nano),
        (T2, T2),
        "no other is known"
    );
    assert_eq!((record.severity_number, record.severity_text.as_str()), (13, "WARN"));
    assert_eq!(record.event_name, "pla.alert");
    assert_eq!(record.body, text("", "The disk is full").value);
    assert_eq!(record.attributes, [text("set", "Disk")]);
    let said = [
        text("disk", "C:"),
        double("value", 99.5),
        text("operator", ">"),
        double("threshold", 90.0),
        double("for", 90.0),
        text("alert.id", "disk-7"),
        text("alert.state", "closed"),
    ];
    assert_eq!(records[1].attributes, said);
}
