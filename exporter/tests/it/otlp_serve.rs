//! The whole program, with a collector on a socket.

use std::collections::BTreeMap;
use std::sync::Arc;

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{Gauge, Metric, Sum};
use otlp::push::OtlpProtocol;
use perfmon_exporter::process::own_metrics;
use support::telemetry::MetricKind;
use tokio::net::TcpListener;

use crate::command_plugin::{self, Installed, Sim};
use crate::otlp_collector::{Collector, Received};
use crate::otlp_records::{bodies, pairs, spans};
use crate::program::Folder;

/// Serves `collector` on a socket; answers its port.
async fn listen(collector: Arc<Collector>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            collector.welcome(stream);
        }
    });
    port
}

/// `name=value` of the resource.
fn resource(received: &Received) -> Vec<String> {
    let attributes = &received.message.resource_metrics[0].resource.as_ref().unwrap().attributes;
    let pairs = attributes.iter().map(|attribute| {
        let Some(Value::StringValue(value)) = attribute.value.clone().and_then(|any| any.value) else {
            panic!("{attribute:?}")
        };
        format!("{}={value}", attribute.key)
    });
    pairs.collect()
}

#[test]
fn what_a_target_runs_is_not_guessed() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let collector = Collector::new(OtlpProtocol::Grpc, []);
    let port = runtime.block_on(async { tokio::spawn(listen(Arc::clone(&collector))).await.unwrap() });
    let folder = Folder::new();
    let _exporter = folder.plugin("pulse", "pulse.c").serve(&format!(
        "web: {{listen: ['127.0.0.1:0']}}
plugins: {{path: ., load: [pulse]}}
modules: {{beat: {{plugin: pulse}}}}
targets: [{{host: heart, modules: [beat]}}]
otlp: [{{endpoint: 'http://127.0.0.1:{port}', interval: 1s}}]
"
    ));
    let received = runtime.block_on(collector.received(1));
    let expected = ["service.name=perfmon-exporter", "service.instance.id=heart", "host.name=heart"];
    assert_eq!(resource(&received[0]), expected);
}

#[test]
fn a_windows_host_has_the_name_and_the_numbers_that_the_semantic_conventions_want() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let collector = Collector::new(OtlpProtocol::Grpc, []);
    let port = runtime.block_on(async { tokio::spawn(listen(Arc::clone(&collector))).await.unwrap() });
    let (installed, sim) = (Installed::new(), Sim::new());
    installed.folder.write(
        "perfmon.yml",
        &command_plugin::config(
            sim.port,
            &format!(
                "web: {{listen: ['127.0.0.1:0']}}
normalize: {{naming: otel}}
otlp: [{{endpoint: 'http://127.0.0.1:{port}', interval: 1s}}]"
            ),
        )
        .replace("{name: Process V2}]", "{name: Process V2}, {name: Processor Information}], host_info: true")
        .replace("modules: [os]}", "modules: [os], interval: 1s}"),
    );
    let program = &mut installed.command(&[]);
    let _exporter = installed.folder.begin(program, &[]);
    let named = |received: &Received| {
        !received.message.resource_metrics.is_empty()
            && resource(received).contains(&"host.name=web1.corp.example".to_owned())
    };
    let received = runtime.block_on(async {
        for count in 1.. {
            let received = collector.received(count).await;
            if let Some(found) = received.into_iter().find(named) {
                return found;
            }
        }
        unreachable!("a collector waits for ever")
    });
    let mut found = BTreeMap::new();
    let scopes = received.message.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    for metric in scopes.flat_map(|scope| &scope.metrics) {
        let points = match &metric.data {
            Some(Data::Gauge(gauge)) => &gauge.data_points,
            Some(Data::Sum(sum)) => &sum.data_points,
            _ => continue,
        };
        for pair in points.iter().flat_map(|point| &point.attributes) {
            let is_integer = matches!(pair.value.as_ref().unwrap().value, Some(Value::IntValue(_)));
            assert_eq!(*found.entry(pair.key.clone()).or_insert(is_integer), is_integer, "{}", pair.key);
        }
    }
    for (name, is_integer) in [("process.pid", true), ("cpu.logical_number", true), ("cpu.mode", false)] {
        assert_eq!(found.get(name), Some(&is_integer), "{name}: {found:?}");
    }
}

