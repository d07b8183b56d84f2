//! Strings, variants and arrays on the wire.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod golden;
mod parameters;
mod strings;
mod variants;
