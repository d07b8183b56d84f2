use wire::{DecodeError, EncodeError};

use crate::pdu::{BindNakReason, PacketType};
use crate::{AuthLevel, AuthService, CallId, ContextId, FaultStatus, Rejection, RejectionReason, SyntaxId};

/// Why an association refused bytes or a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A PDU that breaks its layout.
    #[error("malformed PDU")]
    Decode(#[from] DecodeError),
    /// A value that the wire has no room for.
    #[error("cannot write PDU")]
    Encode(#[from] EncodeError),
    /// The server refuses the association.
    #[error("bind refused: {reason}")]
    BindRefused { reason: BindNakReason },
    /// The server has no use for any of the presentation contexts.
    #[error("interface {interface} refused: {result}, {reason}")]
    ContextRefused {
        /// The interface that was asked for.
        interface: SyntaxId,
        result: Rejection,
        reason: RejectionReason,
    },
    /// The server answered an alter_context or a bind with a fault.
    #[error("{doing}: {status}")]
    BindFault { doing: &'static str, status: FaultStatus },
    /// A PDU that the state of the association does not allow.
    #[error("unexpected {packet_type} while {state}")]
    UnexpectedPdu {
        packet_type: PacketType,
        /// What the association was doing.
        state: &'static str,
    },
    /// A fragment of an unknown call.
    #[error("fragment of call {actual} where call {expected} is due")]
    WrongCallId {
        /// The call that is due.
        expected: CallId,
        /// The call of the fragment.
        actual: CallId,
    },
    /// A fragment on a presentation context that the call is not on.
    #[error("fragment on presentation context {actual} where {expected} is due")]
    WrongContext { expected: ContextId, actual: ContextId },
    /// Fragments that are no sequence.
    #[error("fragments out of order: {reason}")]
    FragmentOrder { reason: &'static str },
    /// A peer that wants more than it may have.
    #[error("{what} exceeds the limit of {limit}")]
    LimitExceeded {
        what: &'static str,
        /// The most that is accepted.
        limit: usize,
    },
    /// A PDU at another authentication level than the association's.
    #[error("PDU at authentication level {actual} on an association at {expected}")]
    LevelDowngrade {
        expected: AuthLevel,
        /// The PDU's; [`AuthLevel::NONE`] where it has no verifier.
        actual: AuthLevel,
    },
    /// A verifier that names another security context.
    #[error("verifier of another security context")]
    WrongSecurityContext,
    /// A client asks for security that the server does not have.
    #[error("authentication service {service} at level {level} is not taken")]
    SecurityNotTaken {
        /// What it asks for.
        service: AuthService,
        level: AuthLevel,
    },
    /// The peer's authentication, or the protection of a fragment, failed.
    #[error("{doing}")]
    Security {
        /// What was being done.
        doing: &'static str,
        #[source]
        source: ssp::Error,
    },
    /// The peer ended an authentication early, or will not end it.
    #[error("authentication did not end: {reason}")]
    AuthenticationIncomplete { reason: &'static str },
    /// A command that the state of the association does not allow.
    #[error("cannot {command}: {reason}")]
    Command {
        command: &'static str,
        /// What is in its way.
        reason: &'static str,
    },
    /// A presentation context that was not accepted.
    #[error("presentation context {context_id} is not bound")]
    UnknownContext { context_id: ContextId },
    /// A call that is not open.
    #[error("call {call_id} is not open")]
    UnknownCall { call_id: CallId },
    /// The association failed before, with another error.
    #[error("association is broken by an earlier error")]
    Failed,
}
