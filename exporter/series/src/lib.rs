//! From what plugins send to immutable snapshots. No clock, no socket, no file, no plugin.
//!
//! [`model`] is the vocabulary: families, series, values, snapshots. [`pipeline`] takes what plugins send, gives it names and
//! labels, applies rules and limits, and publishes a snapshot after each collection.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod model;
pub mod pipeline;
