//! Sinks and data managers as their callers see them.

mod data_manager;
mod invented;
mod postgres;
mod server;
mod sqlite;
