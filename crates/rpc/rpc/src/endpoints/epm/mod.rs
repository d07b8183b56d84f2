//! The endpoint mapper of C706 (appendix O) and [MS-RPCE] 2.2.1.2, client and server, without I/O.
//!
//! Every host has one, at TCP port [`PORT`]. It knows at which ports and pipes the RPC interfaces of its programs are:
//! the whole list, and the endpoint of one interface.
//!
//! ```no_run
//! # async fn find<C: rpc::Channel>(channel: C, winreg: rpc::SyntaxId) -> Result<(), rpc::endpoints::epm::Error<C::Error>> {
//! use rpc::endpoints::epm::ept::{EndpointMapper, Inquiry};
//!
//! let mut mapper = EndpointMapper::new(channel);
//! for entry in mapper.lookup(Inquiry::All).await?.entries {
//!     println!("{} at {} {}", entry.tower.interface, entry.tower.binding, entry.annotation);
//! }
//! let port: Option<u16> = mapper.tcp_port(winreg).await?;
//! # Ok(()) }
//! ```
//!
//! The channel is one that is bound to [`SYNTAX_ID`]; mappers take calls without any security. What they answer is as
//! trustworthy as that.
//!
//! Where to look: [`types`] for the protocol's words, [`wire`] for towers as bytes, [`ept`] for the methods, both sides.
//! Requirements that are not met are in `gaps.toml`.

pub mod ept;
pub mod types;
pub mod wire;

use crate::{ErrorStatus, Method, SyntaxId};

/// C706 appendix O: the interface `ept`, version 3.0.
pub const SYNTAX_ID: SyntaxId = <ept::Ept as crate::Interface>::SYNTAX_ID;

/// [MS-RPCE] 2.1.1.1: the well-known port.
pub const PORT: u16 = 135;

/// Why a method of [`EndpointMapper`](ept::EndpointMapper) failed; `E` is the channel's error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E: core::error::Error + 'static> {
    #[error(transparent)]
    Rpc(#[from] crate::Error<E, ErrorStatus>),
    /// The tower that is to be mapped cannot be written.
    #[error("{method}: {source}")]
    Tower { method: &'static Method, source: ::wire::EncodeError },
}
