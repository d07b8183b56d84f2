//! The two sides of an authentication against each other, and each against tokens that are wrong.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod anybody;
mod authenticate_message;
mod authentication;
mod hostile_tokens;
mod logging;
mod pair;
mod protection;
mod windows;
