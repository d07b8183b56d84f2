//! The plugin as the exporter sees it, against simulated Windows hosts on loopback.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod choices;
mod choosing;
mod classic;
mod collecting;
mod commands;
mod commands_query;
mod host_info;
mod loss;
mod malformed;
mod orchard;
mod population;
mod refusals;
mod registry;
mod stalls;
mod truth;
mod values;
mod world;
