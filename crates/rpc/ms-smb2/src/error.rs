use wire::{DecodeError, EncodeError, NtStatus};

use crate::DialectRevision;

/// Why a connection ended, or why a call was refused.
///
/// Every error that `handle_bytes` answers is terminal: the connection answers the same error from then on, and
/// its driver closes the stream. [`Error::InvalidState`] and the `*Limit` errors of the other methods refuse
/// one call and change nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Bytes of the peer that cannot be believed.
    #[error("malformed message: {0}")]
    Decode(#[from] DecodeError),
    /// A value of the caller that has no room on the wire.
    #[error("message cannot be written: {0}")]
    Encode(#[from] EncodeError),
    /// The peer announces a message that is larger than the limit, or smaller than any message.
    #[error(
        "frame of {frame_bytes} bytes is outside the limits of {frame_bytes_min} to {frame_bytes_max} bytes"
    )]
    FrameSize {
        /// What the peer announces.
        frame_bytes: usize,
        /// The smallest message there is.
        frame_bytes_min: usize,
        frame_bytes_max: usize,
    },
    /// The server answered in SMB1, or hung up on an SMB 2 negotiation as such servers do.
    #[error("server speaks SMB1 only ({evidence}); SMB 2.1 or later is needed")]
    Smb1Only { evidence: &'static str },
    /// The server chose a dialect that was not offered, such as 2.0.2.
    #[error("server chose dialect {revision}, which was not offered")]
    DialectRefused { revision: DialectRevision },
    /// The server refused the negotiation.
    #[error("negotiation refused: {status}")]
    NegotiationRefused { status: NtStatus },
    /// Encryption is required here, and the server has none.
    #[error("encryption is required, but the server offers none")]
    EncryptionUnavailable,
    /// The server demands encryption, and it is disabled here.
    #[error("server demands encryption, which is disabled here")]
    EncryptionDisabled,
    /// A clear message came where all are encrypted.
    #[error("unencrypted message on an encrypted session")]
    EncryptionMissing,
    /// An encrypted message that was changed on its way, or that belongs to another key.
    #[error("encrypted message cannot be decrypted")]
    DecryptionFailed,
    /// An unsigned message came where all are signed.
    #[error("unsigned message on a signed session")]
    SignatureMissing,
    /// A message that was changed on its way, or that belongs to another key.
    #[error("signature is wrong")]
    SignatureInvalid,
    /// The server's signed values differ from those of its unsigned negotiation.
    #[error("negotiation was tampered with: `{field}` differs")]
    Downgrade { field: &'static str },
    /// The server admitted us as guest or anonymous, so that nothing can be signed.
    #[error("server admitted us as guest, without keys for signing")]
    Guest,
    /// A response to an unknown request, or a second response to the same one.
    #[error("message id {message_id} is unknown or was used before")]
    UnknownMessageId { message_id: u64 },
    /// A message of a session that is not ours.
    #[error("message belongs to session {session_id:#x}, which is unknown here")]
    WrongSession { session_id: u64 },
    /// The server has ended the session.
    #[error("session was deleted by the server")]
    SessionDeleted,
    /// The server does not know what a request was about any more, and says so without a signature.
    #[error("server has forgotten session, tree or pipe ({status}, unsigned)")]
    Forgotten { status: NtStatus },
    /// No credit is left, and no answer is due that could bring one.
    #[error("server grants no more credits")]
    CreditsExhausted,
    /// The peer violates the protocol.
    #[error("invalid `{field}` in {context}: {reason}")]
    Protocol {
        /// What was being done.
        context: &'static str,
        field: &'static str,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// A limit of this side is reached.
    #[error("{what} is at its limit of {limit}")]
    Limit {
        /// What there is too much of.
        what: &'static str,
        /// How much there may be.
        limit: usize,
    },
    #[error("connection closed by the peer")]
    Closed,
    /// The operation is not possible in this state.
    #[error("{operation} is not possible while {state}")]
    InvalidState {
        /// What was asked for.
        operation: &'static str,
        /// The state that does not allow it.
        state: &'static str,
    },
}

impl Error {
    pub const fn protocol(context: &'static str, field: &'static str, reason: &'static str) -> Self {
        Self::Protocol { context, field, reason }
    }
}
