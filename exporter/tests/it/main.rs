//! The exporter from outside: its library's edges and its program.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]
mod config;
mod credentials;
mod planner;
