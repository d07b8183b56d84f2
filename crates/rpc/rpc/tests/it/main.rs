//! What a declaration gives: both sides of an interface, and what they refuse.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod client;
mod endpoints;
mod lamp;
mod laws;
mod ndr;
mod orpc;
mod server;
mod shelf;
