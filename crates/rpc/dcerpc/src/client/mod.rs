//! The end of an association that binds and calls.

mod association;
mod bind;
mod receive;

use wire::Guid;

use crate::assembly::Assembly;
use crate::{Auth, CallId, ContextId, FaultStatus, Limits, Rejection, RejectionReason, SyntaxId};

pub use self::association::ClientAssociation;

/// How an association is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientConfig {
    /// Level and service of the security context; none for calls in the clear.
    pub auth: Option<Auth>,
    /// The longest fragment that this side sends. At least 1,432.
    pub max_xmit_frag: u16,
    /// The longest fragment that this side takes. At least 1,432.
    pub max_recv_frag: u16,
    /// The group whose context handles are to be shared; zero for a new one.
    pub assoc_group_id: u32,
    /// Limits of what the server may send.
    pub limits: Limits,
}

impl ClientConfig {
    /// Calls under `auth`, all else by default.
    #[must_use]
    pub fn with_auth(auth: Auth) -> Self {
        Self { auth: Some(auth), ..Self::default() }
    }
}

impl Default for ClientConfig {
    /// No authentication, fragments of 5,840 bytes as Windows has them.
    fn default() -> Self {
        Self {
            auth: None,
            max_xmit_frag: FRAG_BYTES_DEFAULT,
            max_recv_frag: FRAG_BYTES_DEFAULT,
            assoc_group_id: 0,
            limits: Limits::default(),
        }
    }
}

/// C706 12.6.3.1 `MustRecvFragSize`: every implementation takes fragments of this size.
pub(crate) const FRAG_BYTES_MIN: u16 = 1432;
pub(crate) const FRAG_BYTES_DEFAULT: u16 = 5840;

#[derive(Clone, Copy, Debug)]
pub struct CallRequest<'a> {
    /// An accepted presentation context.
    pub context_id: ContextId,
    pub opnum: u16,
    /// The object that the call is for, where the interface has objects.
    pub object: Option<Guid>,
    /// The arguments, in NDR.
    pub stub: &'a [u8],
}

/// A PDU to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The whole PDU. On a pipe in message mode it is one message.
    pub bytes: Vec<u8>,
    /// Whether the server will answer after this PDU, so that on a pipe a transceive serves.
    pub reply: bool,
}

/// A presentation context and the server's answer to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PresentationContext {
    /// Its name in calls.
    pub context_id: ContextId,
    pub interface: SyntaxId,
    /// Whether it can be called, or why not.
    pub outcome: Result<(), (Rejection, RejectionReason)>,
}

/// An event of an association.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The association is there. At least one of the contexts was accepted.
    ///
    /// After the last leg of NTLM, which has no answer, the server's verdict comes with the first call only.
    Bound {
        /// One for each interface of the bind.
        contexts: Vec<PresentationContext>,
    },
    /// The server answered to a further interface.
    Altered { context: PresentationContext },
    /// A call was answered.
    Response {
        call_id: CallId,
        /// The results, in NDR.
        stub: Vec<u8>,
    },
    /// A call failed.
    ///
    /// Servers send faults without protection, so that a fault proves nothing about who sent it.
    Fault { call_id: CallId, status: FaultStatus },
    /// The server asks for the connection to be closed when no call is open.
    Shutdown,
}

/// What the association waits for.
#[derive(Debug)]
enum State {
    Unbound,
    /// For the answer to a bind, or to an alter_context with a further leg of its authentication.
    Binding(Offer),
    Bound,
    /// For the answer to an alter_context with a further interface.
    Altering(Offer),
    Failed,
}

/// What a bind or an alter_context asked for.
#[derive(Debug)]
struct Offer {
    call_id: CallId,
    /// The first of the contexts that are offered; those after it are too.
    first_context: usize,
    /// Legs of the authentication that were sent.
    legs: usize,
    /// Whether the bind_ack is there and only the authentication goes on.
    acknowledged: bool,
}

/// A call that waits for its response.
#[derive(Debug)]
struct OpenCall {
    call_id: CallId,
    context_id: ContextId,
    response: Assembly,
}
