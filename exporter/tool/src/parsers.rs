//! What reads files of other programs, for the laws in `crates/testing/oracles` alone.

use crate::compat;

/// What `compat` says of a file that holds these bytes: for people, and for programs.
#[must_use]
pub fn compat_file(bytes: &[u8]) -> (String, serde_json::Value) {
    compat::said_of(bytes)
}
