use core::fmt;
use std::error::Error as StdError;

use dcerpc::FaultStatus;
use ms_dtyp::{NtStatus, Win32Error};
use rpc_client::{ErrorKind, Operation};
use transport::{ConnectError, ConnectErrorKind, ConnectStage};

use crate::{Reason, Stage, StageReport, Target, Verdict};

/// Why a host gave no answer: a stage and a reason from closed lists, and one sentence for a person.
///
/// The text names the host, the stage, the whole chain of causes and what to do next; it holds nothing secret.
#[derive(Clone, Debug)]
pub struct SessionError {
    /// How far it went.
    pub stage: Stage,
    /// Why it ended there.
    pub reason: Reason,
    /// What to build anew before trying again.
    pub recovery: Recovery,
    /// The stages until then; the last one is that of the failure.
    pub stages: Vec<StageReport>,
    target: Target,
    detail: String,
}

/// What an error leaves standing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Recovery {
    /// Everything: the error is the answer.
    Nothing,
    /// All but the context handles: the service was started anew, or forgot them, or failed.
    Handle,
    /// The connection; the pipe is gone. See [`Session::reopen`](crate::Session::reopen).
    Pipe,
    /// Nothing, or nothing that is worth keeping: who was denied access may be allowed it at the next logon. See [`Session::connect`](crate::Session::connect).
    Connection,
}

impl SessionError {
    pub(crate) fn new(target: &Target, stage: Stage, reason: Reason, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        let recovery = Recovery::Connection;
        Self { stage, reason, recovery, stages: Vec::new(), target: target.clone(), detail }
    }

    pub(crate) fn of_connect(error: &ConnectError) -> Self {
        let stage = match error.stage {
            ConnectStage::Dns => Stage::Dns,
            ConnectStage::Tcp => Stage::Tcp,
        };
        let reason = match error.kind {
            ConnectErrorKind::NameNotFound => Reason::NameNotFound,
            ConnectErrorKind::NameLookupTimedOut => Reason::NameLookupTimedOut,
            ConnectErrorKind::NameServerFailed => Reason::NameServerFailed,
            ConnectErrorKind::ConnectionRefused => Reason::ConnectionRefused,
            ConnectErrorKind::Unreachable => Reason::Unreachable,
            ConnectErrorKind::Timeout => Reason::Timeout,
            ConnectErrorKind::ConnectionReset => Reason::ConnectionReset,
            _ => Reason::Other,
        };
        let detail = format!("{}: {}", error.place(), error.what());
        Self::new(&error.endpoint, stage, reason, detail)
    }

    pub(crate) fn of_rpc(target: &Target, error: &rpc_client::Error) -> Self {
        let stage = match error.stage() {
            rpc_client::Stage::Smb => Stage::Smb,
            rpc_client::Stage::Auth => Stage::Auth,
            rpc_client::Stage::Pipe => Stage::Pipe,
            rpc_client::Stage::Bind => Stage::Bind,
            rpc_client::Stage::Query => Stage::Query,
        };
        let mut failure = Self::new(target, stage, reason_of(error), chain(error));
        failure.recovery = recovery_of(error);
        failure
    }

    pub(crate) fn of_pcq(target: &Target, error: &ms_pcq::Error<rpc_client::Error>) -> Self {
        use ms_pcq::Error as Pcq;
        let (stage, reason, recovery) = match error {
            Pcq::Call { source, method } => {
                let mut failure = Self::of_rpc(target, source);
                failure.detail = format!("{method}: {}", failure.detail);
                return failure;
            }
            Pcq::Status { status, .. } => {
                (Stage::Query, reason_of_win32(*status), recovery_of_win32(*status))
            }
            Pcq::Stub { .. } | Pcq::Buffer { .. } => {
                (Stage::Decode, Reason::MalformedReply, Recovery::Nothing)
            }
            Pcq::LimitExceeded { .. } => (Stage::Query, Reason::LimitExceeded, Recovery::Nothing),
            Pcq::Unsettled { .. } => (Stage::Query, Reason::Busy, Recovery::Nothing),
            _ => (Stage::Query, Reason::Internal, Recovery::Nothing),
        };
        Self { recovery, ..Self::new(target, stage, reason, chain(error)) }
    }

    pub(crate) fn of_rrp(target: &Target, error: &ms_rrp::Error<rpc_client::Error>) -> Self {
        use ms_rrp::Error as Rrp;
        let (stage, reason, recovery) = match error {
            Rrp::Call { source, method } => {
                let mut failure = Self::of_rpc(target, source);
                failure.detail = format!("{method}: {}", failure.detail);
                return failure;
            }
            Rrp::Status { status, .. } => {
                (Stage::Query, reason_of_win32(*status), recovery_of_win32(*status))
            }
            Rrp::Stub { .. } => (Stage::Decode, Reason::MalformedReply, Recovery::Nothing),
            Rrp::LimitExceeded { .. } => (Stage::Query, Reason::LimitExceeded, Recovery::Nothing),
            _ => (Stage::Query, Reason::Internal, Recovery::Nothing),
        };
        Self { recovery, ..Self::new(target, stage, reason, chain(error)) }
    }