#[test]
fn the_program_pushes_what_it_collects_and_keeps_the_token_to_itself() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for (word, protocol) in [("grpc", OtlpProtocol::Grpc), ("http", OtlpProtocol::Http)] {
        let collector = Collector::new(protocol, []);
        let port = runtime.block_on(async { tokio::spawn(listen(Arc::clone(&collector))).await.unwrap() });
        let folder = Folder::new();
        folder.write("token", "hunter2\n");
        let mut exporter = folder.plugin("pulse", "told_pulse.c").serve(&format!(
            r#"
web: {{listen: ["127.0.0.1:0"]}}
plugins: {{path: ., load: [pulse]}}
modules: {{beat: {{plugin: pulse}}}}
targets:
  - {{host: heart.example.com, name: heart, modules: [beat], interval: 1s, labels: {{ward: west}}}}
otlp:
  - {{endpoint: 'http://127.0.0.1:{port}', name: here, protocol: {word}, interval: 1s,
     headers: {{authorization: {{file: token, prefix: 'Bearer '}}}}}}
"#
        ));
        let received = runtime.block_on(collector.received(2));
        let last = &received[1];
        assert_eq!(last.headers["authorization"], "Bearer hunter2");
        let expected = [
            "service.name=perfmon-exporter",
            "service.instance.id=heart",
            "host.name=heart.example.com",
            "os.type=windows",
            "ward=west",
        ];
        assert_eq!(resource(last), expected);
        let scope = &last.message.resource_metrics[0].scope_metrics[0];
        assert_eq!(scope.scope.as_ref().unwrap().name, "pulse");
        assert_eq!(scope.metrics[0].name, "perfmon_pulse_beats");
        let page = exporter.get("/metrics").body;
        assert!(page.contains("perfmon_exporter_otlp_up{endpoint=\"here\"} 1\n"), "{page}");
        assert!(!page.contains("hunter2"));
        exporter.terminate();
        exporter.wait();
        assert!(!exporter.rest_of_log().contains("hunter2"));
    }
}

#[test]
fn the_program_tells_of_itself_where_it_is_asked_to() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let collector = Collector::new(OtlpProtocol::Http, []);
    let port = runtime.block_on(async { tokio::spawn(listen(Arc::clone(&collector))).await.unwrap() });
    let folder = Folder::new();
    folder.write("token", "hunter2\n");
    let mut exporter = folder.plugin("pulse", "pulse.c").serve(&format!(
        r#"
web: {{listen: ["127.0.0.1:0"]}}
plugins: {{path: ., load: [pulse]}}
modules: {{beat: {{plugin: pulse}}}}
targets: [{{host: heart, modules: [beat], interval: 1s}}]
telemetry: {{endpoint: 'http://127.0.0.1:{port}', interval: 1h, headers: {{x-token: {{file: token}}}}}}
"#
    ));
    exporter.wait_for_line("Target is up");
    let page = exporter.ask("GET /metrics HTTP/1.0\r\nHost: here\r\n\r\n").body;
    // Its end is the end of an interval, too.
    exporter.terminate();
    let received = runtime.block_on(collector.received(1)).remove(0);
    exporter.wait();
    assert_eq!(
        (received.path.as_str(), &received.headers["x-token"]),
        ("/v1/metrics", &"hunter2".parse().unwrap())
    );
    assert!(resource(&received).contains(&"service.name=perfmon-exporter".to_owned()));
    let metrics = &received.message.resource_metrics[0].scope_metrics[0].metrics;
    let stage = metrics.iter().find(|metric| metric.name == "perfmon_exporter.collection_duration");
    let Some(Data::Histogram(histogram)) = stage.and_then(|metric| metric.data.clone()) else {
        panic!("{metrics:?}")
    };
    assert!(histogram.data_points.iter().map(|point| point.count).sum::<u64>() > 0, "{histogram:?}");
    // Whatever the page has goes there, too, with the same labels.
    let sent: BTreeMap<&str, &Metric> = metrics.iter().map(|metric| (metric.name.as_str(), metric)).collect();
    let mut compared = 0;
    for metric in own_metrics().into_iter().filter(|metric| !matches!(metric.kind, MetricKind::Histogram(_)))
    {
        let lines = page.lines().filter_map(|line| line.strip_prefix(&metric.shown_name()));
        let shown = lines.filter(|rest| rest.starts_with(['{', ' '])).count();
        let points = sent.get(&*metric.otel_name()).map_or(&[][..], |sent| {
            assert_eq!((&*sent.description, &*sent.unit), (metric.help, metric.otel_unit()));
            let (Some(Data::Gauge(Gauge { data_points })) | Some(Data::Sum(Sum { data_points, .. }))) =
                &sent.data
            else {
                panic!("{sent:?}")
            };
            let is_sum = matches!(&sent.data, Some(Data::Sum(sum)) if sum.is_monotonic);
            assert_eq!(is_sum, metric.kind == MetricKind::Counter, "{}", metric.name);
            data_points
        });
        // What began to be counted after the page may have a series more.
        assert!(points.len() >= shown, "{} has {shown} series on the page and {points:?}", metric.name);
        assert!(points.iter().all(|point| point.attributes.len() <= metric.labels.len()), "{}", metric.name);
        compared += shown;
    }
    assert!(compared > 60, "{compared}");
}

