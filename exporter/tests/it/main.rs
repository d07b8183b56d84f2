//! The exporter from outside: its library's edges and its program.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a test that fails panics")]
mod book;
mod command_line;
mod config;
mod credentials;
mod driver;
mod expose;
mod expose_any;
mod expose_parser;
mod pipeline;
mod pipeline_plugin;
mod planner;
mod program;
mod serve;
mod stack;
