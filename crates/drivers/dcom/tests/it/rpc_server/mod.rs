//! A server over loopback and over streams in memory, with the project's client and with hostile peers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod admission;
mod authentication;
mod calls;
mod hostile;
mod world;