    /// Names the place where a connection was made and nothing came back: it may not be the host that is meant.
    pub(crate) fn at(mut self, place: &str) -> Self {
        if matches!(self.reason, Reason::Timeout | Reason::ConnectionReset) {
            self.detail = format!("{place}: {}", self.detail);
        }
        self
    }

    pub(crate) fn with_stages(mut self, stages: Vec<StageReport>) -> Self {
        self.stages = stages;
        self
    }

    /// Whether [`Session::connect`](crate::Session::connect) is needed before anything else can succeed.
    #[must_use]
    pub fn is_connection_lost(&self) -> bool {
        self.recovery == Recovery::Connection
    }

    /// Whether context handles, such as a query's, are gone while calls still work.
    #[must_use]
    pub fn is_handle_lost(&self) -> bool {
        self.recovery == Recovery::Handle
    }

    /// What the failure says about the credentials.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.reason.verdict() {
            Some(verdict) => verdict,
            None if self.stage > Stage::Auth => Verdict::Accepted,
            None => Verdict::Unknown,
        }
    }

    /// The host, the stage and the causes, without advice.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, stage, reason, detail, .. } = self;
        // Whose detail names the host, with its addresses, says it to those who show the detail alone.
        let named = detail.strip_prefix(&target.to_string()).and_then(|rest| rest.split_once(": "));
        let (addresses, detail) = named.unwrap_or(("", detail));
        write!(f, "{target}{addresses}: {stage}: {detail}; {}", reason.advice())
    }
}

impl StdError for SessionError {}

/// An error and its causes in one line. A cause that its parent printed already is not printed again.
pub(crate) fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = error.source();
    }
    text
}

fn reason_of(error: &rpc_client::Error) -> Reason {
    match error.kind() {
        ErrorKind::Timeout => Reason::Timeout,
        ErrorKind::ConnectionLost => Reason::ConnectionReset,
        ErrorKind::Refused(status) => reason_of_status(error.operation(), status),
        ErrorKind::Fault(status) => reason_of_fault(status),
        ErrorKind::BindRefused => Reason::ServerFault,
        ErrorKind::InterfaceRefused => Reason::NotFound,
        ErrorKind::Smb1Only => Reason::Smb1Only,
        ErrorKind::Encryption => Reason::EncryptionRequired,
        ErrorKind::Signing | ErrorKind::Downgrade => Reason::SigningRequired,
        // Whoever answers nonsense to the first question is another kind of server.
        ErrorKind::Malformed if error.operation() == Operation::Negotiate => Reason::ProtocolError,
        ErrorKind::Malformed => Reason::MalformedReply,
        ErrorKind::Protocol | ErrorKind::Security => Reason::ProtocolError,
        ErrorKind::Limit => Reason::LimitExceeded,
        ErrorKind::Abandoned | ErrorKind::Internal => Reason::Internal,
        _ => Reason::Other,
    }
}

/// [MS-ERREF] 2.3.1, as a Windows server uses it. The same status means different things in different commands.
fn reason_of_status(operation: Operation, status: NtStatus) -> Reason {
    match status {
        NtStatus::STATUS_LOGON_FAILURE | NtStatus::STATUS_WRONG_PASSWORD | NtStatus::STATUS_NO_SUCH_USER => {
            Reason::WrongCredentials
        }
        NtStatus::STATUS_ACCOUNT_LOCKED_OUT => Reason::AccountLocked,
        NtStatus::STATUS_ACCOUNT_DISABLED | NtStatus::STATUS_ACCOUNT_EXPIRED => Reason::AccountDisabled,
        NtStatus::STATUS_PASSWORD_EXPIRED | NtStatus::STATUS_PASSWORD_MUST_CHANGE => Reason::PasswordExpired,
        NtStatus::STATUS_ACCOUNT_RESTRICTION
        | NtStatus::STATUS_INVALID_LOGON_HOURS
        | NtStatus::STATUS_INVALID_WORKSTATION
        | NtStatus::STATUS_LOGON_TYPE_NOT_GRANTED
        | NtStatus::STATUS_AUTHENTICATION_FIREWALL_FAILED
        | NtStatus::STATUS_NTLM_BLOCKED => Reason::LogonRestricted,
        // What Windows says to NTLM where a policy lets nothing but Kerberos in.
        NtStatus::STATUS_NOT_SUPPORTED if operation == Operation::Authenticate => Reason::LogonRestricted,
        NtStatus::STATUS_ACCESS_DENIED => Reason::AccessDenied,
        NtStatus::STATUS_INSUFFICIENT_RESOURCES
        | NtStatus::STATUS_REQUEST_NOT_ACCEPTED
        | NtStatus::STATUS_PIPE_BUSY => Reason::Busy,
        NtStatus::STATUS_NO_LOGON_SERVERS | NtStatus::STATUS_TRUSTED_RELATIONSHIP_FAILURE => {
            Reason::ServerFault
        }
        status if is_pipe_gone(status) || is_session_gone(status) => Reason::ConnectionReset,
        status if operation == Operation::OpenPipe && is_service_stopped(status) => {
            Reason::RemoteRegistryStopped
        }
        NtStatus::STATUS_BAD_NETWORK_NAME | NtStatus::STATUS_OBJECT_NAME_NOT_FOUND => Reason::NotFound,
        _ => Reason::ServerFault,
    }
}

