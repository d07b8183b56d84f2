use rpc::Method;
use wire::{DecodeError, Win32Error};

/// Why a method of [`crate::pcq::perflibv2::PerflibV2Client`] failed; `E` is the channel's error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E: core::error::Error + 'static> {
    #[error(transparent)]
    Rpc(#[from] rpc::Error<E, Win32Error>),
    /// The buffer that the method returned contradicts itself, or holds more than this side accepts.
    #[error("{method}: {source}")]
    Buffer { method: &'static Method, source: DecodeError },
    /// The server has more than this side accepts, or than the method can return.
    #[error("{method}: the server has {needed} {unit}, the limit is {limit}")]
    LimitExceeded {
        method: &'static Method,
        /// What the server wants to return.
        needed: u32,
        /// What of: countersets or bytes.
        unit: &'static str,
        limit: u32,
    },
    /// The server's data outgrew the buffer each time.
    #[error("{method}: the buffer was too small in each of {calls} calls")]
    Unsettled {
        method: &'static Method,
        /// How often it was called.
        calls: u32,
    },
}

impl<E: core::error::Error + 'static> Error<E> {
    /// What the server's method returned, where that is what failed.
    #[must_use]
    pub const fn status(&self) -> Option<Win32Error> {
        match self {
            Self::Rpc(error) => error.status(),
            _ => None,
        }
    }

    #[must_use]
    pub const fn method(&self) -> &'static Method {
        match self {
            Self::Rpc(error) => error.method(),
            Self::Buffer { method, .. }
            | Self::LimitExceeded { method, .. }
            | Self::Unsettled { method, .. } => method,
        }
    }
}
