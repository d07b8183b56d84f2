//! Maps statuses and errors to reasons and recoveries.

use crate::rpc_client::{ErrorKind, Operation};
use dcerpc::FaultStatus;
use ssp::kerberos;
use wire::{HResult, NtStatus, Win32Error};

use crate::{Reason, Recovery};

/// The reason of an error; `stopped` is the reason if the service behind the endpoint does not run.
pub(crate) fn reason_of(error: &crate::rpc_client::Error, stopped: Reason) -> Reason {
    match error.kind() {
        // What was dropped was given up for its time.
        ErrorKind::Timeout | ErrorKind::Abandoned => Reason::Timeout,
        ErrorKind::ConnectionLost => Reason::ConnectionReset,
        ErrorKind::Refused(status) => reason_of_status(error.operation(), status, stopped),
        ErrorKind::Fault(status) => reason_of_fault(status, stopped),
        ErrorKind::BindRefused => Reason::ServerFault,
        ErrorKind::InterfaceRefused => Reason::NotFound,
        ErrorKind::Smb1Only => Reason::Smb1Only,
        ErrorKind::Encryption => Reason::EncryptionRequired,
        ErrorKind::Signing | ErrorKind::Downgrade => Reason::SigningRequired,
        // A server whose first answer is not SMB is another kind of server.
        ErrorKind::Malformed if error.operation() == Operation::Negotiate => Reason::ProtocolError,
        ErrorKind::Malformed => Reason::MalformedReply,
        ErrorKind::Security => of_tickets(error).unwrap_or(Reason::ProtocolError),
        ErrorKind::Protocol => Reason::ProtocolError,
        ErrorKind::Limit => Reason::LimitExceeded,
        ErrorKind::Internal => Reason::Internal,
    }
}

/// What tickets have to do with it.
fn of_tickets(error: &crate::rpc_client::Error) -> Option<Reason> {
    match of_security(error)? {
        ssp::Error::Kerberos(error) => Some(reason_of_kerberos(error.reason)),
        ssp::Error::Kdc(error) if error.reason == kerberos::Reason::WrongPassword => {
            Some(Reason::WrongCredentials)
        }
        ssp::Error::Kdc(error) => Some(reason_of_kerberos(error.reason)),
        ssp::Error::NoKerberos(_) => Some(Reason::NoKerberos),
        ssp::Error::EncryptionType { .. } => Some(Reason::EncryptionType),
        _ => None,
    }
}

fn of_security(error: &crate::rpc_client::Error) -> Option<&ssp::Error> {
    use crate::rpc_client::Error;
    match error {
        Error::Security { source, .. }
        | Error::Rpc { source: dcerpc::Error::Security { source, .. }, .. } => Some(source),
        _ => None,
    }
}

/// Whether it is the answer, or the silence, of a KDC that was asked with the account's own key.
pub(crate) fn is_of_kdc(error: &crate::rpc_client::Error) -> bool {
    matches!(of_security(error), Some(ssp::Error::Kdc(_)))
}

/// Why there is no session by Kerberos. With tickets, only what a KDC says of a service, and what the host says, comes here:
/// those of the identity itself are the exporter's business.
const fn reason_of_kerberos(reason: kerberos::Reason) -> Reason {
    use kerberos::Reason as Kerberos;
    match reason {
        Kerberos::ClockSkew => Reason::ClockSkew,
        Kerberos::UnknownPrincipal => Reason::UnknownPrincipal,
        Kerberos::UnknownService => Reason::UnknownService,
        Kerberos::EncryptionType => Reason::EncryptionType,
        // A cache that is gone was replaced.
        Kerberos::TicketExpired | Kerberos::File => Reason::TicketExpired,
        Kerberos::KdcUnreachable => Reason::KdcUnreachable,
        // A host that cannot decrypt a ticket has another key than the one that it was made with.
        Kerberos::KeyVersion | Kerberos::WrongPassword => Reason::KeyVersion,
        Kerberos::AccountRevoked => Reason::AccountDisabled,
        Kerberos::PasswordExpired => Reason::PasswordExpired,
        Kerberos::NoKeytabEntry | Kerberos::Configuration | Kerberos::Name | Kerberos::Other => {
            Reason::ProtocolError
        }
    }
}

