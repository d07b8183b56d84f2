//! `/metrics` at 100,000 and 1,000,000 series, every value changed since the last round.
//!
//! Goals: text and OpenMetrics within 3 × of a memcpy of the page, 5 × ahead of prometheus-client's collector.
#![allow(clippy::panic, missing_docs, reason = "a benchmark fails by panicking")]

mod support;

use std::sync::Arc;

use perfmon_exporter::expose::{Encoder, Format};
use perfmon_exporter::model::Snapshot;

use self::support::meter::{self, ROUNDS, Row};
use self::support::peer::{Peer, Strings};
use self::support::workload;

fn main() {
    for series in [100_000, 1_000_000] {
        measure(series);
    }
}

fn measure(series: usize) {
    let fleet = workload::Fleet::new(series);
    let mut rows = [
        Row::new("memcpy of the page", series),
        Row::new("text 0.0.4", series),
        Row::new("OpenMetrics 1.0", series),
        Row::new("prometheus-client, Collector", series),
    ];
    fleet.collect(ROUNDS);
    let strings = Strings::of(&fleet.snapshots());
    let (mut copied, mut piece, mut text) = (Vec::new(), Vec::new(), String::new());
    let mut page_bytes = 0;
    for round in 0..ROUNDS {
        fleet.collect(round);
        let snapshots = fleet.snapshots();
        let page = whole_page(&snapshots);
        page_bytes = page.len();
        copied.resize(page.len(), 0);
        let registry = Peer::registry(&strings, &snapshots);
        text.clear();

        let [copy, classic, openmetrics, peer] = &mut rows;
        copy.round(|| {
            copied.copy_from_slice(&page);
            std::hint::black_box(&mut copied);
        });
        classic.round(|| encode(Format::Text, &snapshots, &mut piece));
        openmetrics.round(|| encode(Format::OpenMetrics, &snapshots, &mut piece));
        peer.round(|| prometheus_client::encoding::text::encode(&mut text, &registry))
            .expect("a String takes everything");
    }
    let title = format!("Page of {series} series, {} bytes a sample", page_bytes / series);
    meter::print(&title, &rows);
}

fn whole_page(snapshots: &[Arc<Snapshot>]) -> Vec<u8> {
    let mut page = Vec::new();
    let mut encoder = Encoder::new(Format::Text, snapshots.to_vec(), None);
    while encoder.next_chunk(&mut page) {}
    page
}

/// Encodes as the server does: piece by piece through one buffer.
fn encode(format: Format, snapshots: &[Arc<Snapshot>], piece: &mut Vec<u8>) -> usize {
    let mut encoder = Encoder::new(format, snapshots.to_vec(), None);
    let mut bytes = 0;
    piece.clear();
    while encoder.next_chunk(piece) {
        bytes += std::hint::black_box(&piece).len();
        piece.clear();
    }
    bytes
}
