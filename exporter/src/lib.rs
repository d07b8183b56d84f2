//! Watches Windows hosts without an agent and serves what it sees to Prometheus.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`config`] | the configuration file, checked |
//! | [`credentials`] | who gets which secret, and when not |
//! | [`schedule`] | when which target is asked |
//! | [`targets`] | how each target fares, and since when |
//! | [`otlp`] | pushing snapshots to OpenTelemetry collectors |
//! | [`telemetry`] | how the exporter speaks of itself: metrics, times, log |
//! | [`web`] | the HTTP server |
//! | [`process`] | the command line, start and end |
//!
//! Series, pages and the bytes of OTLP are packages of their own: `series`, `exposition`, `otlp-encode`.
pub mod config;
pub mod credentials;
mod file;
mod nearest;
pub mod otlp;
pub mod process;
pub mod schedule;
mod secret;
pub mod targets;
pub mod telemetry;
pub mod web;
mod wildcard;
