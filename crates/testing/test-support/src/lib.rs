//! Shared fixtures of the tests, fuzzers and benchmarks. Nothing that ships depends on this crate.

pub mod future;
pub mod name_server;
pub mod oracle;
pub mod pairs;
pub mod perflib;
pub mod plugin;
pub mod race;
