//! The plugin ABI: the C header `include/perfmon_plugin.h` and its Rust mirror.
//!
//! The header is the specification. This crate repeats its structs and constants for Rust, with assertions on every
//! offset, and has the only code that follows pointers between both sides ([`Str::read`], [`Array::structs`],
//! [`read_struct`] …). Plugins in Rust use `plugin-sdk` instead.

mod constants;
mod display;
mod failure;
mod read;
mod structs;

pub use self::constants::*;
pub use self::display::{Display, DisplayRule};
pub use self::failure::{GeneralReason, Stage};
pub use self::read::{Malformed, Structs, read_part, read_struct, struct_size, write_plugin, write_text};
pub use self::structs::*;

/// The header itself, for tests and tools that compile against it.
pub const HEADER: &str = include_str!("../include/perfmon_plugin.h");

/// The entry function of a plugin.
pub type EntryFn =
    unsafe extern "C" fn(host: *const HostApi, plugin_host: *mut PluginApi, error_host: *mut Text) -> i32;
