//! A simulated Windows host: its performance counters, served over its own SMB and RPC servers.
pub mod live;
pub mod model;
mod random;
pub mod service;
