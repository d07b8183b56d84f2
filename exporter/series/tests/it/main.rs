//! Stores, names, labels and rules, from outside.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]
mod histograms;
mod mapped_names;
mod pipeline;
mod refusals;
mod rules;
mod snapshots;
mod stale;
