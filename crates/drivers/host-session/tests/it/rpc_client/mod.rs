//! Conversations with a host in memory, with and without failures.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail by panicking")]

mod calls;
mod faults;
mod giving_up;
mod logon;
mod negotiation;
mod overlap;
mod tcp;
