//! Compressed pages, and what pages take.

use std::io::Read;
use std::sync::Arc;

use exposition::testing::plugin::{complete, counter, gauge, instances, send, store};
use exposition::{CodedPage, Coding, Encoder, Escaping, Format, OwnMetrics, Representation, page_bytes};
use plugin_abi::Outcome;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use series::model::Snapshot;

fn snapshots(series: u32) -> Vec<Arc<Snapshot>> {
    let store = store("web1");
    let names: Vec<String> = (0..series).map(|index| format!("instance {index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for def in [gauge("A"), counter("B")] {
        let ids = instances(&store, &def, &names);
        send(&store, &ids, &(0..series).map(|index| f64::from(index) / 7.0).collect::<Vec<_>>());
    }
    complete(&store, Outcome::Full);
    vec![store.snapshot()]
}

fn own() -> OwnMetrics {
    let mut registry = Registry::default();
    registry.register("own", "One of our own", Counter::<u64>::default());
    OwnMetrics::of(Arc::new(registry))
}

#[test]
fn compressed_pages_read_as_the_same() {
    for format in [Format::Text, Format::OpenMetrics, Format::Protobuf] {
        for series in [0, 1, 5_000] {
            let plain = page_bytes(format, snapshots(series), Some(own()));
            for coding in [Coding::Identity, Coding::Gzip, Coding::Zstd] {
                let encoder = Encoder::new(format, snapshots(series), Some(own()));
                let mut page = CodedPage::new(encoder, coding).unwrap();
                let (mut bytes, mut piece, mut longest) = (Vec::new(), Vec::new(), 0);
                while page.next_chunk(&mut piece) {
                    longest = longest.max(piece.len());
                    bytes.append(&mut piece);
                }
                assert!(!page.next_chunk(&mut piece) && piece.is_empty(), "it stays complete");
                assert!(longest <= 160 << 10, "{coding:?}: a piece of {longest} bytes");
                let read = match coding {
                    Coding::Identity => bytes,
                    Coding::Gzip => {
                        let mut read = Vec::new();
                        flate2::read::GzDecoder::new(&*bytes).read_to_end(&mut read).unwrap();
                        read
                    }
                    Coding::Zstd => zstd::decode_all(&*bytes).unwrap(),
                };
                assert!(read == plain, "{format:?} {coding:?} {series}");
            }
        }
    }
}

#[test]
fn a_page_allocates_nothing_per_sample() {
    let snapshots = snapshots(20_000);
    for format in [Format::Text, Format::OpenMetrics, Format::Protobuf] {
        let representation = Representation::newest(format, Escaping::AllowUtf8);
        let page = || {
            let mut encoder = Encoder::new(representation, snapshots.clone(), None);
            let mut bytes = 0;
            while let Some(piece) = encoder.next_piece() {
                bytes += piece.len();
            }
            assert!(bytes > 2_000_000);
        };
        let taken = allocation_counter::measure(page);
        assert!(taken.count_total <= 100 && taken.bytes_max < 32 << 10, "{format:?}: {taken:?}");
    }
}
