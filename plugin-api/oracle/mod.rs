//! Laws that the plugin host keeps for any data of a plugin.
//!
//! [`handed_over`] is a plugin whose calls are made of bytes: rows, columns and texts with null and misaligned
//! pointers, with wrong lengths, sizes, kinds and ids. It keeps the one promise that the host cannot check: after
//! a pointer there is as much memory as the host may read by its limits. It is a module of `oracles`; its files are in
//! this folder because calling the host's table is unsafe.

mod calls;
mod expected;
mod guest;
mod memory;
mod watch;

pub use self::calls::handed_over;
