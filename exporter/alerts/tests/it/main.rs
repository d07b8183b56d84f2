//! The registry, what is sent, and when.

mod delivery;
mod hostile;
mod payloads;
mod plans;
mod raw;
mod registry;
mod secret_urls;
mod support;
