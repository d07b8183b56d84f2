use codec::{DecodeError, EncodeError};
use ms_dtyp::Win32Error;

use crate::Method;

/// Why a method of [`crate::perflibv2::PerflibV2Client`] failed; `E` is the channel's error.
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
    /// The response is no NDR of this method, or returns more than was asked for.
    #[error("{method}: {source}")]
    Stub {
        /// The method.
        method: Method,
        /// Where and why.
        source: ndr::Error,
    },
    /// The buffer that the method returned contradicts itself, or holds more than this side accepts.
    #[error("{method}: {source}")]
    Buffer {
        /// The method.
        method: Method,
        /// Where and why.
        source: DecodeError,
    },
    /// The request cannot be written.
    #[error("{method}: {source}")]
    Request {
        /// The method.
        method: Method,
        /// Where and why.
        source: EncodeError,
    },
    /// The server has more than this side accepts, or than the method can return.
    #[error("{method}: the server has {needed} {unit}, the limit is {limit}")]
    LimitExceeded {
        /// The method.
        method: Method,
        /// What the server wants to return.
        needed: u32,
        /// What of: countersets or bytes.
        unit: &'static str,
        /// What is accepted.
        limit: u32,
    },
    /// The server's data outgrew the buffer each time.
    #[error("{method}: the buffer was too small in each of {calls} calls")]
    Unsettled {
        /// The method.
        method: Method,
        /// How often it was called.
        calls: u32,
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
            | Self::Buffer { method, .. }
            | Self::Request { method, .. }
            | Self::LimitExceeded { method, .. }
            | Self::Unsettled { method, .. } => *method,
        }
    }
}
