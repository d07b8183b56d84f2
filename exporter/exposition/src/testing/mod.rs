//! What tests of several packages need to fill a store and to judge a page.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

pub mod peer;
pub mod plugin;
pub mod schema;