fn reason_of_win32(status: Win32Error) -> Reason {
    match status {
        Win32Error::ERROR_ACCESS_DENIED => Reason::AccessDenied,
        Win32Error::ERROR_WMI_GUID_NOT_FOUND
        | Win32Error::ERROR_WMI_ITEMID_NOT_FOUND
        | Win32Error::ERROR_WMI_INSTANCE_NOT_FOUND
        | Win32Error::ERROR_NOT_FOUND => Reason::NotFound,
        Win32Error::ERROR_BUSY | Win32Error::ERROR_OUTOFMEMORY | Win32Error::ERROR_NO_SYSTEM_RESOURCES => {
            Reason::Busy
        }
        _ => Reason::ServerFault,
    }
}

fn reason_of_fault(status: FaultStatus) -> Reason {
    match status {
        FaultStatus::NCA_S_FAULT_ACCESS_DENIED => Reason::AccessDenied,
        FaultStatus::NCA_S_SERVER_TOO_BUSY
        | FaultStatus::RPC_S_SERVER_TOO_BUSY
        | FaultStatus::NCA_S_FAULT_REMOTE_NO_MEMORY
        | FaultStatus::ERROR_OUTOFMEMORY => Reason::Busy,
        // It was there at the bind.
        FaultStatus::NCA_S_UNK_IF => Reason::RemoteRegistryStopped,
        _ => Reason::ServerFault,
    }
}

fn recovery_of(error: &rpc_client::Error) -> Recovery {
    match error.kind() {
        // A bind that was answered by a fault leaves no association.
        ErrorKind::Fault(_) if error.operation() != Operation::Call => Recovery::Pipe,
        ErrorKind::Fault(status) if is_handle_gone(status) => Recovery::Handle,
        ErrorKind::Fault(status) if is_service_gone(status) => Recovery::Pipe,
        ErrorKind::Fault(FaultStatus::RPC_S_SEC_PKG_ERROR | FaultStatus::NCA_S_FAULT_ACCESS_DENIED) => {
            Recovery::Connection
        }
        ErrorKind::Fault(status) if reason_of_fault(status) == Reason::Busy => Recovery::Nothing,
        // Nobody says what a server that failed did to its handles, and one that was kept would fail for ever.
        ErrorKind::Fault(_) => Recovery::Handle,
        ErrorKind::Refused(status) if is_session_gone(status) => Recovery::Connection,
        ErrorKind::Refused(_) if error.operation() == Operation::Authenticate => Recovery::Connection,
        ErrorKind::Refused(_) | ErrorKind::InterfaceRefused | ErrorKind::BindRefused => Recovery::Pipe,
        _ => Recovery::Connection,
    }
}

/// A right that is given to the account counts from its next logon on, so that a session which was denied something
/// would be denied it for as long as it is kept.
const fn recovery_of_win32(status: Win32Error) -> Recovery {
    match status {
        Win32Error::ERROR_ACCESS_DENIED => Recovery::Connection,
        Win32Error::ERROR_INVALID_HANDLE => Recovery::Handle,
        _ => Recovery::Nothing,
    }
}

/// The service has ended, and another one in its process keeps the pipe open.
const fn is_service_gone(status: FaultStatus) -> bool {
    matches!(
        status,
        FaultStatus::NCA_S_UNK_IF
            | FaultStatus::NCA_S_INVALID_PRES_CONTEXT_ID
            | FaultStatus::RPC_S_SERVER_UNAVAILABLE
    )
}

/// The service has gone, and its end of the pipe with it.
const fn is_pipe_gone(status: NtStatus) -> bool {
    matches!(
        status,
        NtStatus::STATUS_PIPE_BROKEN
            | NtStatus::STATUS_PIPE_DISCONNECTED
            | NtStatus::STATUS_PIPE_CLOSING
            | NtStatus::STATUS_FILE_CLOSED
            | NtStatus::STATUS_INVALID_HANDLE
    )
}

const fn is_session_gone(status: NtStatus) -> bool {
    matches!(status, NtStatus::STATUS_USER_SESSION_DELETED | NtStatus::STATUS_NETWORK_NAME_DELETED)
}

/// The service does not run, or is being started because we asked.
pub(crate) const fn is_service_stopped(status: NtStatus) -> bool {
    matches!(status, NtStatus::STATUS_PIPE_NOT_AVAILABLE | NtStatus::STATUS_OBJECT_NAME_NOT_FOUND)
}

const fn is_handle_gone(status: FaultStatus) -> bool {
    matches!(
        status,
        FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH
            | FaultStatus::RPC_X_SS_CONTEXT_MISMATCH
            | FaultStatus::RPC_X_SS_IN_NULL_CONTEXT
    )
}
