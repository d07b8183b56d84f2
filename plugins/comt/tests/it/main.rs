//! The plugin as the exporter sees it, against simulated Windows hosts on loopback.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod call_backs;
mod events;
mod events_lost;
mod loss;
mod partly;
mod refusals;
mod sim_host;
mod slow;
mod values;
mod world;
