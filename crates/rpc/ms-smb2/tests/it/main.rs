//! Conversations of others, held again. What client and server make of each other is tested where the server is, in `windows-sim`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod golden;
mod recording;
