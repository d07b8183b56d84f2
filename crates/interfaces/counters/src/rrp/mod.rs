//! The Windows Remote Registry Protocol [MS-RRP], client and server, without I/O; only as far as a client of
//! performance counters needs it.
//!
//! `PerflibV2EnumerateCounterSet` can return 256 countersets. A host that has more keeps a list of them in its
//! registry, behind the same pipe, and [`enumerate_counter_sets`] reads it:
//!
//! ```no_run
//! # async fn list<C: dcerpc::Channel>(channel: C) -> Result<(), counters::rrp::Error<C::Error>> {
//! let mut client = counters::rrp::winreg::RegistryClient::new(channel);
//! let registered = counters::rrp::enumerate_counter_sets(&mut client).await?;
//! for counter_set in &registered.counter_sets {
//!     println!("{counter_set}");
//! }
//! # Ok(()) }
//! ```
//!
//! The channel is one that is bound to [`SYNTAX_ID`]; an association may hold it beside one of another interface.
//!
//! Where to look: [`types`] for the protocol's words, [`winreg`] for the methods, both sides, [`wire`] for what the bytes of
//! values mean. Requirements that are not met are in `gaps.toml`.

mod error;
mod perflib;
pub mod types;
pub mod winreg;
pub mod wire;

use dcerpc::SyntaxId;

pub use self::error::Error;
pub use self::perflib::{PROVIDERS_KEY, RegisteredCounterSets, enumerate_counter_sets};

/// [MS-RRP] 1.9: the interface `winreg`, version 1.0.
pub const SYNTAX_ID: SyntaxId = <winreg::Winreg as rpc::Interface>::SYNTAX_ID;

/// [MS-RRP] 2.1: the well-known endpoint.
pub const ENDPOINT: &str = r"\PIPE\winreg";
