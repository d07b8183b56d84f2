//! Call-backs of hosts, over streams in memory that seem to come from their addresses.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod events;
mod resolving;
mod unknown_peers;
mod world;
