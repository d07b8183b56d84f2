//! Events and collections on their way to a collector: once each, in order, and counted where they are lost.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use config::parse;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use opentelemetry_proto::tonic::trace::v1::Span;
use otlp::encode::{Facts, Resource, Scope, Trigger};
use otlp::push::{Counts, Ended, EventRouter, Item, Pusher, Shared, Signal, Supply};
use otlp::push::{OtlpEndpoint, OtlpProtocol};
use plugin_abi::{Completion, Event, Failure, GeneralReason, Level, Outcome, Stage, StageReport};
use series::model::Target;
use tokio::time::Instant;

use crate::otlp_collector::{Answer, Collector, Memory, Received, Wall};

struct NoSeries;

impl Supply for NoSeries {
    fn items(&self, _: u64) -> Vec<Item> {
        Vec::new()
    }
}

struct Setup {
    pusher: Pusher,
    collector: Arc<Collector>,
    counts: Arc<Counts>,
    event_router: Arc<EventRouter>,
    resource: Arc<Resource>,
    scope: Arc<Scope>,
}

fn endpoint(protocol: &str, more: &str) -> Arc<OtlpEndpoint> {
    let text = format!("otlp: [{{endpoint: 'http://collector', name: c, protocol: {protocol}{more}}}]\n");
    let config = parse("perfmon.yml", &text, std::path::Path::new("."));
    Arc::clone(&config.unwrap_or_else(|report| panic!("{report}")).otlp[0])
}

/// A collector that hears of events, and of collections where `more` says so.
fn setup(protocol: &str, more: &str, answers: impl IntoIterator<Item = Answer>) -> Setup {
    let settings = endpoint(protocol, more);
    let collector = Collector::new(settings.protocol, answers);
    let mut pusher = Pusher::empty();
    let shared = Shared {
        supply: Arc::new(NoSeries),
        clock: Arc::new(Wall(Instant::now())),
        templates: Arc::default(),
    };
    let counts = pusher.add(settings, Arc::new(Memory(Arc::clone(&collector))), shared, 7);
    let facts = Facts { host: "web1.example.com", os_type: "windows", os_version: "10.0.20348" };
    Setup {
        event_router: Arc::clone(pusher.event_router()),
        pusher,
        collector,
        counts,
        resource: Arc::new(Resource::of(&Target::new("web1"), &facts)),
        scope: Arc::new(Scope::new("pla", "1")),
    }
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_750_000_000)
}

impl Setup {
    fn happens(&self, body: &str) {
        let event = Event {
            name: "alert.fired",
            level: Level::Warn,
            time_unix_nanos: Some(1_749_999_999_000_000_000),
            body,
            fields: &[("counter", r"\Memory\Available Bytes")],
            alert: None,
        };
        self.event_router.event(&self.resource, &self.scope, &event, now());
    }

    fn ends(&self, target: &str, outcome: Outcome<'_>, took: Duration) {
        let end_ns = plugin_host::monotonic_ns();
        let stage = |stage, start_ns, duration_ns| StageReport {
            stage,
            start_ns,
            duration_ns,
            calls: 3,
            bytes_in: 4096,
            bytes_out: 128,
        };
        let stages = [
            stage(Stage::Tcp, end_ns.saturating_sub(50_000_000), 1_000_000),
            stage(Stage::Query, end_ns.saturating_sub(40_000_000), 30_000_000),
        ];
        let completion = Completion { outcome, stages: &stages };
        let (module, plugin, trigger) = ("os", "pcq", Trigger::Schedule);
        let ended =
            Ended { target, module, plugin, trigger, completion: &completion, series: 12, took, end_ns };
        self.event_router.collected(&self.resource, &self.scope, &ended, now());
    }

