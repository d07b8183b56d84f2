//! Polling a simulated host's countersets, over a channel in memory.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

mod catalog;
mod frame;
mod host;
mod paths;
mod poller;
mod query;
mod selection;
mod sink;
mod watch_list;
