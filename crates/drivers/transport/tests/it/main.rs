//! Behaviour of the streams and connectors that a driver relies on.
#![allow(clippy::unwrap_used, reason = "a test's helpers fail by panicking")]

mod faults;
mod memory;
mod names;
mod pcap;
mod resolver;
mod tcp;
