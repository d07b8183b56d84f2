//! Watches Windows hosts without an agent and serves what it sees to Prometheus.
pub mod config;
pub mod credentials;
pub mod expose;
pub mod model;
pub mod pipeline;
