//! The Performance Counter Query Protocol [MS-PCQ], client and server, without I/O.
//!
//! A client enumerates countersets, asks for their registration, opens a query, adds counters to it by
//! wildcard, and then polls it:
//!
//! ```no_run
//! # async fn poll<C: dcerpc::Channel>(channel: C) -> Result<(), counters::pcq::Error<C::Error>> {
//! use counters::pcq::perflibv2::{Change, PerflibV2Client};
//! use counters::pcq::wire::CounterIdentifier;
//!
//! let mut client = PerflibV2Client::new(channel, "web1.corp.example.com");
//! let set = client.enumerate_counter_set().await?.remove(0);
//! let mut query = client.open_query_handle().await?;
//! let all = [CounterIdentifier::all_instances(set)];
//! for added in client.validate_counters(&query, &all, Change::Add).await? {
//!     assert!(added.status.is_success());
//! }
//! let reply = client.query_counter_data(&mut query).await?;
//! for block in reply.data().blocks().flatten() {
//!     for instance in block.instances() {
//!         println!("{}", instance.name);
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! Where to look: [`types`] for the protocol's words, [`wire`] for what lies inside of
//! the methods' buffers, [`perflibv2`] for the methods themselves, both sides. Requirements that are not met are
//! in `gaps.toml`.

pub mod perflibv2;
pub mod types;
pub mod wire;

use ::wire::{DecodeError, Win32Error};
use dcerpc::SyntaxId;
use rpc::Method;

/// [MS-PCQ] 1.9: the interface `PerflibV2`, version 1.0.
pub const SYNTAX_ID: SyntaxId = <perflibv2::methods::PerflibV2 as rpc::Interface>::SYNTAX_ID;

/// [MS-PCQ] 2.1: the well-known endpoint, shared with the remote registry.
pub const ENDPOINT: &str = r"\PIPE\winreg";

/// Why a method of [`crate::pcq::perflibv2::PerflibV2Client`] failed; `E` is the channel's error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E: core::error::Error + 'static> {
    #[error(transparent)]
    Rpc(#[from] rpc::Error<E, Win32Error>),
    /// The buffer that the method returned contradicts itself, or holds more than this side accepts.
    #[error("{method}: {source}")]
    Buffer { method: &'static Method, source: DecodeError },
    /// The server has more than this side accepts, or than the method can return.
    #[error("{method}: the server has {needed} {unit}, the limit is {limit}")]
    LimitExceeded {
        method: &'static Method,
        /// What the server wants to return.
        needed: u32,
        /// What of: countersets or bytes.
        unit: &'static str,
        limit: u32,
    },
    /// The server's data outgrew the buffer each time.
    #[error("{method}: the buffer was too small in each of {calls} calls")]
    Unsettled {
        method: &'static Method,
        /// How often it was called.
        calls: u32,
    },
}

impl<E: core::error::Error + 'static> Error<E> {
    /// What the server's method returned, where that is what failed.
    #[must_use]
    pub const fn status(&self) -> Option<Win32Error> {
        match self {
            Self::Rpc(error) => error.status(),
            _ => None,
        }
    }

    #[must_use]
    pub const fn method(&self) -> &'static Method {
        match self {
            Self::Rpc(error) => error.method(),
            Self::Buffer { method, .. }
            | Self::LimitExceeded { method, .. }
            | Self::Unsettled { method, .. } => method,
        }
    }
}
