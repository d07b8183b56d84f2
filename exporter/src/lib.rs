//! Watches Windows hosts without an agent and serves what it sees to Prometheus.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`credentials`] | who gets which secret, and when not |
//! | [`schedule`] | when which target is asked |
//! | [`targets`] | how each target fares, and since when |
//! | [`web`] | the HTTP server |
//! | [`process`] | the command line, start and end |
//!
//! Series, pages and the bytes of OTLP are packages of their own: `series`, `exposition`, `otlp-encode`.
pub mod credentials;
pub mod process;
pub mod schedule;
pub mod targets;
pub mod web;
