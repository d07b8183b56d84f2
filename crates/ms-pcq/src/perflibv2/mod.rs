//! [MS-PCQ] 3.1.4.1, the interface `PerflibV2`: the methods' parameters ([`ops`]) and both sides of it.

mod client;
mod mapping;
pub mod ops;
mod registration;
mod server;

pub use self::client::{CounterData, Limits, PerflibV2Client, Query};
pub use self::mapping::{BlockCountMismatch, BlockMapping, MappingProblem};
pub use self::registration::{RegistrationInfo, RegistrationRequest};
pub use self::server::{CallInfo, PerflibV2Server, dispatch};

/// [MS-PCQ] 3.1.4.1.7 `dwAdd`: what `PerflibV2ValidateCounters` does with the identifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Add them to the query.
    Add,
    /// Remove them from it.
    Remove,
}
