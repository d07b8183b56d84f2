//! `/metrics` at 100,000 and 1,000,000 series, every value changed since the last round.
//!
//! Guarded numbers: text and OpenMetrics within 3 × of a memcpy of their page, protobuf within 6 ×, and five times as
//! fast as prometheus-client's encoder of the same format; text fifty times as fast as metrics-exporter-prometheus and
//! Go's client library; the first piece of a page within 20 ms; at most 350 bytes of resident memory a series, with
//! what the encoders of pages and pushes keep. Compressed pages are measured for information.
//!
//! `cargo bench -p perfmon-exporter --bench exposition -- --json FILE [--client-golang PROGRAM]` measures 1,000,000
//! series only and writes the figures, too; the program is built of `crates/xtask/peers/client_golang`.
#![allow(clippy::panic, missing_docs, reason = "a benchmark fails by panicking")]

#[path = "support/push.rs"]
mod push;
#[path = "support/rivals.rs"]
mod rivals;
mod support;

use std::cell::{Cell, RefCell};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use exposition::testing::peer::{Peer, Strings};
use exposition::{CodedPage, Coding, Encoder, Format, page_bytes};
use otlp::encode::{Templates, Temporality};
use prometheus_client::encoding::{prometheus_protobuf, text};
use prometheus_client::registry::Registry;
use serde_json::Value;
use series::model::Snapshot;
use test_support::race::{Goal, Race, Results};

use self::push::Push;
use self::rivals::{ClientGo, MetricsRs};
use self::support::{rows, workload};

const LARGE: usize = 1_000_000;
const FIRST_PIECE_MS_MAX: f64 = 20.0;
const RESIDENT_BYTES_MAX: usize = 350;

const MEMCPY: &str = "memcpy of the page";
const CLASSIC: &str = "text 0.0.4";
const OPEN_METRICS: &str = "OpenMetrics 1.0";
const PROTOBUF: &str = "protobuf";
const PROTOBUF_MEMCPY: &str = "memcpy of the protobuf page";
const PEER: &str = "prometheus-client, Collector";
const PROTOBUF_PEER: &str = "prometheus-client, Collector, protobuf";
const METRICS: &str = "metrics-exporter-prometheus, render";
const CLIENT_GOLANG: &str = "client_golang, Gather and expfmt";
const GZIP: &str = "text 0.0.4 in gzip";
const ZSTD: &str = "text 0.0.4 in zstd";
const FIFTY_TIMES: f64 = 1.0 / 50.0;
const GOALS: [Goal<'static>; 6] = [
    Goal { name: CLASSIC, yardstick: MEMCPY, ratio: 3.0 },
    Goal { name: OPEN_METRICS, yardstick: MEMCPY, ratio: 3.0 },
    Goal { name: PROTOBUF, yardstick: PROTOBUF_MEMCPY, ratio: 6.0 },
    Goal { name: CLASSIC, yardstick: PEER, ratio: 0.2 },
    Goal { name: OPEN_METRICS, yardstick: PEER, ratio: 0.2 },
    Goal { name: PROTOBUF, yardstick: PROTOBUF_PEER, ratio: 0.2 },
];

