//! A subscription is made, stored, found and removed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod subscribe;
