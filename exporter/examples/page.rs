//! Prints a page of series that do not exist, for readers that are not ours: promtool, the Python parsers.
//!
//! `page FORMAT SERIES [nasty]` where FORMAT is `text` or `openmetrics`. With `nasty`, families follow whose
//! labels, help and values are as unpleasant as they may be, and a registry of `prometheus_client`.
#![allow(clippy::panic, reason = "an example fails by panicking")]

#[path = "../benches/support/workload.rs"]
mod workload;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use exposition::{Encoder, Format, OwnMetrics};
use plugin_abi::{Batch, Column, DataSink, Display, FamilyDef, Kind, SeriesDef, ValueKind};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use series::model::{Snapshot, Target};
use series::pipeline::{Catalog, Limits, NoObserver, Scope};

use self::workload::Fleet;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (format, series, nasty) = match arguments[..] {
        ["text", series] => (Format::Text, series, false),
        ["openmetrics", series] => (Format::OpenMetrics, series, false),
        ["text", series, "nasty"] => (Format::Text, series, true),
        ["openmetrics", series, "nasty"] => (Format::OpenMetrics, series, true),
        _ => return usage(),
    };
    let Ok(series) = series.parse() else { return usage() };
    let fleet = Fleet::new(series);
    fleet.collect(1);
    let mut snapshots = fleet.snapshots();
    let mut own = None;
    if nasty {
        snapshots.extend(nasty_snapshots());
        own = Some(own_metrics());
    }
    let mut encoder = Encoder::new(format, snapshots, own);
    let mut piece = Vec::new();
    let mut out = std::io::stdout().lock();
    while encoder.next_chunk(&mut piece) {
        if out.write_all(&piece).is_err() {
            return ExitCode::FAILURE;
        }
        piece.clear();
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: page text|openmetrics SERIES [nasty]");
    ExitCode::from(2)
}

/// Two targets with every kind, every value kind, and strings from hell.
fn nasty_snapshots() -> Vec<Arc<Snapshot>> {
    let catalog = Catalog::new();
    let targets = [
        Target::new("web\"1\\\n").with_label("env", "prod # {}").with_label("counter_instance", "clash"),
        Target::new("web2\u{e9}\u{1f600}"),
    ];
    let snapshots = targets.into_iter().map(|target| {
        let store = Scope::new(Arc::clone(&catalog), target, Limits::default()).store(Arc::new(NoObserver));
        let mut verdicts = Vec::new();
        let family = |item, kind, unit, value| FamilyDef {
            namespace: "",
            object: "Nasty",
            item,
            part: "",
            kind,
            unit,
            help: "A \\ back \" slash\r\nand a second line \0 \u{2028} # EOF",
            origin: "\\Nasty(*)\\Item [PERF_COUNTER_RAWCOUNT]",
            value,
            bounds: &[],
            display: Display::NONE,
        };
        store.register_families(
            &[
                family("% Level", Kind::Gauge, "ratio", ValueKind::F64),
                family("Thread Count", Kind::Gauge, "", ValueKind::I64),
                family("Bytes Total/sec", Kind::Counter, "bytes", ValueKind::U64),
                family("Busy", Kind::Counter, "seconds", ValueKind::F64),
                family("Version", Kind::Info, "", ValueKind::F64),
                family("Who Knows", Kind::Unknown, "", ValueKind::F64),
            ],
            &mut verdicts,
        );
        let instances: Vec<String> =
            INSTANCES.iter().map(|&text| text.to_owned()).chain([String::new()]).collect();
        let labels: Vec<_> = instances.iter().map(|text| [("counter_instance", text.as_str())]).collect();
        let defs: Vec<_> = (0..6)
            .flat_map(|family| labels.iter().map(move |labels| SeriesDef::new(family, labels, None)))
            .collect();
        verdicts.clear();
        store.register_series(&defs, &mut verdicts);
        let each = u32::try_from(labels.len()).expect("a few");
        let ids = |family: u32| -> Vec<u32> { (family * each..(family + 1) * each).collect() };
        for (family, values) in [
            (0, Column::F64(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, f64::MAX, 0.1])),
            (1, Column::I64(&[i64::MIN, i64::MAX, -1, 0, 1, 2, 3])),
            (2, Column::U64(&[u64::MAX, (1 << 53) + 1, 0, 1, 2, 3, 4])),
            (3, Column::F64(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e21, 1e-7, 0.5])),
            (4, Column::F64(&[f64::NAN, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0])),
            (5, Column::F64(&[f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, 123_456.789, 7.0])),
        ] {
            store.batch(&Batch { ids: &ids(family), values, timestamps: None, start_times: None });
        }
        workload::complete(&*store, 1);
        store.snapshot()
    });
    snapshots.collect()
}

const INSTANCES: [&str; 6] = [
    "C:\\Windows\\\"x\"\n{a=\"b\"} 1 # EOF",
    "\0\r\u{7f}\u{85}\u{2028}",
    "\\",
    "\"",
    "_Total",
    "日本\u{fffd}é😀",
];

/// One of each kind that the exporter itself may use.
fn own_metrics() -> OwnMetrics {
    let mut registry = Registry::with_prefix("perfmon_exporter");
    let collections: Family<Vec<(String, String)>, Counter> = Family::default();
    collections.get_or_create(&vec![("target".into(), "a \" # {x=\"y\"} \\".into())]).inc_by(u64::MAX);
    registry.register("collections", "Collections \\ with a \"quote\"", collections);
    let duration: Gauge<f64, std::sync::atomic::AtomicU64> = Gauge::default();
    duration.set(0.25);
    registry.register_with_unit("last_collection_duration", "How long it took", Unit::Seconds, duration);
    let histogram = Histogram::new([0.1, 1.0]);
    histogram.observe(0.5);
    registry.register_with_unit("stage", "How long stages take", Unit::Seconds, histogram);
    registry.register("build", "Which build this is", Info::new([("version", "0.1.0")]));
    OwnMetrics::read(&registry).expect("a String takes everything")
}
