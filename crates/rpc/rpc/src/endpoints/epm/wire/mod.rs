//! Protocol towers, C706 appendix L: bytes that are no NDR, little-endian but for ports and addresses, without padding.

mod binding;
mod floor;
mod tower;

pub use self::binding::Binding;
pub use self::floor::{Floor, ProtocolId};
pub use self::tower::{FLOORS_MAX, Tower};
