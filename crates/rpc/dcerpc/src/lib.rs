//! Connection-oriented DCE/RPC (C706 chapter 12, [MS-RPCE] 2.2.2): PDUs and the state of both ends of an
//! association, without input or output.
//!
//! * [`pdu`]: every PDU as it goes over the wire.
//! * [`client::ClientAssociation`] and [`server::ServerAssociation`]: bytes go in through `handle_bytes` in any
//!   split, commands through methods, PDUs come out of `poll_transmit` and events out of `poll_event`.
//! * [`Channel`]: what the typed stubs of an interface are written over. A driver with a transport implements it.
//!
//! ```
//! use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig, Event};
//! use dcerpc::server::{ServerAssociation, ServerConfig, ServerEvent};
//! use dcerpc::{AuthService, SyntaxId};
//!
//! let winreg = SyntaxId::new(wire::Guid::from_u128(0x338cd001_2244_31f1_aaaa_900038001003), 1, 0);
//! let mut client = ClientAssociation::new(ClientConfig::default(), None)?;
//! let mut server = ServerAssociation::new(ServerConfig::new(vec![winreg]), |_: AuthService| None);
//!
//! client.bind(&[winreg])?;
//! server.handle_bytes(&client.poll_transmit().unwrap().bytes)?;
//! client.handle_bytes(&server.poll_transmit().unwrap())?;
//! assert!(matches!(client.poll_event(), Some(Event::Bound { .. })));
//!
//! let call = client.call(CallRequest { context_id: 0, opnum: 26, object: None, stub: &[1, 2, 3, 4] })?;
//! server.handle_bytes(&client.poll_transmit().unwrap().bytes)?;
//! let Some(ServerEvent::Request(request)) = server.poll_event() else { panic!("a call came in") };
//! server.respond(request.call_id, &[5, 0, 0, 0])?;
//! client.handle_bytes(&server.poll_transmit().unwrap())?;
//! assert_eq!(client.poll_event(), Some(Event::Response { call_id: call, stub: vec![5, 0, 0, 0] }));
//! # Ok::<(), dcerpc::Error>(())
//! ```
//!
//! Only little-endian NDR 2.0 is spoken, as by every Windows.
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod assembly;
mod auth;
mod error;
mod fault;
mod observer;
pub mod pdu;
mod protector;
mod stream;
mod syntax;

pub mod client;
pub mod server;

pub use self::auth::{Auth, AuthLevel, AuthService};
pub use self::error::Error;
pub use self::fault::FaultStatus;
pub use self::observer::{
    AssociationInfo, AssociationState, CallOutcome, Change, EndpointState, Observer, Observers, Role,
    Transport,
};
pub use self::syntax::{CallId, ContextId, Rejection, RejectionReason, SyntaxId};
use core::future::Future;

use wire::Guid;

/// One presentation context on an association to somewhere: what the typed stubs of an interface call through.
///
/// Nothing here does input or output; drivers implement it over a transport, tests over a server in memory.
pub trait Channel: Send {
    /// Why a call had no response: a fault, or a transport that failed.
    type Error: core::error::Error + Send + Sync + 'static;

    /// Makes one call and answers the stub data of its response.
    fn call(
        &mut self,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Self::Error>> + Send;
}

impl<C: Channel> Channel for &mut C {
    type Error = C::Error;

    fn call(
        &mut self,
        opnum: u16,
        object: Option<Guid>,
        stub: &[u8],
    ) -> impl Future<Output = Result<Vec<u8>, Self::Error>> + Send {
        (**self).call(opnum, object, stub)
    }
}

/// What one association accepts from its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Stub data of one call, all fragments together.
    pub stub_bytes_max: usize,
    /// Fragments of one call.
    pub fragments_max: usize,
    /// Presentation contexts of one association.
    pub contexts_max: usize,
    /// Security contexts of one association at a server.
    pub security_contexts_max: usize,
    /// Calls that a client may have open at a server.
    pub calls_max: usize,
    /// Orphaned calls whose responses a client still waits to throw away.
    pub orphans_max: usize,
    /// Legs of one authentication.
    pub auth_legs_max: usize,
}

impl Default for Limits {
    /// 64 MiB in 65,536 fragments; a few of everything else.
    fn default() -> Self {
        Self {
            stub_bytes_max: 64 << 20,
            fragments_max: 65_536,
            contexts_max: 32,
            security_contexts_max: 32,
            calls_max: 64,
            orphans_max: 16,
            auth_legs_max: 8,
        }
    }
}
