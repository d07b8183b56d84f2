//! The plugin ABI: the C header and its Rust mirror.

mod failure;

pub use self::failure::{GeneralReason, Stage};

/// How many reasons of its own a source may declare.
pub const DECLARED_REASONS_MAX: usize = 64;
