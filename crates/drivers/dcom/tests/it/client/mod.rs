//! Objects of a host in memory: from its resolver to a method, and every refusal on the way.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]

#[allow(dead_code, reason = "the drivers' tests use more of it")]
#[path = "../../../../host-session/tests/it/host.rs"]
mod host;
mod objects;
mod world;
