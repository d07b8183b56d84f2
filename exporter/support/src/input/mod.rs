//! What people write for the exporter, and how it is read: files within limits of bytes and time, [`secret`]s,
//! [`wildcard`] patterns, and the name that a misspelt one was meant to be ([`nearest`]).

pub mod file;
pub mod nearest;
pub mod secret;
pub mod wildcard;
