//! Sinks as their callers see them.

mod invented;
mod sqlite;
