//! Errors of calls: which are about one call, after which the association goes on, and what they are to users of a session.

use dcerpc::FaultStatus;
use rpc::Error;
use wire::Win32Error;

use super::{Endpoint, Reason, SessionError, Stage, Target};
use crate::rpc_client::{ErrorKind, Operation};

/// Whether an error concerns only the data of one call, so that other calls may succeed over the same association.
///
/// A fault PDU ends its call and nothing else (C706 12.6.4.7). But some faults concern more than the call: the
/// caller's rights, the interface, the service after it, or a server that is too busy to execute anything.
#[must_use]
pub fn concerns_one_call(error: &crate::rpc_client::Error) -> bool {
    match error.kind() {
        ErrorKind::Fault(status) => error.operation() == Operation::Call && !is_for_all_calls(status),
        _ => false,
    }
}

const fn is_for_all_calls(status: FaultStatus) -> bool {
    matches!(
        status,
        FaultStatus::NCA_S_FAULT_ACCESS_DENIED
            | FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH
            | FaultStatus::NCA_S_INVALID_CHECKSUM
            | FaultStatus::NCA_S_INVALID_PRES_CONTEXT_ID
            | FaultStatus::NCA_S_OP_RNG_ERROR
            | FaultStatus::NCA_S_PROTO_ERROR
            | FaultStatus::NCA_S_SERVER_TOO_BUSY
            | FaultStatus::NCA_S_UNK_IF
            | FaultStatus::NCA_S_UNSUPPORTED_AUTHN_LEVEL
            | FaultStatus::RPC_S_SEC_PKG_ERROR
            | FaultStatus::RPC_S_SERVER_TOO_BUSY
            | FaultStatus::RPC_S_SERVER_UNAVAILABLE
            | FaultStatus::RPC_X_SS_CONTEXT_MISMATCH
            | FaultStatus::RPC_X_SS_IN_NULL_CONTEXT
    )
}

/// What went wrong in a method of an interface that answers with Win32 errors, called over `endpoint` of `target`.
#[must_use]
pub fn call_error(
    target: &Target,
    endpoint: Endpoint,
    error: &Error<crate::rpc_client::Error, Win32Error>,
) -> SessionError {
    let (stage, reason) = match error {
        Error::Call { source, method } => return SessionError::of_call(target, endpoint, method, source),
        Error::Status { status, .. } => return SessionError::of_status(target, *status, error),
        Error::Stub { .. } => (Stage::Decode, Reason::MalformedReply),
        Error::Request { .. } => (Stage::Query, Reason::Internal),
    };
    SessionError::of_answer(target, stage, reason, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(status: FaultStatus) -> crate::rpc_client::Error {
        crate::rpc_client::Error::Fault { opnum: 1, status }
    }

    #[test]
    fn a_fault_is_the_calls_own_unless_it_is_about_rights_service_or_load() {
        for own in [FaultStatus::RPC_X_BAD_STUB_DATA, FaultStatus::NCA_S_FAULT_UNSPEC, FaultStatus(0xdead)] {
            assert!(concerns_one_call(&fault(own)), "{own}");
        }
        for all in [
            FaultStatus::NCA_S_FAULT_ACCESS_DENIED,
            FaultStatus::NCA_S_UNK_IF,
            FaultStatus::RPC_S_SERVER_TOO_BUSY,
        ] {
            assert!(!concerns_one_call(&fault(all)), "{all}");
        }
    }

    #[test]
    fn a_lost_connection_concerns_all_calls() {
        assert!(!concerns_one_call(&crate::rpc_client::Error::Timeout { operation: Operation::Call }));
    }
}
