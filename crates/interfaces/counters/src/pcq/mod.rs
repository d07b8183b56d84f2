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

mod error;
pub mod perflibv2;
pub mod types;
pub mod wire;

use dcerpc::SyntaxId;

pub use self::error::Error;

/// [MS-PCQ] 1.9: the interface `PerflibV2`, version 1.0.
pub const SYNTAX_ID: SyntaxId = <perflibv2::methods::PerflibV2 as rpc::Interface>::SYNTAX_ID;

/// [MS-PCQ] 2.1: the well-known endpoint, shared with the remote registry.
pub const ENDPOINT: &str = r"\PIPE\winreg";
