//! Conversations of client and server, hostile peers, and bytes from outside.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod authentication;
mod conversation;
mod golden;
mod groups;
mod hostile_client;
mod hostile_server;
mod laws;
mod observer;
mod pair;
mod security_contexts;
mod verification_trailer;
mod windows;
