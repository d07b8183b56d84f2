//! The registry, what is sent, and when.

mod delivery;
mod hostile;
mod payloads;
mod plans;
mod registry;
mod support;
