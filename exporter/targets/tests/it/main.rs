//! When targets are collected, and what is known of them.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]

mod driver;
mod planner;
mod target_registry;
