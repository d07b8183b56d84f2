//! Performance data of the registry: blocks of Samba, hostile blocks, and blocks of our writer.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod golden;
mod hostile;
mod laws;
mod names;