fn main() -> ExitCode {
    let is_for_programs = rows::argument("--json").is_some();
    // The large page comes first: what it takes is not yet there from another.
    let large = measure(LARGE);
    let holds = large.holds && (is_for_programs || measure(100_000).holds);
    rows::write(large.rows);
    if holds { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

struct Outcome {
    holds: bool,
    rows: Vec<Value>,
}

/// What one round's contestants work on.
#[derive(Default)]
struct Round {
    snapshots: Vec<Arc<Snapshot>>,
    text: Copied,
    protobuf: Copied,
    registry: Registry,
}

/// A page and room for another.
#[derive(Default)]
struct Copied {
    page: Vec<u8>,
    copy: Vec<u8>,
}

impl Copied {
    fn of(page: Vec<u8>) -> Self {
        Self { copy: vec![0; page.len()], page }
    }

    fn copy(&mut self) {
        self.copy.copy_from_slice(&self.page);
        std::hint::black_box(&self.copy);
    }
}

fn measure(series: usize) -> Outcome {
    let before = resident_bytes();
    let fleet = workload::Fleet::new(series);
    fleet.collect(0);
    fleet.collect(1);
    let kept = keep_all(&fleet);
    let resident = resident_bytes().saturating_sub(before) / series;
    drop(kept);
    let strings = Strings::of(&fleet.snapshots());
    let (number, round) = (Cell::new(1), RefCell::new(Round::default()));
    let mut text = String::new();

    let rivals = (series == LARGE).then(|| MetricsRs::new(&strings));
    let program = rows::argument("--client-golang").filter(|_| series == LARGE);
    let client_golang = RefCell::new(program.map(|program| ClientGo::start(&program, series)));

    let workload = format!("A page of {series} series, every value new");
    let mut race = Race::new(&workload, "sample", series as u64)
        .step(|| {
            number.set(number.get() + 1);
            fleet.collect(number.get());
            if let Some(rivals) = &rivals {
                rivals.change(number.get());
            }
            let snapshots = fleet.snapshots();
            *round.borrow_mut() = Round {
                text: Copied::of(page_bytes(Format::Text, snapshots.clone(), None)),
                protobuf: Copied::of(page_bytes(Format::Protobuf, snapshots.clone(), None)),
                registry: Peer::registry(&strings, &snapshots),
                snapshots,
            };
        })
        .contestant(MEMCPY, || round.borrow_mut().text.copy())
        .contestant(CLASSIC, || encode(Format::Text, &round.borrow().snapshots))
        .contestant(OPEN_METRICS, || encode(Format::OpenMetrics, &round.borrow().snapshots))
        .contestant(PROTOBUF_MEMCPY, || round.borrow_mut().protobuf.copy())
        .contestant(PROTOBUF, || encode(Format::Protobuf, &round.borrow().snapshots))
        .contestant(PEER, || {
            text.clear();
            text::encode(&mut text, &round.borrow().registry).expect("a String takes everything");
        })
        .contestant(PROTOBUF_PEER, || {
            let page = prometheus_protobuf::encode_to_vec(&round.borrow().registry);
            drop(std::hint::black_box(page.expect("a Vec takes everything")));
        })
        .contestant(GZIP, || assert!(compress(Coding::Gzip, &round.borrow().snapshots) > 0))
        .contestant(ZSTD, || assert!(compress(Coding::Zstd, &round.borrow().snapshots) > 0));
    if let Some(rivals) = &rivals {
        race = race.contestant(METRICS, || assert!(rivals.render() > 0));
    }
    if client_golang.borrow().is_some() {
        let page = || client_golang.borrow_mut().as_mut().map_or(Duration::MAX, ClientGo::page);
        race = race.reported(CLIENT_GOLANG, page);
    }
    let results = race.run(rows::rounds());
    let mut goals = GOALS.to_vec();
    let far = |yardstick| Goal { name: CLASSIC, yardstick, ratio: FIFTY_TIMES };
    let rivals = [METRICS, CLIENT_GOLANG].into_iter();
    goals.extend(rivals.filter(|rival| results.nanos_a_unit(rival).is_some()).map(far));
    let mut holds = results.judge(&goals);
    let round = round.into_inner();
    println!("  {} bytes a sample as text", round.text.page.len() / series);
    println!("  {} bytes a sample as protobuf", round.protobuf.page.len() / series);
    if let Some(client_golang) = &*client_golang.borrow() {
        println!("  {} bytes a sample of client_golang", client_golang.page_bytes / series);
    }
    for coding in [Coding::Gzip, Coding::Zstd] {
        println!(
            "  {:.1} bytes a sample in {coding:?}",
            decimals(compress(coding, &round.snapshots)) / decimals(series)
        );
    }
    // Of a later page it would be what an earlier one left.
    if series == LARGE {
        println!("  {resident} bytes of resident memory a series (at most {RESIDENT_BYTES_MAX})");
    }
    holds &= resident <= RESIDENT_BYTES_MAX;
    let mut first_ms = 0_f64;
    for format in [Format::Text, Format::OpenMetrics, Format::Protobuf] {
        let begun = Instant::now();
        Encoder::new(format, round.snapshots.clone(), None).next_piece().expect("there are series");
        let taken = begun.elapsed();
        println!("  first piece of {format:?} after {taken:?} (at most {FIRST_PIECE_MS_MAX} ms)");
        first_ms = first_ms.max(taken.as_secs_f64() * 1e3);
    }
    holds &= first_ms <= FIRST_PIECE_MS_MAX;
    println!();
    let mut rows = race_rows(&results, round.text.page.len() / series);
    let kept = "all of the exporter, with what text, protobuf and OTLP keep from page to page";
    rows.push(rows::row("resident memory", "B/series", decimals(resident), &[], kept));
    rows.push(rows::row(
        "first byte",
        "ms",
        first_ms,
        &[],
        "the slowest of the formats, without the network",
    ));
    Outcome { holds, rows }
}

/// Has every encoder keep what it keeps between pages.
fn keep_all(fleet: &workload::Fleet) -> Templates {
    for format in [Format::Text, Format::OpenMetrics, Format::Protobuf] {
        encode(format, &fleet.snapshots());
    }
    let mut templates = Templates::default();
    let parts = Push::of(fleet).parts(fleet, 1, Vec::new());
    push::encode(&parts, Temporality::Cumulative, &mut templates, &mut Vec::new(), |_| ());
    templates
}

/// Encodes as the server does: piece by piece through one buffer.
fn encode(format: Format, snapshots: &[Arc<Snapshot>]) {
    let mut encoder = Encoder::new(format, snapshots.to_vec(), None);
    while let Some(piece) = encoder.next_piece() {
        std::hint::black_box(piece);
    }
}

/// The same in a coding; answers how many bytes the page has.
fn compress(coding: Coding, snapshots: &[Arc<Snapshot>]) -> usize {
    let encoder = Encoder::new(Format::Text, snapshots.to_vec(), None);
    let mut page = CodedPage::new(encoder, coding).expect("there is memory");
    let (mut piece, mut bytes) = (Vec::new(), 0);
    while page.next_chunk(&mut piece) {
        bytes += piece.len();
        piece.clear();
    }
    bytes
}

fn race_rows(results: &Results, bytes: usize) -> Vec<Value> {
    let (memcpy, prometheus) = (("memcpy", MEMCPY), ("prometheus-client", PEER));
    let rivals = [("metrics-exporter-prometheus", METRICS), ("client_golang", CLIENT_GOLANG)];
    let text = [&[memcpy, prometheus], &rivals[..]].concat();
    let protobuf = [("memcpy", PROTOBUF_MEMCPY), ("prometheus-client", PROTOBUF_PEER)];
    let page = format!("1,000,000 series of {bytes} B; memcpy of the page");
    let row = |name: &str, ours: &str, peers: &[(&str, &str)], note: &str| {
        rows::race(results, name, "ns/sample", ours, peers, note)
    };
    vec![
        row("text", CLASSIC, &text, &page),
        row("openmetrics", OPEN_METRICS, &text, &page),
        row("protobuf", PROTOBUF, &protobuf, "1,000,000 series; memcpy of the protobuf page"),
        row("text in gzip", GZIP, &[memcpy], "for information: encoding and gzip level 1"),
        row("text in zstd", ZSTD, &[memcpy], "for information: encoding and zstd level 1"),
    ]
}

/// Resident memory of the process; 0 where it is not known.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<usize>().ok());
    kib.unwrap_or(0) << 10
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn decimals(number: usize) -> f64 {
    number as f64
}
