//! The plugin as the exporter sees it, against simulated Windows hosts on loopback.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod actions;
mod cabinets;
mod classic;
mod commands;
mod crowded;
mod due;
mod files;
mod firing;
mod foreign;
mod full_disk;
mod handing_over;
mod host_starts;
mod hostile;
mod judged_alike;
mod limits;
mod live;
mod live_faults;
mod log_figures;
mod log_sets;
mod log_values;
mod logging;
mod many;
mod objects;
mod outages;
mod reports;
mod restarts;
mod segments;
mod settings;
mod settled;
mod stalls;
mod states;
mod steered;
mod to_rules;
#[path = "../../benches/workload/mod.rs"]
mod workload;
mod world;
