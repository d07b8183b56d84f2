//! Pages for Prometheus. Bytes out, nothing else: no sockets, no clocks.
//!
//! [`negotiate`] picks the [`Format`] from an Accept header. An [`Encoder`] over snapshots then gives the page in
//! pieces, so that a page of any size needs one buffer; it holds the snapshots until it is dropped. The
//! exporter's own metrics join as [`OwnMetrics`], read from a `prometheus_client` registry. [`page`] makes a small
//! page in one go.
//!
//! Families of one name stand together, whichever targets they come from, under one HELP and one TYPE. Samples
//! have no time stamps: those would switch off Prometheus' staleness.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod encoder;
mod format;
mod number;
mod own;
mod piece;
mod plan;

use std::sync::Arc;

pub use self::encoder::Encoder;
pub use self::format::{Format, negotiate};
pub use self::own::OwnMetrics;
use crate::model::Snapshot;

/// A whole page at once.
#[must_use]
pub fn page(format: Format, snapshots: Vec<Arc<Snapshot>>, own: Option<OwnMetrics>) -> String {
    let mut page = Vec::new();
    let mut encoder = Encoder::new(format, snapshots, own);
    while encoder.next_chunk(&mut page) {}
    String::from_utf8(page).unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned())
}