    async fn lost(&self, signal: Signal, expected: &[(&'static str, u64)]) {
        while self.counts.of(signal).lost() != expected {
            tokio::task::yield_now().await;
        }
    }
}

fn records(received: &[Received]) -> Vec<LogRecord> {
    let resources = received.iter().flat_map(|received| &received.logs.resource_logs);
    let scopes = resources.flat_map(|resource| &resource.scope_logs);
    scopes.flat_map(|scope| scope.log_records.clone()).collect()
}

pub(crate) fn bodies(received: &[Received]) -> Vec<String> {
    let bodies = records(received).into_iter().map(|record| text(record.body));
    bodies.collect()
}

pub(crate) fn spans(received: &Received) -> Vec<Span> {
    let resources = received.traces.resource_spans.iter();
    let scopes = resources.flat_map(|resource| &resource.scope_spans);
    scopes.flat_map(|scope| scope.spans.clone()).collect()
}

fn text(value: Option<AnyValue>) -> String {
    match value.and_then(|any| any.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn pairs(attributes: &[KeyValue]) -> Vec<String> {
    attributes.iter().map(|pair| format!("{}={}", pair.key, text(pair.value.clone()))).collect()
}

#[tokio::test(start_paused = true)]
async fn an_event_is_a_log_record_of_its_target_by_either_protocol() {
    for (word, path) in
        [("grpc", "/opentelemetry.proto.collector.logs.v1.LogsService/Export"), ("http", "/v1/logs")]
    {
        let setup = setup(word, ", compression: zstd", []);
        setup.happens("memory is low");
        let received = setup.collector.received(1).await;
        assert_eq!(received[0].path, path);
        let resource = &received[0].logs.resource_logs[0];
        let attributes = pairs(&resource.resource.as_ref().unwrap().attributes);
        assert!(attributes.contains(&"service.instance.id=web1".to_owned()), "{attributes:?}");
        assert!(attributes.contains(&"os.version=10.0.20348".to_owned()), "{attributes:?}");
        assert_eq!(resource.scope_logs[0].scope.as_ref().unwrap().name, "pla");
        let record = &records(&received)[0];
        assert_eq!((record.severity_number, &*record.severity_text), (13, "WARN"));
        assert_eq!((&*record.event_name, &*text(record.body.clone())), ("alert.fired", "memory is low"));
        assert_eq!(record.time_unix_nano, 1_749_999_999_000_000_000);
        assert_eq!(record.observed_time_unix_nano, 1_750_000_000_000_000_000);
        assert_eq!(pairs(&record.attributes), [r"counter=\Memory\Available Bytes"]);
        assert_eq!(setup.counts.of(Signal::Logs).accepted(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn events_wait_for_a_collector_that_is_away_and_the_oldest_go_where_there_is_no_room() {
    let setup = setup("http", ", queue_records: 3", []);
    *setup.collector.away.lock() = true;
    for body in ["a", "b", "c", "d", "e"] {
        setup.happens(body);
    }
    assert_eq!(setup.counts.of(Signal::Logs).lost(), [("queue_full", 2)]);
    tokio::time::sleep(Duration::from_secs(120)).await;
    *setup.collector.away.lock() = false;
    let received = setup.collector.received(1).await;
    assert_eq!(bodies(&received), ["c", "d", "e"]);
}

#[tokio::test(start_paused = true)]
async fn a_host_with_many_events_drops_none_of_another_one() {
    let mut setup = setup("http", ", queue_records: 20", []);
    *setup.collector.away.lock() = true;
    let resource_of = |name: &str| Arc::new(Resource::of(&Target::new(name), &Facts::default()));
    let (quiet, loud) = (resource_of("quiet"), resource_of("loud"));
    for (resource, body, times) in [(&quiet, "first", 3), (&loud, "flood", 500), (&quiet, "last", 3)] {
        setup.resource = Arc::clone(resource);
        (0..times).for_each(|_| setup.happens(body));
    }
    assert_eq!(setup.counts.of(Signal::Logs).lost(), [("queue_full", 486)]);
    tokio::time::sleep(Duration::from_secs(120)).await;
    *setup.collector.away.lock() = false;
    let received = setup.collector.received(1).await;
    let bodies = bodies(&received);
    for (body, count) in [("first", 3), ("last", 3), ("flood", 14)] {
        assert_eq!(bodies.iter().filter(|known| *known == body).count(), count, "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn events_are_sent_again_until_they_are_taken_and_rejected_ones_are_counted() {
    let setup = setup("grpc", "", [Answer::Grpc(14, "not now", ""), Answer::TakeBut(1)]);
    setup.happens("a");
    setup.happens("b");
    let received = setup.collector.received(2).await;
    assert_eq!(received[0].logs, received[1].logs);
    setup.lost(Signal::Logs, &[("partial_success", 1)]).await;
    let counts = setup.counts.of(Signal::Logs);
    assert_eq!((counts.accepted(), counts.failures()), (1, vec![("busy", 1)]));
    // Points have nothing to do with it.
    assert_eq!((setup.counts.accepted(), setup.counts.failures()), (0, vec![]));
}

#[tokio::test(start_paused = true)]
async fn what_is_too_large_goes_in_smaller_requests_and_in_order() {
    let setup = setup("http", "", [Answer::NoMoreThan(700)]);
    let names: Vec<String> = (0..8).map(|number| format!("event number {number}")).collect();
    names.iter().for_each(|name| setup.happens(name));
    while setup.counts.of(Signal::Logs).accepted() < 8 {
        setup.collector.received(1).await;
        tokio::task::yield_now().await;
    }
    let taken: Vec<Received> = setup.collector.now().into_iter().filter(|received| received.taken).collect();
    assert!(taken.len() > 1);
    assert_eq!(bodies(&taken), names);
}

#[tokio::test(start_paused = true)]
async fn at_the_end_what_waits_is_sent_once() {
    let there = setup("http", "", []);
    there.happens("last words");
    there.pusher.stop(Duration::from_secs(5)).await;
    assert_eq!(bodies(&there.collector.now()), ["last words"]);

    let away = setup("http", "", []);
    *away.collector.away.lock() = true;
    away.happens("never alerts");
    away.pusher.stop(Duration::from_secs(5)).await;
    assert_eq!(away.counts.of(Signal::Logs).lost(), [("ended", 1)]);
}

#[tokio::test(start_paused = true)]
async fn who_wants_no_events_gets_none() {
    let setup = setup("http", ", logs: false", []);
    setup.happens("a");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(setup.collector.now().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_collection_is_a_span_and_its_stages_are_below_it() {
    for (word, path) in
        [("grpc", "/opentelemetry.proto.collector.trace.v1.TraceService/Export"), ("http", "/v1/traces")]
    {
        let setup = setup(word, ", traces: {}", []);
        let failure = Failure::new(Stage::Query, GeneralReason::Timeout, "no reply");
        setup.ends("web1", Outcome::Failed(failure), Duration::from_millis(60));
        let received = setup.collector.received(1).await.remove(0);
        assert_eq!(received.path, path);
        let spans = spans(&received);
        let [root, tcp, query] = &spans[..] else { panic!("{spans:?}") };
        assert_eq!((root.trace_id.len(), root.span_id.len(), root.parent_span_id.len()), (16, 8, 0));
        assert_eq!((&*root.name, root.kind), ("collect os", 1));
        assert_eq!(root.end_time_unix_nano, 1_750_000_000_000_000_000);
        assert_eq!(root.end_time_unix_nano - root.start_time_unix_nano, 60_000_000);
        let status = root.status.as_ref().unwrap();
        assert_eq!((status.code, &*status.message), (2, "query: timeout: no reply"));
        assert_eq!(
            pairs(&root.attributes),
            [
                "perfmon.module=os",
                "perfmon.plugin=pcq",
                "perfmon.trigger=schedule",
                "perfmon.outcome=failed",
                "perfmon.series=12",
                "perfmon.stage=query",
                "error.type=timeout"
            ]
        );
        for child in [tcp, query] {
            assert_eq!((&child.trace_id, &child.parent_span_id), (&root.trace_id, &root.span_id));
            assert!(child.start_time_unix_nano >= root.start_time_unix_nano);
        }
        assert_ne!(tcp.span_id, query.span_id);
        assert_eq!((&*query.name, query.kind, query.status.as_ref().unwrap().code), ("query", 3, 2));
        assert_eq!(query.end_time_unix_nano - query.start_time_unix_nano, 30_000_000);
        assert_eq!((&*tcp.name, &tcp.status), ("tcp", &None));
        assert_eq!(
            pairs(&tcp.attributes),
            ["perfmon.calls=3", "perfmon.received_bytes=4096", "perfmon.sent_bytes=128"]
        );
        assert_eq!(setup.counts.of(Signal::Traces).accepted(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn collections_are_traced_where_that_is_asked_for_and_nowhere_else() {
    let setup = setup("http", ", traces: {targets: ['web*'], failed: true, slower_than: 1s}", []);
    setup.ends("db1", Outcome::Full, Duration::from_secs(9));
    setup.ends("web1", Outcome::Full, Duration::from_millis(900));
    setup.ends("web1", Outcome::Full, Duration::from_millis(1100));
    let failure = Failure::new(Stage::Tcp, GeneralReason::ConnectionRefused, "");
    setup.ends("web2", Outcome::Failed(failure), Duration::from_millis(3));
    let received = setup.collector.received(1).await.remove(0);
    let spans = spans(&received);
    let roots: Vec<&Span> = spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
    let took = |span: &Span| (span.end_time_unix_nano - span.start_time_unix_nano) / 1_000_000;
    assert_eq!(roots.iter().map(|span| took(span)).collect::<Vec<_>>(), [1100, 3]);
    assert_ne!(roots[0].trace_id, roots[1].trace_id);
}

#[tokio::test(start_paused = true)]
async fn one_in_so_many_collections_is_drawn() {
    let setup = setup("http", ", traces: {one_in: 4}", []);
    for _ in 0..1_000 {
        setup.ends("web1", Outcome::Full, Duration::from_millis(1));
    }
    // Three spans each; 250 of 1,000 with a deviation of 14: eight times that is never seen.
    setup.pusher.stop(Duration::from_secs(5)).await;
    let drawn = setup.counts.of(Signal::Traces).accepted() / 3;
    assert!((140..360).contains(&drawn), "{drawn}");
}

#[test]
fn traces_have_keys_that_are_checked() {
    let problem = |traces: &str| {
        let text = format!("otlp: [{{endpoint: 'http://c', traces: {{{traces}}}}}]\n");
        parse("perfmon.yml", &text, std::path::Path::new(".")).unwrap_err().to_string()
    };
    assert!(problem("one_in: 0").contains("otlp[0].traces.one_in"), "{}", problem("one_in: 0"));
    assert!(problem("slower: 1s").contains("slower_than"), "{}", problem("slower: 1s"));
    assert_eq!(endpoint("grpc", ", traces: {one_in: 5}").traces.as_ref().unwrap().one_in, 5);
    assert_eq!(endpoint("grpc", "").protocol, OtlpProtocol::Grpc);
}
