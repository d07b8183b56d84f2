//! The interfaces of [MS-PLA].
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod collections;
mod forms;
mod golden;
mod laws;
mod methods;
mod values;
mod xml;
