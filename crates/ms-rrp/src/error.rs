use codec::EncodeError;
use ms_dtyp::Win32Error;

use crate::Method;

/// Why a method of [`crate::winreg::RegistryClient`] failed; `E` is the channel's error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E: core::error::Error + 'static> {
    /// The call had no response: a fault, or a connection that failed.
    #[error("{method}: {source}")]
    Call {
        /// The method.
        method: Method,
        /// What the channel says.
        source: E,
    },
    /// The server executed the method and it failed.
    #[error("{method}: {status}")]
    Status {
        /// The method.
        method: Method,
        /// What the server says.
        status: Win32Error,
    },
    /// The response is no NDR of this method.
    #[error("{method}: {source}")]
    Stub {
        /// The method.
        method: Method,
        /// Where and why.
        source: ndr::Error,
    },
    /// The request cannot be written.
    #[error("{method}: {source}")]
    Request {
        /// The method.
        method: Method,
        /// Where and why.
        source: EncodeError,
    },
    /// The server has more than this side accepts.
    #[error("{method}: the server has more {unit} than the limit of {limit}")]
    LimitExceeded {
        /// The method.
        method: Method,
        /// What of: subkeys or countersets.
        unit: &'static str,
        /// What is accepted.
        limit: u32,
    },
}

impl<E: core::error::Error + 'static> Error<E> {
    /// What the server's method returned, where that is what failed.
    #[must_use]
    pub const fn status(&self) -> Option<Win32Error> {
        match self {
            Self::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Which method failed.
    #[must_use]
    pub const fn method(&self) -> Method {
        match self {
            Self::Call { method, .. }
            | Self::Status { method, .. }
            | Self::Stub { method, .. }
            | Self::Request { method, .. }
            | Self::LimitExceeded { method, .. } => *method,
        }
    }
}
