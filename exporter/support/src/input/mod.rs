//! What people write for the exporter, and how it is read: files within limits of bytes and time, [`secret`]s
//! and [`wildcard`] patterns.

pub mod file;
pub mod secret;
pub mod wildcard;
