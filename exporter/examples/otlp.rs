//! Pushes the benchmark's series to a real collector, twice, and says what each cost this process, as a line of JSON:
//!
//! ```text
//! cargo run --release --example otlp -- http://127.0.0.1:4317 grpc gzip 1000000
//! ```
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "a tool for the bench ends where it fails"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use otlp::encode::{Facts, Resource, Scope};
use otlp::push::{Item, Pusher, Supply};
use serde_json::json;
use series::model::Snapshot;
use support::telemetry::{ProcessUsage, Timings};

#[path = "../benches/support/workload.rs"]
mod workload;

struct Snapshots(Vec<Arc<Snapshot>>);

impl Supply for Snapshots {
    fn items(&self, now_unix_nanos: u64) -> Vec<Item> {
        let items = self.0.iter().zip(1..).map(|(snapshot, key)| Item {
            key,
            resource: Arc::new(Resource::of(snapshot.target(), &Facts::default())),
            scope: Arc::new(Scope::new("workload", "1")),
            snapshot: Arc::clone(snapshot),
            time_unix_nanos: now_unix_nanos,
            ends: false,
        });
        items.collect()
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [endpoint, protocol, compression, series] = &arguments[..] else {
        panic!("usage: otlp ENDPOINT grpc|http gzip|zstd|none SERIES")
    };
    let text = format!(
        "otlp: [{{endpoint: '{endpoint}', protocol: {protocol}, compression: {compression}, interval: 1h}}]"
    );
    let config =
        config::parse("arguments", &text, Path::new(".")).unwrap_or_else(|report| panic!("{report}"));
    let fleet = workload::Fleet::new(series.parse().unwrap());
    fleet.collect(1);
    let supply = Arc::new(Snapshots(fleet.snapshots()));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        for push in ["first push, labels rendered", "second connection, labels rendered again"] {
            let (begun, cpu) = (Instant::now(), cpu_seconds());
            let pusher =
                Pusher::start(&config.otlp, &(Arc::clone(&supply) as Arc<dyn Supply>), &Timings::default());
            let metrics = pusher.metrics();
            pusher.stop(Duration::from_secs(300)).await;
            let counts = &metrics.0.get()[0];
            let (wall, cpu) = (begun.elapsed().as_secs_f64(), cpu_seconds() - cpu);
            let (lost, failures) = (format!("{:?}", counts.lost()), format!("{:?}", counts.failures()));
            println!(
                "{}",
                json!({
                    "push": push, "points": counts.accepted(), "lost": lost, "failures": failures,
                    "seconds": wall, "cpu_seconds": cpu,
                })
            );
        }
    });
}

fn cpu_seconds() -> f64 {
    ProcessUsage::read().cpu_seconds.unwrap_or_default()
}
