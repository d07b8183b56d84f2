use wire::{EncodeError, open_enum};

use super::Status;
use super::ndr::{NdrDecode, NdrEncode};
use crate::Method;

/// Why a call failed; `E` is the channel's error, `S` what the interface's methods return.
#[derive(Debug, thiserror::Error)]
pub enum Error<E: core::error::Error + 'static, S: core::fmt::Display + core::fmt::Debug> {
    /// The call had no response: a fault, or a connection that failed.
    #[error("{method}: {source}")]
    Call {
        method: &'static Method,
        /// What the channel says.
        source: E,
    },
    /// The server executed the method and it failed.
    #[error("{method}: {status}")]
    Status {
        method: &'static Method,
        /// What the server says.
        status: S,
    },
    /// The response is no NDR of this method, or not one to this request.
    #[error("{method}: {source}")]
    Stub { method: &'static Method, source: crate::ndr::Error },
    /// The request cannot be written.
    #[error("{method}: {source}")]
    Request { method: &'static Method, source: EncodeError },
}

impl<E: core::error::Error + 'static, S: core::fmt::Display + core::fmt::Debug + Copy> Error<E, S> {
    /// What the server's method returned, where that is what failed.
    #[must_use]
    pub const fn status(&self) -> Option<S> {
        match self {
            Self::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    #[must_use]
    pub const fn method(&self) -> &'static Method {
        match self {
            Self::Call { method, .. }
            | Self::Status { method, .. }
            | Self::Stub { method, .. }
            | Self::Request { method, .. } => method,
        }
    }
}

open_enum! {
    /// C706 appendix N `error_status_t`: what methods of the run time's own interfaces say in their last `[out]` parameter.
    #[doc(alias = "error_status_t")]
    #[derive(NdrDecode, NdrEncode)]
    pub struct ErrorStatus(u32) {
        RPC_S_OK = 0,
        /// The caller may not do this. Not of C706; Windows and Samba say it with the number of Win32.
        ACCESS_DENIED = 5,
        /// The caller's buffer is too small. Not of C706, as above.
        INSUFFICIENT_BUFFER = 122,
        /// The server does not authenticate by that service. Not of C706, as above.
        RPC_S_UNKNOWN_AUTHN_SERVICE = 1747,
        /// The endpoint mapper cannot do this.
        EPT_S_CANT_PERFORM_OP = 0x16c9_a0cd,
        /// The endpoint mapper has no memory.
        EPT_S_NO_MEMORY = 0x16c9_a0ce,
        /// An entry of an endpoint map, such as a tower, is wrong.
        EPT_S_INVALID_ENTRY = 0x16c9_a0d3,
        /// The endpoint mapper does not know the context handle of the lookup.
        EPT_S_INVALID_CONTEXT = 0x16c9_a0d5,
        /// The endpoint map has no such entry, or no more of them.
        EPT_S_NOT_REGISTERED = 0x16c9_a0d6,
        /// The endpoint mapper does not run.
        EPT_S_SERVER_UNAVAILABLE = 0x16c9_a0d7,
    }
}

impl Status for ErrorStatus {
    fn is_success(self) -> bool {
        self == Self::RPC_S_OK
    }
}
