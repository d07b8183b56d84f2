//! The bytes of values: what is in the registry, outside of NDR.
//!
//! Whoever may write to a key chooses the type and the bytes of its values, so each of these functions checks the type,
//! and takes no more memory than the bytes that it reads.

mod resource_list;
mod value;

pub use self::resource_list::{MemoryRange, ResourceList};
pub use self::value::{InvalidValue, number, text, texts, wide_number};