/// [MS-ERREF] 2.3.1, as a Windows server uses it. The same status means different things in different commands.
fn reason_of_status(operation: Operation, status: NtStatus, stopped: Reason) -> Reason {
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
        // Windows refuses NTLM with it where a policy allows Kerberos only.
        NtStatus::STATUS_NOT_SUPPORTED if operation == Operation::Authenticate => Reason::LogonRestricted,
        NtStatus::STATUS_TIME_DIFFERENCE_AT_DC => Reason::ClockSkew,
        NtStatus::STATUS_ACCESS_DENIED => Reason::AccessDenied,
        NtStatus::STATUS_INSUFFICIENT_RESOURCES
        | NtStatus::STATUS_REQUEST_NOT_ACCEPTED
        | NtStatus::STATUS_PIPE_BUSY => Reason::Busy,
        NtStatus::STATUS_NO_LOGON_SERVERS | NtStatus::STATUS_TRUSTED_RELATIONSHIP_FAILURE => {
            Reason::ServerFault
        }
        status if is_pipe_gone(status) => Reason::ConnectionReset,
        status if operation == Operation::OpenPipe && is_service_stopped(status) => stopped,
        NtStatus::STATUS_BAD_NETWORK_NAME | NtStatus::STATUS_OBJECT_NAME_NOT_FOUND => Reason::NotFound,
        _ => Reason::ServerFault,
    }
}

/// Why a method returned `status`.
pub(crate) fn reason_of_win32(status: Win32Error) -> Reason {
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

/// Why a method of an object, or an activation, returned `status`.
pub(crate) fn reason_of_hresult(status: HResult) -> Reason {
    match status {
        HResult::REGDB_E_CLASSNOTREG | HResult::E_NOINTERFACE => Reason::NotFound,
        status => status.to_win32().map_or(Reason::ServerFault, reason_of_win32),
    }
}

/// An object that is gone needs another activation.
pub(crate) fn recovery_of_hresult(status: HResult) -> Recovery {
    match status {
        HResult::RPC_E_DISCONNECTED | HResult::RPC_E_INVALID_OBJECT => Recovery::Handle,
        status => status.to_win32().map_or(Recovery::Nothing, recovery_of_win32),
    }
}

fn reason_of_fault(status: FaultStatus, stopped: Reason) -> Reason {
    match status {
        FaultStatus::NCA_S_FAULT_ACCESS_DENIED => Reason::AccessDenied,
        status if is_busy(status) => Reason::Busy,
        // The interface existed at the bind.
        FaultStatus::NCA_S_UNK_IF => stopped,
        _ => Reason::ServerFault,
    }
}

/// What has to be opened again after an error.
pub(crate) fn recovery_of(error: &crate::rpc_client::Error) -> Recovery {
    if matches!(error, crate::rpc_client::Error::Ended { .. }) {
        return Recovery::Connection;
    }
    match error.kind() {
        // After a fault in reply to a bind there is no association.
        ErrorKind::Fault(_) if error.operation() != Operation::Call => Recovery::Pipe,
        ErrorKind::Fault(status) if is_handle_gone(status) => Recovery::Handle,
        ErrorKind::Fault(status) if is_service_gone(status) => Recovery::Pipe,
        ErrorKind::Fault(FaultStatus::RPC_S_SEC_PKG_ERROR | FaultStatus::NCA_S_FAULT_ACCESS_DENIED) => {
            Recovery::Connection
        }
        ErrorKind::Fault(status) if is_busy(status) => Recovery::Nothing,
        // It is unknown whether handles survive a failure of the server. A kept one might fail forever.
        ErrorKind::Fault(_) => Recovery::Handle,
        ErrorKind::Refused(_) if error.operation() == Operation::Authenticate => Recovery::Connection,
        ErrorKind::Refused(_) | ErrorKind::InterfaceRefused | ErrorKind::BindRefused => Recovery::Pipe,
        _ => Recovery::Connection,
    }
}

/// New rights of an account take effect at its next logon, so a kept session would be denied forever.
pub(crate) const fn recovery_of_win32(status: Win32Error) -> Recovery {
    match status {
        Win32Error::ERROR_ACCESS_DENIED => Recovery::Connection,
        Win32Error::ERROR_INVALID_HANDLE => Recovery::Handle,
        _ => Recovery::Nothing,
    }
}

const fn is_busy(status: FaultStatus) -> bool {
    matches!(
        status,
        FaultStatus::NCA_S_SERVER_TOO_BUSY
            | FaultStatus::RPC_S_SERVER_TOO_BUSY
            | FaultStatus::NCA_S_FAULT_REMOTE_NO_MEMORY
            | FaultStatus::ERROR_OUTOFMEMORY
    )
}

/// The service has stopped, and another service in its process keeps the pipe open.
const fn is_service_gone(status: FaultStatus) -> bool {
    matches!(
        status,
        FaultStatus::NCA_S_UNK_IF
            | FaultStatus::NCA_S_INVALID_PRES_CONTEXT_ID
            | FaultStatus::RPC_S_SERVER_UNAVAILABLE
    )
}

/// The service has stopped and closed its end of the pipe.
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

/// The service does not run, or our request is starting it.
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
