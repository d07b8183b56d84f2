//! Performance data of the registry: what Samba writes, what cannot be believed, and what our writer makes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod golden;
mod hostile;
mod laws;
mod names;
