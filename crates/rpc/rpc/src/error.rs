use wire::EncodeError;

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
