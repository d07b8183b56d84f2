//! Laws that the plugin host keeps whatever a plugin hands over.
//!
//! [`handed_over`] is a plugin whose calls are made of bytes: rows, columns and texts with null and misaligned
//! pointers, with lengths, sizes, kinds and ids that lie. It keeps to the one promise that the host cannot check, that
//! there is as much memory behind a pointer as the host may read by its limits. It stands in this folder since calling
//! the host's table is unsafe; `exporter-oracles` has its inputs and replays them.

mod calls;
mod expected;
mod guest;
mod memory;
mod watch;

pub use self::calls::handed_over;
