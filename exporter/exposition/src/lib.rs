//! Pages for Prometheus. It only makes bytes: no sockets, no clocks.
//!
//! [`negotiate`] picks the [`Representation`] from an Accept header and [`Coding::negotiate`] the compression from
//! an Accept-Encoding header. An [`Encoder`] over snapshots then gives the page in pieces, so that a page of any
//! size needs one buffer; a [`CodedPage`] around it compresses them. Both hold the snapshots until they are
//! dropped. The exporter's own metrics are added as [`OwnMetrics`], read from a `prometheus_client` registry.
//! [`page`] makes a small page in one call.
//!
//! Families of one name stand together, whichever targets they come from, under one HELP and one TYPE. Samples have
//! no time stamps, because these disable Prometheus' staleness handling. OpenMetrics and protobuf have the start
//! times of counters and histograms, if known.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod accept;
mod coding;
mod encoder;
mod format;
mod histogram_protobuf;
mod message;
mod number;
mod own;
mod own_family;
mod own_protobuf;
mod protobuf;
mod room;
#[cfg(feature = "testing")]
pub mod testing;
mod text;
mod wire;

use std::sync::Arc;

use series::model::Snapshot;

pub use self::coding::{CodedPage, Coding, Cost};
pub use self::encoder::Encoder;
pub use self::format::{Format, Representation, negotiate};
pub use self::own::{LabelledNumber, OwnMetrics};
pub use series::model::Escaping;

/// A whole page at once.
#[must_use]
pub fn page_bytes(
    representation: impl Into<Representation>,
    snapshots: Vec<Arc<Snapshot>>,
    own: Option<OwnMetrics>,
) -> Vec<u8> {
    let mut page = Vec::new();
    let mut encoder = Encoder::new(representation, snapshots, own);
    while encoder.next_chunk(&mut page) {}
    page
}

/// A whole page of text at once.
#[must_use]
pub fn page(
    representation: impl Into<Representation>,
    snapshots: Vec<Arc<Snapshot>>,
    own: Option<OwnMetrics>,
) -> String {
    let page = page_bytes(representation, snapshots, own);
    String::from_utf8(page).unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned())
}

/// A bucket's bound as OpenMetrics' canonical numbers are: `0.005`, `1.0`, `1e+06`.
fn bound_text(bound: f64) -> String {
    let scientific = format!("{bound:e}");
    let parts =
        scientific.split_once('e').and_then(|(digits, power)| Some((digits, power.parse::<i32>().ok()?)));
    match parts {
        Some((digits, power)) if !(-4..6).contains(&power) => {
            format!("{digits}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
        }
        _ => format!("{bound:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_canonical() {
        for (bound, text) in [
            (0.005, "0.005"),
            (1.0, "1.0"),
            (25.0, "25.0"),
            (1e5, "100000.0"),
            (1e6, "1e+06"),
            (2.5e-5, "2.5e-05"),
        ] {
            assert_eq!(bound_text(bound), text);
        }
    }
}
