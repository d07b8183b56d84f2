//! What a reader of the exported values sees of this crate.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod aggregates;
mod allocations;
mod cooking;
mod families;
mod paths;
mod selection;
mod table;
mod values;
