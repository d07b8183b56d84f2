//! Kinds of errors.

use wire::NtStatus;

use crate::rpc_client::{Error, ErrorKind};

impl Error {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Timeout { .. } => ErrorKind::Timeout,
            Self::Stream { .. } => ErrorKind::ConnectionLost,
            // The server has forgotten the session, or its tree: nothing works on this connection any more.
            Self::Status {
                status: NtStatus::STATUS_USER_SESSION_DELETED | NtStatus::STATUS_NETWORK_NAME_DELETED,
                ..
            } => ErrorKind::ConnectionLost,
            Self::Status { status, .. } => ErrorKind::Refused(*status),
            Self::Fault { status, .. } => ErrorKind::Fault(*status),
            Self::Security { .. } => ErrorKind::Security,
            Self::Protocol { .. } => ErrorKind::Protocol,
            Self::Abandoned { .. } => ErrorKind::Abandoned,
            Self::Ended { by, .. } => *by,
            Self::Smb { source, .. } => of_smb(source),
            Self::Rpc { source, .. } => of_rpc(source),
        }
    }
}

const fn of_smb(error: &ms_smb2::Error) -> ErrorKind {
    use ms_smb2::Error as Smb;
    match error {
        Smb::Decode(_) | Smb::FrameSize { .. } => ErrorKind::Malformed,
        Smb::Smb1Only { .. }
        | Smb::DialectRefused { .. }
        | Smb::NegotiationRefused { status: NtStatus::STATUS_NOT_SUPPORTED } => ErrorKind::Smb1Only,
        Smb::NegotiationRefused { status } => ErrorKind::Refused(*status),
        Smb::EncryptionUnavailable | Smb::EncryptionDisabled => ErrorKind::Encryption,
        Smb::SignatureMissing | Smb::SignatureInvalid | Smb::Guest => ErrorKind::Signing,
        Smb::Downgrade { .. } | Smb::EncryptionMissing | Smb::DecryptionFailed => ErrorKind::Downgrade,
        Smb::SessionDeleted | Smb::Forgotten { .. } | Smb::Closed => ErrorKind::ConnectionLost,
        Smb::Limit { .. } | Smb::CreditsExhausted => ErrorKind::Limit,
        Smb::UnknownMessageId { .. } | Smb::WrongSession { .. } | Smb::Protocol { .. } => ErrorKind::Protocol,
        Smb::Encode(_) | Smb::InvalidState { .. } => ErrorKind::Internal,
        _ => ErrorKind::Internal,
    }
}

const fn of_rpc(error: &dcerpc::Error) -> ErrorKind {
    use dcerpc::Error as Rpc;
    match error {
        Rpc::Decode(_) => ErrorKind::Malformed,
        Rpc::BindRefused { .. } => ErrorKind::BindRefused,
        Rpc::ContextRefused { .. } => ErrorKind::InterfaceRefused,
        Rpc::BindFault { status, .. } => ErrorKind::Fault(*status),
        Rpc::LimitExceeded { .. } => ErrorKind::Limit,
        Rpc::Security { .. } | Rpc::AuthenticationIncomplete { .. } => ErrorKind::Security,
        Rpc::LevelDowngrade { .. } | Rpc::WrongSecurityContext => ErrorKind::Downgrade,
        Rpc::UnexpectedPdu { .. }
        | Rpc::WrongCallId { .. }
        | Rpc::WrongContext { .. }
        | Rpc::FragmentOrder { .. } => ErrorKind::Protocol,
        Rpc::Failed => ErrorKind::Abandoned,
        _ => ErrorKind::Internal,
    }
}
