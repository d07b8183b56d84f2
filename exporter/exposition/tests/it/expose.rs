//! Pages as a reader sees them.

use std::sync::Arc;

use expect_test::expect;
use exposition::testing::peer;
use exposition::testing::plugin::{
    complete, counter, gauge, instances, send, send_column, store, store_with,
};
use exposition::{Encoder, Format, OwnMetrics, page};
use plugin_abi::{Column, FamilyDef, Kind, Outcome, ValueKind};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use series::model::{Snapshot, Target};
use series::pipeline::{Catalog, Limits, NoObserver, Scope};

use crate::text_reader::parse;

/// Two targets with three kinds of families in common.
fn two_targets() -> Vec<Arc<Snapshot>> {
    let catalog = Catalog::new();
    let targets = [Target::new("web1").with_label("env", "prod"), Target::new("web2")];
    let snapshots = targets.into_iter().map(|target| {
        let store = Scope::new(Arc::clone(&catalog), target, Limits::default()).store(Arc::new(NoObserver));
        let busy = FamilyDef {
            unit: "seconds",
            help: "Time in which the \"unit\" was busy",
            origin: r"\X(*)\% Busy Time [PERF_100NSEC_TIMER]",
            ..counter("% Busy Time")
        };
        let ids = instances(&store, &busy, &["0", "1"]);
        send(&store, &ids, &[1.5, f64::INFINITY]);
        let ids = instances(&store, &gauge("Queue Length"), &["C:\\"]);
        send(&store, &ids, &[-2.0]);
        let version = FamilyDef { kind: Kind::Info, ..gauge("Version") };
        let ids = instances(&store, &version, &["10.0"]);
        send(&store, &ids, &[7.0]);
        let unknown = FamilyDef { kind: Kind::Unknown, ..gauge("Anything") };
        let ids = instances(&store, &unknown, &["0"]);
        send(&store, &ids, &[f64::NAN]);
        complete(&store, Outcome::Full);
        store.snapshot()
    });
    snapshots.collect()
}

