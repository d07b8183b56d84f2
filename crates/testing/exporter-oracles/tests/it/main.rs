//! Everything that was found, and everything that is near it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod mutation;
mod replay;

use std::path::Path;

/// The inputs of an oracle with their names, in order.
fn inputs(oracle: &str) -> Vec<(String, Vec<u8>)> {
    test_support::oracle::inputs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"), oracle)
}
