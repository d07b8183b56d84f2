//! Shared fixtures of the tests and benchmarks.
