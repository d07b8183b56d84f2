//! Tracker events: one written by hand, bad ones, and those of our writer.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod golden;
mod hostile;
mod interfaces;
mod laws;
mod support;
