//! The remote management interface of C706 (appendix Q), client and server, without I/O.
//!
//! Every RPC server offers it at each of its endpoints, beside its own interfaces: which interfaces there are, how many calls
//! and packets the server counted, whether it takes calls, and under which name it authenticates.
//!
//! ```no_run
//! # async fn ask<C: rpc::Channel>(channel: C) -> Result<(), rpc::endpoints::mgmt::Error<C::Error>> {
//! let mut server = rpc::endpoints::mgmt::management::Management::new(channel);
//! for interface in server.interfaces().await? {
//!     println!("{interface}");
//! }
//! println!("{} calls", server.statistics().await?.calls_in);
//! # Ok(()) }
//! ```
//!
//! The channel is one that is bound to [`SYNTAX_ID`]. Many servers take these calls without any security.
//!
//! Where to look: [`types`] for the protocol's words, [`management`] for the methods, both sides. Requirements that are not
//! met are in `gaps.toml`.

pub mod management;
pub mod types;

use crate::{ErrorStatus, SyntaxId};

/// Why a call failed; `E` is the channel's error.
pub type Error<E> = crate::Error<E, ErrorStatus>;

/// C706 appendix Q: the interface `mgmt`, version 1.0.
pub const SYNTAX_ID: SyntaxId = <management::Mgmt as crate::Interface>::SYNTAX_ID;
