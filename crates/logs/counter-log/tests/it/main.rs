//! Sinks as their callers see them.

mod invented;
mod postgres;
mod server;
mod sqlite;
