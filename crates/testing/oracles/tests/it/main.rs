//! Everything that was found, and everything that is near it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod inputs;
mod interfaces;
mod mutation;
mod replay;
