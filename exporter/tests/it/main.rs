//! The exporter from outside: its library's edges and its program.
mod config;
