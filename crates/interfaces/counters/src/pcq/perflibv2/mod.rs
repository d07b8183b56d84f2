//! [MS-PCQ] 3.1.4.1, the interface `PerflibV2`: its [`methods`] and both sides of it.

mod client;
mod mapping;
pub mod methods;
mod registration;
mod server;

pub use self::client::{CounterData, Limits, PerflibV2Client, Query};
pub use self::mapping::{BlockCountMismatch, BlockMapping, MappingProblem};
pub use self::registration::{RegistrationInfo, RegistrationRequest};
pub use self::server::{PerflibV2Service, dispatch};
pub use rpc::CallInfo;

use rpc::ndr::{NdrDecode, NdrEncode};
use wire::EncodeError;

/// [MS-PCQ] 3.1.4.1.7 `dwAdd`: what `PerflibV2ValidateCounters` does with the identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
#[ndr(wire = u32)]
pub enum Change {
    /// Add them to the query.
    Add,
    /// Remove them from it.
    Remove,
}

/// Any number but zero adds.
impl TryFrom<u32> for Change {
    type Error = &'static str;

    fn try_from(add: u32) -> Result<Self, &'static str> {
        Ok(if add == 0 { Self::Remove } else { Self::Add })
    }
}

impl TryFrom<&Change> for u32 {
    type Error = EncodeError;

    fn try_from(change: &Change) -> Result<Self, EncodeError> {
        Ok(Self::from(*change == Change::Add))
    }
}