#[test]
fn classic_text_groups_the_families_of_all_targets() {
    expect![[r#"
        # TYPE perfmon_x_anything untyped
        perfmon_x_anything{target="web1",env="prod",counter_instance="0"} NaN
        perfmon_x_anything{target="web2",counter_instance="0"} NaN
        # HELP perfmon_x_busy_time_seconds_total Time in which the "unit" was busy. \\X(*)\\% Busy Time [PERF_100NSEC_TIMER]
        # TYPE perfmon_x_busy_time_seconds_total counter
        perfmon_x_busy_time_seconds_total{target="web1",env="prod",counter_instance="0"} 1.5
        perfmon_x_busy_time_seconds_total{target="web1",env="prod",counter_instance="1"} +Inf
        perfmon_x_busy_time_seconds_total{target="web2",counter_instance="0"} 1.5
        perfmon_x_busy_time_seconds_total{target="web2",counter_instance="1"} +Inf
        # TYPE perfmon_x_queue_length gauge
        perfmon_x_queue_length{target="web1",env="prod",counter_instance="C:\\"} -2
        perfmon_x_queue_length{target="web2",counter_instance="C:\\"} -2
        # TYPE perfmon_x_version_info gauge
        perfmon_x_version_info{target="web1",env="prod",counter_instance="10.0"} 1
        perfmon_x_version_info{target="web2",counter_instance="10.0"} 1
    "#]]
    .assert_eq(&page(Format::Text, two_targets(), None));
}

#[test]
fn openmetrics_names_families_without_suffix_and_tells_units() {
    expect![[r#"
        # TYPE perfmon_x_anything unknown
        perfmon_x_anything{target="web1",env="prod",counter_instance="0"} NaN
        perfmon_x_anything{target="web2",counter_instance="0"} NaN
        # HELP perfmon_x_busy_time_seconds Time in which the \"unit\" was busy. \\X(*)\\% Busy Time [PERF_100NSEC_TIMER]
        # TYPE perfmon_x_busy_time_seconds counter
        # UNIT perfmon_x_busy_time_seconds seconds
        perfmon_x_busy_time_seconds_total{target="web1",env="prod",counter_instance="0"} 1.5
        perfmon_x_busy_time_seconds_total{target="web1",env="prod",counter_instance="1"} +Inf
        perfmon_x_busy_time_seconds_total{target="web2",counter_instance="0"} 1.5
        perfmon_x_busy_time_seconds_total{target="web2",counter_instance="1"} +Inf
        # TYPE perfmon_x_queue_length gauge
        perfmon_x_queue_length{target="web1",env="prod",counter_instance="C:\\"} -2
        perfmon_x_queue_length{target="web2",counter_instance="C:\\"} -2
        # TYPE perfmon_x_version info
        perfmon_x_version_info{target="web1",env="prod",counter_instance="10.0"} 1
        perfmon_x_version_info{target="web2",counter_instance="10.0"} 1
        # EOF
    "#]]
    .assert_eq(&page(Format::OpenMetrics, two_targets(), None));
}

#[test]
fn an_empty_page_is_a_page() {
    assert_eq!(page(Format::Text, Vec::new(), None), "");
    assert_eq!(page(Format::OpenMetrics, Vec::new(), None), "# EOF\n");
    assert_eq!(page(Format::Text, vec![store("web1").snapshot()], None), "");
}

#[test]
fn a_family_without_values_has_no_lines() {
    let store = store("web1");
    let ids = instances(&store, &gauge("A"), &["0"]);
    instances(&store, &gauge("B"), &["0"]);
    send(&store, &ids, &[1.0]);
    complete(&store, Outcome::Full);
    assert!(!page(Format::Text, vec![store.snapshot()], None).contains("perfmon_x_b"));
}

#[test]
fn a_page_is_the_same_in_pieces_of_any_size() {
    for format in [Format::Text, Format::OpenMetrics] {
        let own = || Some(OwnMetrics::read(&own_registry()).unwrap());
        let whole = page(format, two_targets(), own());
        for chunk_bytes in [1, 7, 100, 1_000_000] {
            let mut encoder = Encoder::new(format, two_targets(), own()).with_chunk_bytes(chunk_bytes);
            let (mut pieces, mut piece) = (Vec::new(), Vec::new());
            while encoder.next_chunk(&mut piece) {
                let longest = whole.lines().map(str::len).max().unwrap_or(0);
                assert!(piece.len() <= chunk_bytes + 4 * longest, "a piece is bounded");
                pieces.append(&mut piece);
            }
            assert_eq!(String::from_utf8(pieces).unwrap(), whole);
            assert!(!encoder.next_chunk(&mut piece) && piece.is_empty(), "it stays complete");
        }
    }
}

#[test]
fn snapshots_of_strangers_do_not_break_a_page() {
    let (first, second) = (store("web1"), store("web2"));
    for (store, def) in [(&first, gauge("A")), (&second, FamilyDef { kind: Kind::Unknown, ..gauge("A") })] {
        let ids = instances(store, &def, &["0"]);
        send(store, &ids, &[1.0]);
        complete(store, Outcome::Full);
    }
    let text = page(Format::Text, vec![first.snapshot(), second.snapshot()], None);
    let samples = parse(Format::Text, &text).unwrap();
    assert_eq!(samples.len(), 1, "one kind is left out:\n{text}");
}

fn own_registry() -> Registry {
    let mut registry = Registry::with_prefix("perfmon_exporter");
    let collections = Counter::<u64>::default();
    collections.inc_by(3);
    registry.register("collections", "Collections \\ of \"all\" targets", collections);
    let up = Gauge::<i64>::default();
    registry.register("target_up", "Whether the last collection succeeded", up);
    let seconds = Histogram::new([1.0]);
    seconds.observe(0.5);
    registry.register_with_unit("stage", "Time in stages", Unit::Seconds, seconds);
    registry.register("build", "The build", Info::new([("version", "1 # 2")]));
    registry
}

#[test]
fn own_metrics_read_well_in_both_formats() {
    let own = OwnMetrics::read(&own_registry()).unwrap();
    expect![[r#"
        # HELP perfmon_exporter_collections_total Collections \\ of "all" targets.
        # TYPE perfmon_exporter_collections_total counter
        perfmon_exporter_collections_total 3
        # HELP perfmon_exporter_target_up Whether the last collection succeeded.
        # TYPE perfmon_exporter_target_up gauge
        perfmon_exporter_target_up 0
        # HELP perfmon_exporter_stage_seconds Time in stages.
        # TYPE perfmon_exporter_stage_seconds histogram
        perfmon_exporter_stage_seconds_bucket{le="1.0"} 1
        perfmon_exporter_stage_seconds_bucket{le="+Inf"} 1
        perfmon_exporter_stage_seconds_sum 0.5
        perfmon_exporter_stage_seconds_count 1
        # HELP perfmon_exporter_build_info The build.
        # TYPE perfmon_exporter_build_info gauge
        perfmon_exporter_build_info{version="1 # 2"} 1
    "#]]
    .assert_eq(&page(Format::Text, Vec::new(), Some(own.clone())));
    expect![[r#"
        # HELP perfmon_exporter_collections Collections \\ of \"all\" targets.
        # TYPE perfmon_exporter_collections counter
        perfmon_exporter_collections_total 3
        # HELP perfmon_exporter_target_up Whether the last collection succeeded.
        # TYPE perfmon_exporter_target_up gauge
        perfmon_exporter_target_up 0
        # HELP perfmon_exporter_stage_seconds Time in stages.
        # TYPE perfmon_exporter_stage_seconds histogram
        # UNIT perfmon_exporter_stage_seconds seconds
        perfmon_exporter_stage_seconds_bucket{le="1.0"} 1
        perfmon_exporter_stage_seconds_bucket{le="+Inf"} 1
        perfmon_exporter_stage_seconds_sum 0.5
        perfmon_exporter_stage_seconds_count 1
        # HELP perfmon_exporter_build The build.
        # TYPE perfmon_exporter_build info
        perfmon_exporter_build_info{version="1 # 2"} 1
        # EOF
    "#]]
    .assert_eq(&page(Format::OpenMetrics, Vec::new(), Some(own)));
}

/// The judge is `prometheus_client`'s encoder, as far as it goes: it does not escape HELP and writes whole doubles
/// with `.0`.
#[test]
fn openmetrics_is_what_prometheus_client_writes() {
    let catalog = Catalog::new();
    let stores = ["web1", "web\"2\n"].map(|name| store_with(&catalog, name, Limits::default()));
    for store in &stores {
        let ids = instances(store, &gauge("A"), &["C:\\", "\"quoted\"\n", "0"]);
        send(store, &ids, &[0.25, f64::NAN, -1e-3]);
        let ids = instances(store, &FamilyDef { unit: "bytes", help: "Some help", ..gauge("B") }, &["0"]);
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
    let mut theirs = String::new();
    prometheus_client::encoding::text::encode(&mut theirs, &registry).unwrap();
    // It writes a HELP line even where there is nothing to say.
    let theirs: String = theirs
        .lines()
        .filter(|line| !(line.starts_with("# HELP") && line.ends_with(' ')))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(page(Format::OpenMetrics, snapshots, None), theirs);
}