/// The last point of a gauge in a request, and whether it is there to say that there is none any more.
#[expect(clippy::cast_precision_loss, reason = "it is 0 or 1")]
fn number(received: &Received, name: &str) -> Option<(bool, f64)> {
    use opentelemetry_proto::tonic::metrics::v1::{metric::Data, number_data_point::Value};
    let scopes = received.message.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    let metric = scopes.flat_map(|scope| &scope.metrics).find(|metric| metric.name == name)?;
    let Some(Data::Gauge(gauge)) = &metric.data else { panic!("{metric:?}") };
    let point = gauge.data_points.last()?;
    let value = match point.value {
        Some(Value::AsDouble(value)) => value,
        Some(Value::AsInt(value)) => value as f64,
        None => 0.0,
    };
    Some((point.flags & 1 == 1, value))
}

#[test]
fn a_series_that_outlived_failures_ends_with_no_recorded_value_and_comes_back() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let collector = Collector::new(OtlpProtocol::Http, []);
    let port = runtime.block_on(async { tokio::spawn(listen(Arc::clone(&collector))).await.unwrap() });
    let folder = Folder::new();
    let mut exporter = folder.plugin("moody", "moody.c").serve(&format!(
        r#"
web: {{listen: ["127.0.0.1:0"]}}
plugins: {{path: ., load: [moody]}}
modules: {{all: {{plugin: moody}}}}
targets: [{{host: heart, modules: [all], interval: 1s, stale_after: 2}}]
otlp: [{{endpoint: 'http://127.0.0.1:{port}', protocol: http, interval: 1s}}]
"#
    ));
    exporter.wait_for_line("Target is up");
    folder.write("mood", "f");
    // Each wait ends with the request that it is for: values, their end, and values again.
    let (mut seen, mut ups) = (0, Vec::new());
    let mut wait_for = |ends: bool| loop {
        seen += 1;
        let received = runtime.block_on(collector.received(seen));
        ups.extend(number(&received[seen - 1], "perfmon_target_up").map(|(_, up)| up));
        if let Some((ended, value)) = number(&received[seen - 1], "perfmon_zoo_number")
            && ended == ends
        {
            return value;
        }
    };
    assert!(wait_for(false) > 0.0);
    wait_for(true);
    folder.write("mood", "g");
    assert!(wait_for(false) > 0.0);
    // Each round says whether the target is up; the last one began after the collection had ended for all.
    wait_for(false);
    ups.dedup();
    assert_eq!(ups, [1.0, 0.0, 1.0]);
}

#[test]
fn what_a_probe_brings_to_light_is_told_as_if_it_were_scheduled() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let collector = Collector::new(OtlpProtocol::Http, []);
    let port = runtime.block_on(async { tokio::spawn(listen(Arc::clone(&collector))).await.unwrap() });
    let folder = Folder::new();
    let mut exporter = folder.plugin("bell", "bell.c").serve(&format!(
        r#"
web: {{listen: ["127.0.0.1:0"]}}
plugins: {{path: ., load: [bell]}}
probe: {{allow_targets: ['127.0.0.0/8']}}
modules: {{rings: {{plugin: bell}}}}
otlp: [{{endpoint: 'http://127.0.0.1:{port}', protocol: http, interval: 1h, traces: {{targets: ['*.5']}}}}]
"#
    ));
    for target in ["127.0.0.5", "127.0.0.6"] {
        let page = exporter.get(&format!("/probe?target={target}&module=rings")).body;
        assert!(page.contains("perfmon_probe_success 1\n"), "{page}");
    }
    exporter.terminate();
    exporter.wait();
    let received = collector.now();
    // Of one target they are in order.
    let mut events = bodies(&received);
    events.sort_unstable();
    assert!(events[0].starts_with("Rang 1:") && events[1].starts_with("Rang 2:"), "{events:?}");
    let traced: Vec<&Received> = received.iter().filter(|received| received.path == "/v1/traces").collect();
    let [traced] = traced[..] else { panic!("{traced:?}") };
    let [of_resource] = &traced.traces.resource_spans[..] else { panic!("{traced:?}") };
    let resource = pairs(&of_resource.resource.as_ref().unwrap().attributes);
    assert!(resource.contains(&"service.instance.id=127.0.0.5".to_owned()), "{resource:?}");
    assert_eq!(of_resource.scope_spans[0].scope.as_ref().unwrap().name, "bell");
    let spans = spans(traced);
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["collect rings", "tcp", "query", "decode"]);
    let attributes = pairs(&spans[0].attributes);
    assert!(attributes.contains(&"perfmon.trigger=probe".to_owned()), "{attributes:?}");
}
