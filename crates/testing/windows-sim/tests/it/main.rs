//! The simulated host, over its servers. impacket reads it too: `tests/peers/`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]

mod aggregates;
mod catalogue;
mod change;
mod choices;
mod client;
mod cooking;
mod counter_types;
mod counters;
mod dcom;
mod endpoints;
mod host;
mod live;
mod oddities;
mod performance_data;
mod performance_faults;
mod pipe_socket;
mod program;
mod registry;
mod rpc_state;
mod services;
mod smb;
mod smb2;
