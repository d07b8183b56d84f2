//! Watches Windows hosts without an agent and serves what it sees to Prometheus.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`credentials`] | which targets get which secrets |
//! | [`process`] | the command line, start and end |
//!
//! The state of targets, series, pages and the bytes of OTLP are packages of their own: `targets`, `series`, `exposition`,
//! `web`, `otlp`.
pub mod credentials;
pub mod process;
