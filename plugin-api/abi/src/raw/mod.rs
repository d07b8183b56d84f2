//! The C header `include/perfmon_plugin.h` as Rust sees it.
//!
//! The header is the specification. This module repeats its structs and constants, with assertions on every offset, and has
//! the only code that follows pointers between both sides ([`Str::read`], [`Array::structs`], [`read_struct`] …).

mod constants;
mod read;
mod structs;

pub use self::constants::*;
pub use self::read::{Malformed, Structs, read_struct, struct_size, write_plugin, write_text};
pub use self::structs::*;

/// The header itself, for tests and tools that compile against it.
pub const HEADER: &str = include_str!("../../include/perfmon_plugin.h");

/// The entry function of a plugin.
pub type EntryFn =
    unsafe extern "C" fn(host: *const HostApi, plugin_host: *mut PluginApi, error_host: *mut Text) -> i32;
