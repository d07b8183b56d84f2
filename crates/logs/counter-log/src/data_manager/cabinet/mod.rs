//! Cabinet files: reading with checks before anything is written, and writing by the `cab` crate.
//!
//! They are read by code of our own: the reader of the `cab` crate starts at the first byte of a cabinet's folder for each file,
//! does not say that a cabinet is one of several, and panics if the offset of a file is after the last byte.

mod extract;
mod layout;
mod name;
mod read;
mod write;

pub use self::extract::{Extracted, extract};
pub use self::layout::{Entry, ExtractLimits};
pub use self::name::{from_cabinet, to_cabinet};
pub use self::read::Cabinet;
pub(crate) use self::write::cabinet_seconds;
pub use self::write::{NewFile, PartLimits, Plan, write};
