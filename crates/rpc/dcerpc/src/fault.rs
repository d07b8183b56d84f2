use core::fmt;

/// Declares the statuses with their name on the wire's documents and a few words.
macro_rules! fault_statuses {
    ($($constant:ident = $value:literal, $name:literal, $words:literal;)*) => {
        impl FaultStatus {
            $(
                #[doc = concat!("`", $name, "`: ", $words, ".")]
                pub const $constant: Self = Self($value);
            )*

            /// The name in the documents, if there is one.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($name),)*
                    _ => None,
                }
            }

            /// What it means, if that is known.
            #[must_use]
            pub const fn words(self) -> Option<&'static str> {
                match self.0 {
                    $($value => Some($words),)*
                    _ => None,
                }
            }
        }
    };
}

/// C706 appendix E and [MS-RPCE] 2.2.2.9: the status of a fault PDU.
///
/// Neither a Win32 error nor an HRESULT, though Windows puts some Win32 codes here, and servers of DCOM some HRESULTs. Open: a value without a name
/// prints as its number.
#[doc(alias = "nca_s_fault")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FaultStatus(pub u32);

fault_statuses! {
    NCA_S_FAULT_ACCESS_DENIED = 5, "nca_s_fault_access_denied", "access denied";
    ERROR_OUTOFMEMORY = 14, "error_outofmemory", "the server has no memory";
    RPC_S_SERVER_UNAVAILABLE = 1722, "rpc_s_server_unavailable", "the server is unavailable";
    RPC_S_SERVER_TOO_BUSY = 1723, "rpc_s_server_too_busy", "the server is too busy";
    RPC_S_CALL_FAILED = 1726, "rpc_s_call_failed", "the call failed";
    RPC_S_CALL_FAILED_DNE = 1727, "rpc_s_call_failed_dne", "the call failed and was not executed";
    RPC_S_PROTOCOL_ERROR = 1728, "rpc_s_protocol_error", "the server saw a violation of the protocol";
    RPC_S_UNSUPPORTED_TRANS_SYN = 1730, "rpc_s_unsupported_trans_syn", "the server does not speak the transfer syntax";
    RPC_S_INVALID_BOUND = 1734, "rpc_s_invalid_bound", "an argument is outside its range";
    RPC_S_PROCNUM_OUT_OF_RANGE = 1745, "rpc_s_procnum_out_of_range", "the interface has no such operation";
    RPC_S_UNKNOWN_AUTHN_LEVEL = 1748, "rpc_s_unknown_authn_level", "the server does not know the authentication level";
    RPC_S_CANNOT_SUPPORT = 1764, "rpc_s_cannot_support", "the server does not support the operation";
    RPC_X_SS_IN_NULL_CONTEXT = 1775, "rpc_x_ss_in_null_context", "a context handle is null";
    RPC_X_SS_CONTEXT_DAMAGED = 1777, "rpc_x_ss_context_damaged", "a context handle changed during the call";
    RPC_X_NULL_REF_POINTER = 1780, "rpc_x_null_ref_pointer", "a pointer is null that must not be";
    RPC_X_ENUM_VALUE_OUT_OF_RANGE = 1781, "rpc_x_enum_value_out_of_range", "an enumeration has a value outside its range";
    RPC_X_BYTE_COUNT_TOO_SMALL = 1782, "rpc_x_byte_count_too_small", "a byte count is too small";
    RPC_X_BAD_STUB_DATA = 1783, "rpc_x_bad_stub_data", "the server could not read the stub data";
    RPC_S_SEC_PKG_ERROR = 1825, "rpc_s_sec_pkg_error", "the security package failed: the signature does not match, or the keys differ";
    RPC_X_SS_CONTEXT_MISMATCH = 6913, "rpc_x_ss_context_mismatch", "the context handle is not one of this association group";
    NCA_S_FAULT_INT_DIV_BY_ZERO = 0x1c00_0001, "nca_s_fault_int_div_by_zero", "the server divided by zero";
    NCA_S_FAULT_ADDR_ERROR = 0x1c00_0002, "nca_s_fault_addr_error", "the server used a bad address";
    NCA_S_FAULT_FP_DIV_ZERO = 0x1c00_0003, "nca_s_fault_fp_div_zero", "the server divided by zero in floating point";
    NCA_S_FAULT_FP_UNDERFLOW = 0x1c00_0004, "nca_s_fault_fp_underflow", "floating-point underflow in the server";
    NCA_S_FAULT_FP_OVERFLOW = 0x1c00_0005, "nca_s_fault_fp_overflow", "floating-point overflow in the server";
    NCA_S_FAULT_INVALID_TAG = 0x1c00_0006, "nca_s_fault_invalid_tag", "a union has an unknown discriminant";
    NCA_S_FAULT_INVALID_BOUND = 0x1c00_0007, "nca_s_fault_invalid_bound", "an array has invalid bounds";
    NCA_S_RPC_VERSION_MISMATCH = 0x1c00_0008, "nca_s_rpc_version_mismatch", "the server speaks another version of RPC";
    NCA_S_UNSPEC_REJECT = 0x1c00_0009, "nca_s_unspec_reject", "the call was rejected without a reason";
    NCA_S_BAD_ACTID = 0x1c00_000a, "nca_s_bad_actid", "the server does not know the activity";
    NCA_S_WHO_ARE_YOU_FAILED = 0x1c00_000b, "nca_s_who_are_you_failed", "the server could not ask the client back";
    NCA_S_MANAGER_NOT_ENTERED = 0x1c00_000c, "nca_s_manager_not_entered", "the call was not executed";
    NCA_S_FAULT_CANCEL = 0x1c00_000d, "nca_s_fault_cancel", "the call was cancelled";
    NCA_S_FAULT_ILL_INST = 0x1c00_000e, "nca_s_fault_ill_inst", "illegal instruction in the server";
    NCA_S_FAULT_FP_ERROR = 0x1c00_000f, "nca_s_fault_fp_error", "floating-point error in the server";
    NCA_S_FAULT_INT_OVERFLOW = 0x1c00_0010, "nca_s_fault_int_overflow", "integer overflow in the server";
    NCA_S_FAULT_UNSPEC = 0x1c00_0012, "nca_s_fault_unspec", "the server failed without a reason";
    NCA_S_FAULT_REMOTE_COMM_FAILURE = 0x1c00_0013, "nca_s_fault_remote_comm_failure", "the server could not reach another";
    NCA_S_FAULT_PIPE_EMPTY = 0x1c00_0014, "nca_s_fault_pipe_empty", "an RPC pipe is empty";
    NCA_S_FAULT_PIPE_CLOSED = 0x1c00_0015, "nca_s_fault_pipe_closed", "an RPC pipe is closed";
    NCA_S_FAULT_PIPE_ORDER = 0x1c00_0016, "nca_s_fault_pipe_order", "RPC pipes were used in the wrong order";
    NCA_S_FAULT_PIPE_DISCIPLINE = 0x1c00_0017, "nca_s_fault_pipe_discipline", "an RPC pipe was used in the wrong direction";
    NCA_S_FAULT_PIPE_COMM_ERROR = 0x1c00_0018, "nca_s_fault_pipe_comm_error", "communication failed within an RPC pipe";
    NCA_S_FAULT_PIPE_MEMORY = 0x1c00_0019, "nca_s_fault_pipe_memory", "no memory for an RPC pipe";
    NCA_S_FAULT_CONTEXT_MISMATCH = 0x1c00_001a, "nca_s_fault_context_mismatch", "the server does not know the context handle (any more)";
    NCA_S_FAULT_REMOTE_NO_MEMORY = 0x1c00_001b, "nca_s_fault_remote_no_memory", "the server has no memory for the call";
    NCA_S_INVALID_PRES_CONTEXT_ID = 0x1c00_001c, "nca_s_invalid_pres_context_id", "the server does not know the presentation context";
    NCA_S_UNSUPPORTED_AUTHN_LEVEL = 0x1c00_001d, "nca_s_unsupported_authn_level", "the server does not support the authentication level";
    NCA_S_INVALID_CHECKSUM = 0x1c00_001f, "nca_s_invalid_checksum", "the server saw a bad checksum";
    NCA_S_INVALID_CRC = 0x1c00_0020, "nca_s_invalid_crc", "the server saw a bad CRC";
    NCA_S_FAULT_USER_DEFINED = 0x1c00_0021, "nca_s_fault_user_defined", "the server raised an error of its own";
    NCA_S_FAULT_TX_OPEN_FAILED = 0x1c00_0022, "nca_s_fault_tx_open_failed", "the server could not open a transaction";
    NCA_S_FAULT_CODESET_CONV_ERROR = 0x1c00_0023, "nca_s_fault_codeset_conv_error", "the server could not convert a character set";
    NCA_S_FAULT_OBJECT_NOT_FOUND = 0x1c00_0024, "nca_s_fault_object_not_found", "the server does not have the object";
    NCA_S_FAULT_NO_CLIENT_STUB = 0x1c00_0025, "nca_s_fault_no_client_stub", "the server lacks a client stub";
    NCA_S_OP_RNG_ERROR = 0x1c01_0002, "nca_s_op_rng_error", "the interface has no such operation";
    NCA_S_UNK_IF = 0x1c01_0003, "nca_s_unk_if", "the server does not have the interface";
    NCA_S_WRONG_BOOT_TIME = 0x1c01_0006, "nca_s_wrong_boot_time", "the server was started again";
    NCA_S_YOU_CRASHED = 0x1c01_0009, "nca_s_you_crashed", "the server believes that the client was started again";
    NCA_S_PROTO_ERROR = 0x1c01_000b, "nca_s_proto_error", "the server saw a violation of the protocol";
    NCA_S_OUT_ARGS_TOO_BIG = 0x1c01_0013, "nca_s_out_args_too_big", "the answer is too large";
    NCA_S_SERVER_TOO_BUSY = 0x1c01_0014, "nca_s_server_too_busy", "the server is too busy";
    NCA_S_FAULT_STRING_TOO_LONG = 0x1c01_0015, "nca_s_fault_string_too_long", "a string is too long";
    NCA_S_UNSUPPORTED_TYPE = 0x1c01_0017, "nca_s_unsupported_type", "the server does not support the type of the object";
    E_ACCESSDENIED = 0x8007_0005, "e_accessdenied", "access denied (COM)";
    RPC_E_DISCONNECTED = 0x8001_0108, "rpc_e_disconnected", "the server does not have the object (any more)";
    RPC_E_VERSION_MISMATCH = 0x8001_0110, "rpc_e_version_mismatch", "the server does not speak this version of DCOM";
    RPC_E_INVALID_HEADER = 0x8001_0111, "rpc_e_invalid_header", "the server saw a wrong DCOM header";
    RPC_E_INVALID_OBJECT = 0x8001_0114, "rpc_e_invalid_object", "the object does not exist";
    RPC_E_UNEXPECTED = 0x8001_ffff, "rpc_e_unexpected", "the server of the object failed without a reason";
}

impl fmt::Display for FaultStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fault {:#010x}", self.0)?;
        match self.words() {
            Some(words) => write!(f, ": {words}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for FaultStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "FaultStatus({name})"),
            None => write!(f, "FaultStatus({:#010x})", self.0),
        }
    }
}

impl core::error::Error for FaultStatus {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_says_what_happened() {
        assert_eq!(FaultStatus::NCA_S_FAULT_ACCESS_DENIED.to_string(), "fault 0x00000005: access denied");
        assert_eq!(
            FaultStatus(0x1c01_0003).to_string(),
            "fault 0x1c010003: the server does not have the interface"
        );
        assert_eq!(format!("{:?}", FaultStatus(0x6f7)), "FaultStatus(rpc_x_bad_stub_data)");
        assert_eq!(FaultStatus(0xdead_beef).to_string(), "fault 0xdeadbeef");
    }
}
