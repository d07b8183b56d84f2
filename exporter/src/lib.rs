//! Watches Windows hosts without an agent and serves what it sees to Prometheus.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`config`] | the configuration file, checked |
//! | [`credentials`] | who gets which secret, and when not |
//! | [`schedule`] | when which target is asked |
//! | [`targets`] | how each target fares, and since when |
//! | [`otlp`] | pushing snapshots to OpenTelemetry collectors |
//! | [`web`] | the HTTP server |
//! | [`process`] | the command line, start and end |
//!
//! Series, pages and the bytes of OTLP are packages of their own: `series`, `exposition`, `otlp-encode`.
pub mod config;
pub mod credentials;
pub mod otlp;
pub mod process;
pub mod schedule;
pub mod targets;
pub mod web;
