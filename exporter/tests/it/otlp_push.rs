//! What reaches a collector that is well, and one that is not. No test waits for real: time is tokio's, and paused.

use std::sync::Arc;
use std::time::Duration;

use config::parse;
use expect_test::expect;
use exposition::testing::plugin::{complete, counter, gauge, instances, send, send_column, store};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use otlp::encode::{Facts, Resource, Scope};
use otlp::push::{Counts, Item, Pusher, Shared, Supply};
use otlp::push::{OtlpEndpoint, OtlpProtocol};
use parking_lot::Mutex;
use plugin_abi::{FamilyDef, Outcome, ValueKind};
use prometheus_client::registry::Registry;
use series::pipeline::Store;
use support::http_client::Connector;
use tokio::time::Instant;

use crate::otlp_collector::{Answer, Collector, Memory, Received, Wall};

/// A host whose counter grows by ten in each collection.
struct Host {
    store: Mutex<Option<Arc<Store>>>,
    ids: Vec<u32>,
    rounds: Mutex<u64>,
    resource: Arc<Resource>,
}

impl Host {
    fn new(series: usize) -> Arc<Self> {
        let store = store("web1");
        let names: Vec<String> = (0..series).map(|index| index.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let ids = instances(&store, &FamilyDef { value: ValueKind::U64, ..counter("Requests") }, &names);
        let resource = Arc::new(Resource::of(store.snapshot().target(), &Facts::default()));
        Arc::new(Self { store: Mutex::new(Some(store)), ids, rounds: Mutex::default(), resource })
    }
}

/// Each time that it is asked a collection ended just before.
impl Supply for Host {
    fn items(&self, now_unix_nanos: u64) -> Vec<Item> {
        let Some(store) = self.store.lock().clone() else { return Vec::new() };
        let mut rounds = self.rounds.lock();
        *rounds += 1;
        send_column(&store, &self.ids, plugin_abi::Column::U64(&vec![*rounds * 10; self.ids.len()]));
        complete(&store, Outcome::Full);
        vec![Item {
            key: 1,
            resource: Arc::clone(&self.resource),
            scope: Arc::new(Scope::new("pcq", "1")),
            snapshot: store.snapshot(),
            time_unix_nanos: now_unix_nanos,
            ends: false,
        }]
    }
}

fn endpoint(protocol: &str, more: &str) -> Arc<OtlpEndpoint> {
    let text = format!(
        "otlp: [{{endpoint: 'http://collector', name: c, protocol: {protocol}, interval: 10s, timeout: 5s{more}}}]\n"
    );
    let config =
        parse("perfmon.yml", &text, std::path::Path::new(".")).unwrap_or_else(|report| panic!("{report}"));
    Arc::clone(&config.otlp[0])
}

fn protocol(word: &str) -> OtlpProtocol {
    endpoint(word, "").protocol
}

struct Push {
    pusher: Pusher,
    collector: Arc<Collector>,
    counts: Arc<Counts>,
    host: Arc<Host>,
}

/// Pushes a host with so many series.
fn push(word: &str, more: &str, series: usize, answers: impl IntoIterator<Item = Answer>) -> Push {
    let (collector, host) = (Collector::new(protocol(word), answers), Host::new(series));
    let mut pusher = Pusher::empty();
    let supply = Arc::clone(&host);
    let shared = Shared { supply, clock: Arc::new(Wall(Instant::now())), templates: Arc::default() };
    let connector = Arc::new(Memory(Arc::clone(&collector)));
    let counts = pusher.add(endpoint(word, more), connector, shared, 7);
    Push { pusher, collector, counts, host }
}

/// The values of a request.
fn numbers(received: &Received) -> Vec<i64> {
    let scopes = received.message.resource_metrics.iter().flat_map(|resource| &resource.scope_metrics);
    let metrics = scopes.flat_map(|scope| &scope.metrics);
    let points = metrics.flat_map(|metric| match &metric.data {
        Some(Data::Sum(sum)) => sum.data_points.clone(),
        Some(Data::Gauge(gauge)) => gauge.data_points.clone(),
        other => panic!("{other:?}"),
    });
    let values = points.map(|point| match (point.flags, point.value) {
        (0, Some(Value::AsInt(value))) => value,
        (1, None) => -1,
        other => panic!("{other:?}"),
    });
    values.collect()
}

fn wait_between(received: &[Received], first: usize) -> Duration {
    received[first + 1].at - received[first].at
}

#[tokio::test(start_paused = true)]
async fn rounds_come_at_each_interval_by_either_protocol_and_compression() {
    for word in ["grpc", "http"] {
        for compression in ["gzip", "zstd", "none"] {
            let more = format!(", compression: {compression}, headers: {{x-scope-orgid: tenant}}");
            let push = push(word, &more, 3, []);
            let received = push.collector.received(3).await;
            assert_eq!(numbers(&received[2]), [30, 30, 30], "{word} {compression}");
            assert_eq!(wait_between(&received, 1).as_secs(), 10);
            assert_eq!(received[0].headers["x-scope-orgid"], "tenant");
            let path = match word {
                "grpc" => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
                _ => "/v1/metrics",
            };
            assert_eq!(received[0].path, path);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_busy_collector_is_asked_again_after_what_it_says() {
    // RetryInfo of 3.5 s, made by Python's googleapis-common-protos.
    let details =
        "CAgSCXNsb3cgZG93bho2Cih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuUmV0cnlJbmZvEgoKCAgDEIDKte4B";
    for (word, answer, at_least) in [
        ("http", Answer::Http(429, "retry-after", "4"), 4.0),
        ("http", Answer::Http(503, "x", "y"), 0.5),
        ("grpc", Answer::Grpc(8, "slow down", details), 3.5),
        ("grpc", Answer::Grpc(14, "not now", ""), 0.5),
    ] {
        let push = push(word, "", 2, [answer.clone()]);
        let received = push.collector.received(2).await;
        let waited = wait_between(&received, 0).as_secs_f64();
        assert!((at_least..at_least * 2.0 + 0.1).contains(&waited), "{answer:?}: {waited}");
        assert_eq!(received[0].message, received[1].message);
        push.collector.received(3).await;
        assert_eq!(push.counts.failures(), [("busy", 1)]);
        assert_eq!(push.counts.lost(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_hangs_is_given_up_after_the_timeout() {
    for word in ["http", "grpc"] {
        let push = push(word, "", 2, [Answer::Hang]);
        let received = push.collector.received(2).await;
        assert!(wait_between(&received, 0).as_secs_f64() >= 5.5);
        push.collector.received(3).await;
        assert_eq!(push.counts.failures(), [("timeout", 1)]);
        assert_eq!(push.counts.lost(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_too_large_comes_in_pieces() {
    for word in ["http", "grpc"] {
        let push = push(word, "", 500, [Answer::NoMoreThan(9_000)]);
        let first_round = |received: &[Received]| -> usize {
            let taken = received.iter().filter(|received| received.taken);
            taken.map(numbers).filter(|numbers| numbers[0] == 10).map(|numbers| numbers.len()).sum()
        };
        let mut count = 1;
        while first_round(&push.collector.received(count).await) < 500 {
            count += 1;
        }
        let refused = push.collector.now().iter().filter(|received| !received.taken).count();
        assert!((1..5).contains(&refused), "the size is found by halving, and then known: {refused}");
        push.collector.received(count + 1).await;
        assert_eq!((push.counts.lost(), push.counts.failures()), (vec![], vec![]));
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_too_large_for_a_while_comes_in_large_requests_again() {
    let push = push("http", "", 500, std::iter::repeat_n(Answer::Http(413, "x", "y"), 30));
    tokio::time::sleep(Duration::from_secs(35)).await;
    let received = push.collector.now();
    assert!(received.iter().any(|received| numbers(received).len() == 1), "the size went down to one point");
    let last = received.last().unwrap();
    assert_eq!((last.taken, numbers(last).len()), (true, 500), "after {} requests", received.len());
}

#[tokio::test(start_paused = true)]
async fn where_every_point_is_too_large_not_every_one_is_tried() {
    for word in ["http", "grpc"] {
        let push = push(word, "", 500, [Answer::NoMoreThan(0)]);
        tokio::time::sleep(Duration::from_secs(9)).await;
        assert_eq!(push.counts.lost(), [("too_large", 500)]);
        let requests = push.collector.now().len();
        assert!((20..60).contains(&requests), "{requests}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_too_long_to_be_read_is_one_all_the_same() {
    let push = push("http", "", 5, [Answer::Long(400), Answer::Long(200), Answer::Long(503)]);
    let received = push.collector.received(5).await;
    let values: Vec<i64> = received.iter().map(|received| numbers(received)[0]).collect();
    assert_eq!(values, [10, 20, 30, 30, 40]);
    assert_eq!((push.counts.lost(), push.counts.failures()), (vec![("invalid", 5)], vec![("busy", 1)]));
}

#[tokio::test(start_paused = true)]
async fn refused_points_are_counted_by_reason_and_not_sent_again() {
    let answers = [Answer::TakeBut(2), Answer::Http(400, "x", "y"), Answer::Http(401, "x", "y")];
    let push = push("http", "", 5, answers);
    let received = push.collector.received(5).await;
    let values: Vec<i64> = received.iter().map(|received| numbers(received)[0]).collect();
    assert_eq!(values, [10, 20, 30, 40, 50]);
    assert_eq!(push.counts.lost(), [("invalid", 5), ("partial_success", 2), ("unauthorized", 5)]);
    assert!(push.counts.accepted() >= 8);
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_was_away_has_every_increment_at_the_end() {
    for temporality in ["cumulative", "delta"] {
        let more = format!(", temporality: {temporality}, queue_points: 1000");
        let push = push("grpc", &more, 400, []);
        push.collector.received(1).await;
        *push.collector.away.lock() = true;
        push.collector.will(Answer::Hang);
        tokio::time::sleep(Duration::from_secs(600)).await;
        *push.collector.away.lock() = false;
        let before = push.collector.now().len();
        push.collector.received(before + 4).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let rounds = i64::try_from(*push.host.rounds.lock()).unwrap();
        let taken: Vec<i64> = push
            .collector
            .now()
            .iter()
            .filter(|received| received.taken)
            .filter_map(|received| numbers(received).first().copied())
            .collect();
        match temporality {
            "cumulative" => assert_eq!(taken.last(), Some(&(rounds * 10))),
            // The first round says what all are compared with.
            _ => assert_eq!(taken.iter().sum::<i64>(), (rounds - 1) * 10),
        }
        assert!(taken.len() < 20, "a queue of two rounds took {}", taken.len());
        let lost = push.counts.lost();
        assert!(matches!(lost[..], [("queue_full", lost)] if lost > 400 * 40), "{lost:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_that_is_removed_is_told_to_be_gone() {
    let push = push("http", "", 2, []);
    push.collector.received(1).await;
    *push.host.store.lock() = None;
    let received = push.collector.received(2).await;
    assert_eq!(numbers(&received[1]), [-1, -1]);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(push.collector.now().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn at_the_end_a_last_round_is_sent() {
    let Push { pusher, collector, .. } = push("http", "", 1, []);
    collector.received(1).await;
    pusher.stop(Duration::from_secs(5)).await;
    let received = collector.now();
    assert_eq!((received.len(), numbers(&received[1])), (2, vec![20]));
}

#[tokio::test(start_paused = true)]
async fn at_the_end_a_collector_that_is_away_delays_nothing_for_long() {
    let Push { pusher, collector, counts, .. } = push("http", "", 1, []);
    *collector.away.lock() = true;
    tokio::time::sleep(Duration::from_secs(30)).await;
    let begun = Instant::now();
    pusher.stop(Duration::from_secs(5)).await;
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(counts.lost().iter().any(|&(reason, _)| reason == "ended"));
}

#[tokio::test(start_paused = true)]
async fn one_collector_that_hangs_does_not_delay_another() {
    let (hanging, well) = (
        Collector::new(OtlpProtocol::Grpc, std::iter::repeat_n(Answer::Hang, 100)),
        Collector::new(OtlpProtocol::Http, []),
    );
    let host = Host::new(1);
    let shared = Shared { supply: host, clock: Arc::new(Wall(Instant::now())), templates: Arc::default() };
    let mut pusher = Pusher::empty();
    pusher.add(endpoint("grpc", ""), Arc::new(Memory(hanging)), shared.clone(), 1);
    pusher.add(endpoint("http", ""), Arc::new(Memory(Arc::clone(&well))), shared, 2);
    let received = well.received(6).await;
    assert_eq!(wait_between(&received, 4), Duration::from_secs(10));
}

#[tokio::test(start_paused = true)]
async fn what_is_pushed_is_told_on_the_page() {
    let push = push("http", "", 5, [Answer::Http(503, "x", "y"), Answer::TakeBut(2)]);
    push.collector.received(2).await;
    while push.counts.accepted() == 0 {
        tokio::task::yield_now().await;
    }
    let mut registry = Registry::default();
    registry.register_collector(Box::new(push.pusher.metrics()));
    let mut page = String::new();
    prometheus_client::encoding::text::encode(&mut page, &registry).unwrap();
    let plain = |line: &&str| !line.starts_with('#') && !line.contains("seconds") && !line.contains("bytes");
    // Every reason has its line, be it with a zero.
    let moved = |line: &&str| plain(line) && !(line.contains("reason=") && line.ends_with(" 0"));
    let lines: Vec<&str> = page.lines().filter(moved).collect();
    expect![[r#"
        perfmon_exporter_otlp_up{endpoint="c"} 1
        perfmon_exporter_otlp_queue_rounds{endpoint="c"} 0
        perfmon_exporter_otlp_queue_points{endpoint="c"} 0
        perfmon_exporter_otlp_points_accepted_total{endpoint="c"} 3
        perfmon_exporter_otlp_points_lost_total{endpoint="c",reason="partial_success"} 2
        perfmon_exporter_otlp_queue_log_records{endpoint="c"} 0
        perfmon_exporter_otlp_log_records_accepted_total{endpoint="c"} 0
        perfmon_exporter_otlp_requests_total{endpoint="c",signal="metrics"} 2
        perfmon_exporter_otlp_requests_total{endpoint="c",signal="logs"} 0
        perfmon_exporter_otlp_failures_total{endpoint="c",signal="metrics",reason="busy"} 1"#]]
    .assert_eq(&lines.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn each_reason_of_a_loss_or_failure_has_its_zero_before_the_first() {
    let push = push("http", "", 1, []);
    push.collector.received(1).await;
    let mut registry = Registry::default();
    registry.register_collector(Box::new(push.pusher.metrics()));
    let mut page = String::new();
    prometheus_client::encoding::text::encode(&mut page, &registry).unwrap();
    let reasons = |series: &str| -> String {
        let rows = page.lines().filter_map(|line| line.strip_prefix(series));
        let reasons = rows.map(|row| row.strip_suffix("\"} 0").unwrap_or_else(|| panic!("{series}{row}")));
        reasons.collect::<Vec<_>>().join(" ")
    };
    let failures = "busy invalid not_found secret timeout tls unauthorized unexpected unreachable";
    let losses = "busy ended invalid not_found partial_success queue_full secret timeout tls too_large unauthorized \
                  unexpected unreachable";
    for signal in ["metrics", "logs"] {
        let series =
            format!("perfmon_exporter_otlp_failures_total{{endpoint=\"c\",signal=\"{signal}\",reason=\"");
        assert_eq!(reasons(&series), failures);
    }
    for items in ["points", "log_records"] {
        let series = format!("perfmon_exporter_otlp_{items}_lost_total{{endpoint=\"c\",reason=\"");
        assert_eq!(reasons(&series), losses);
    }
    // The endpoint sends no traces.
    assert!(
        !page.contains("perfmon_exporter_otlp_spans_lost_total{") && !page.contains("\"traces\""),
        "{page}"
    );
}

#[test]
fn a_gauge_of_a_store_that_never_collected_is_no_item_of_a_round() {
    let store = store("web1");
    let ids = instances(&store, &gauge("Queue"), &["a"]);
    let item = |store: &Arc<Store>| Item {
        key: 1,
        resource: Arc::new(Resource::of(store.snapshot().target(), &Facts::default())),
        scope: Arc::new(Scope::new("pcq", "1")),
        snapshot: store.snapshot(),
        time_unix_nanos: 1,
        ends: false,
    };
    let mut queue = otlp::push::Queue::new(10);
    queue.push(vec![item(&store)], 1);
    assert!(queue.pop().is_none());
    send(&store, &ids, &[1.0]);
    complete(&store, Outcome::Full);
    queue.push(vec![item(&store)], 1);
    queue.push(vec![item(&store)], 2);
    assert_eq!((queue.rounds(), queue.points()), (1, 1), "the second round has nothing new");
}

/// A host of two series that is pushed to `endpoint`.
pub(crate) fn pusher_of(endpoint: &Arc<OtlpEndpoint>, connector: Arc<dyn Connector>) -> Pusher {
    let shared =
        Shared { supply: Host::new(2), clock: Arc::new(Wall(Instant::now())), templates: Arc::default() };
    let mut pusher = Pusher::empty();
    pusher.add(Arc::clone(endpoint), connector, shared, 3);
    pusher
}
