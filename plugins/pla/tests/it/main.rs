//! The plugin as the exporter sees it, against simulated Windows hosts on loopback.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod actions;
mod classic;
mod files;
mod firing;
mod many;
mod settings;
mod states;
mod steered;
mod to_rules;
mod world;
