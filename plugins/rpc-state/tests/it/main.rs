//! The plugin as the exporter sees it: over run directories of this machine, and against simulated hosts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod directories;
mod hosts;
mod values;
mod world;
