//! Bytes that are no NDR, little-endian and without padding.

mod context;
mod data_element;
mod dual_string_array;
mod error_info;
mod objref;
mod std_objref;

pub use self::context::Context;
pub use self::data_element::DataElement;
pub use self::dual_string_array::{BINDINGS_MAX, DualStringArray, SecurityBinding, StringBinding};
pub use self::error_info::{ErrorInfo, TEXT_UNITS_MAX};
pub use self::objref::{CustomHeader, Objref, ObjrefBody};
