//! A host in memory, from its name to its counters, and every failure on the way.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]

mod connecting;
#[allow(dead_code, reason = "the drivers' tests use more of it")]
#[path = "rpc_client/host.rs"]
mod host;
mod mapped;
mod polling;
mod rpc_client;
mod starting;
mod tcp;
mod world;
