//! The interfaces of [MS-PLA].
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod bad_xml;
mod collections;
mod exports;
mod forms;
mod go_msrpc;
mod golden;
mod laws;
mod made_up;
mod methods;
mod nulls;
mod validation;
mod values;
mod xml;
