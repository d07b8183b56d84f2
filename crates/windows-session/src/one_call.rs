use dcerpc::FaultStatus;
use rpc_client::{ErrorKind, Operation};

/// Whether an error is about what one call asked for alone, so that calls for other things may succeed over the same
/// association: a status, an answer that cannot be believed or is too large, or a fault.
///
/// A fault PDU ends its call and nothing else (C706 12.6.4.7). Some faults are about more than the call all the same:
/// the caller's rights, the interface, the service behind it, or a server that is too busy to execute anything.
#[must_use]
pub fn concerns_one_call(error: &ms_pcq::Error<rpc_client::Error>) -> bool {
    match error {
        ms_pcq::Error::Call { source, .. } => match source.kind() {
            ErrorKind::Fault(status) => source.operation() == Operation::Call && !is_for_all_calls(status),
            _ => false,
        },
        ms_pcq::Error::Status { .. }
        | ms_pcq::Error::Stub { .. }
        | ms_pcq::Error::Buffer { .. }
        | ms_pcq::Error::LimitExceeded { .. }
        | ms_pcq::Error::Unsettled { .. } => true,
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

#[cfg(test)]
mod tests {
    use ms_dtyp::Win32Error;
    use ms_pcq::Method;

    use super::*;

    fn fault(status: FaultStatus) -> ms_pcq::Error<rpc_client::Error> {
        let method = Method::QueryCounterSetRegistrationInfo;
        let source = rpc_client::Error::Fault { opnum: method.opnum(), status };
        ms_pcq::Error::Call { method, source }
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
    fn a_status_is_the_calls_own_and_a_lost_connection_is_not() {
        let method = Method::EnumerateCounterSet;
        let status = ms_pcq::Error::Status { method, status: Win32Error::ERROR_NOT_FOUND };
        assert!(concerns_one_call(&status));
        let source = rpc_client::Error::Timeout { operation: Operation::Call };
        assert!(!concerns_one_call(&ms_pcq::Error::Call { method, source }));
    }
}
