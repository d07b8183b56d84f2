//! The exporter from outside: its library's edges and its program.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]
mod config;
mod credentials;
mod expose;
mod expose_any;
mod expose_parser;
mod pipeline;
mod pipeline_plugin;
mod planner;
