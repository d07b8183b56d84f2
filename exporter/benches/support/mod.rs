//! What the benchmarks share, with each other, the example and the tests.

pub(crate) mod rows;
pub(crate) mod workload;
