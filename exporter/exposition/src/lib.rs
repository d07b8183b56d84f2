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
mod bound;
mod coding;
mod encoder;
mod format;
mod histogram_protobuf;
mod histogram_text;
mod message;
mod number;
mod own;
mod own_family;
mod own_protobuf;
mod own_text;
mod plan;
mod protobuf;
mod room;
#[cfg(feature = "testing")]
pub mod testing;
mod text;
mod wire;

use std::sync::Arc;

pub use self::coding::{CodedPage, Coding, Cost};
pub use self::encoder::Encoder;
pub use self::format::{Format, Representation, negotiate};
pub use self::own::OwnMetrics;
pub use series::model::Escaping;
use series::model::Snapshot;

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
