//! Conversations of client and server, hostile peers, and bytes from outside.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod conversation;
mod golden;
mod hostile_client;
mod hostile_server;
mod overlapping_reads;
mod pair;
mod random;
mod raw;
