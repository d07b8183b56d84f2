//! The connection of a plugin to a simulated host, over an interface of another than the countersets' plugin.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod connection;
mod example;
mod host;
mod registry;
