//! Watches Windows hosts without an agent and serves what it sees to Prometheus.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`credentials`] | which targets get which secrets |
//! | [`schedule`] | when which target is asked |
//! | [`rpc_state`] | the state of RPC calls, as files have it |
//! | `storage` | files that sources keep of targets |
//! | [`targets`] | the health of each target, and since when |
//! | [`web`] | the HTTP server |
//! | [`process`] | the command line, start and end |
//!
//! Series, pages and the bytes of OTLP are packages of their own: `series`, `exposition`, `otlp`.
pub mod credentials;
pub mod process;
pub mod rpc_state;
pub mod schedule;
mod storage;
pub mod targets;
pub mod web;
