//! A subscription is made, stored, found and removed; messages are those of another implementation.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod golden;
mod subscribe;
