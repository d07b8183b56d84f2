//! Makes immutable snapshots from the data of plugins. It uses no clock, socket, file or plugin.
//!
//! [`model`] is the vocabulary: families, series, values, snapshots. [`pipeline`] receives the data of plugins,
//! gives it names and labels, applies rules and limits, and publishes a snapshot after each collection.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

pub mod model;
pub mod pipeline;
