//! `/metrics` at 100,000 and 1,000,000 series, every value changed since the last round.
//!
//! Guarded numbers: text and OpenMetrics within 3 × of a memcpy of the page, and five times as fast as
//! prometheus-client's encoder.
#![allow(clippy::panic, missing_docs, reason = "a benchmark fails by panicking")]

mod support;

use std::cell::{Cell, RefCell};
use std::process::ExitCode;
use std::sync::Arc;

use perfmon_exporter::expose::{Encoder, Format};
use perfmon_exporter::model::Snapshot;
use prometheus_client::registry::Registry;
use test_support::race::{Goal, Race};

use self::support::peer::{Peer, Strings};
use self::support::workload;

const ROUNDS: usize = 9;

const MEMCPY: &str = "memcpy of the page";
const CLASSIC: &str = "text 0.0.4";
const OPEN_METRICS: &str = "OpenMetrics 1.0";
const PEER: &str = "prometheus-client, Collector";
const GOALS: [Goal<'static>; 4] = [
    Goal { name: CLASSIC, yardstick: MEMCPY, ratio: 3.0 },
    Goal { name: OPEN_METRICS, yardstick: MEMCPY, ratio: 3.0 },
    Goal { name: CLASSIC, yardstick: PEER, ratio: 0.2 },
    Goal { name: OPEN_METRICS, yardstick: PEER, ratio: 0.2 },
];

fn main() -> ExitCode {
    let holds = [100_000, 1_000_000].map(measure);
    if holds == [true, true] { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What one round's contestants work on.
#[derive(Default)]
struct Round {
    snapshots: Vec<Arc<Snapshot>>,
    page: Vec<u8>,
    copied: Vec<u8>,
    registry: Registry,
}

fn measure(series: usize) -> bool {
    let fleet = workload::Fleet::new(series);
    fleet.collect(0);
    let strings = Strings::of(&fleet.snapshots());
    let (number, round) = (Cell::new(0), RefCell::new(Round::default()));
    let (piece, mut text) = (RefCell::new(Vec::new()), String::new());

    let workload = format!("A page of {series} series, every value new");
    let results = Race::new(&workload, "sample", series as u64)
        .step(|| {
            number.set(number.get() + 1);
            fleet.collect(number.get());
            let snapshots = fleet.snapshots();
            let page = whole_page(&snapshots);
            let mut round = round.borrow_mut();
            round.copied.resize(page.len(), 0);
            round.registry = Peer::registry(&strings, &snapshots);
            round.page = page;
            round.snapshots = snapshots;
        })
        .contestant(MEMCPY, || {
            let Round { page, copied, .. } = &mut *round.borrow_mut();
            copied.copy_from_slice(page);
            std::hint::black_box(copied);
        })
        .contestant(CLASSIC, || {
            encode(Format::Text, &round.borrow().snapshots, &mut piece.borrow_mut());
        })
        .contestant(OPEN_METRICS, || {
            encode(Format::OpenMetrics, &round.borrow().snapshots, &mut piece.borrow_mut());
        })
        .contestant(PEER, || {
            text.clear();
            prometheus_client::encoding::text::encode(&mut text, &round.borrow().registry)
                .expect("a String takes everything");
        })
        .run(ROUNDS);
    let holds = results.judge(&GOALS);
    println!("  {} bytes a sample\n", round.borrow().page.len() / series);
    holds
}

fn whole_page(snapshots: &[Arc<Snapshot>]) -> Vec<u8> {
    let mut page = Vec::new();
    let mut encoder = Encoder::new(Format::Text, snapshots.to_vec(), None);
    while encoder.next_chunk(&mut page) {}
    page
}

/// Encodes as the server does: piece by piece through one buffer.
fn encode(format: Format, snapshots: &[Arc<Snapshot>], piece: &mut Vec<u8>) {
    let mut encoder = Encoder::new(format, snapshots.to_vec(), None);
    piece.clear();
    while encoder.next_chunk(piece) {
        std::hint::black_box(&*piece);
        piece.clear();
    }
}
