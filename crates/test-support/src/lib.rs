//! Shared fixtures of the tests and benchmarks. Nothing that ships depends on this crate.

pub mod race;
