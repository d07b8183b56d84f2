//! A host in memory, from its name to its counters, and every failure on the way.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]

mod connecting;
mod host;
mod mapped;
mod polling;
mod rpc_client;
mod starting;
mod tcp;
mod world;
