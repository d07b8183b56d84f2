use rpc::Method;
use wire::Win32Error;

/// Why a method of [`crate::rrp::winreg::RegistryClient`] failed; `E` is the channel's error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E: core::error::Error + 'static> {
    #[error(transparent)]
    Rpc(#[from] rpc::Error<E, Win32Error>),
    /// The server has more than this side accepts.
    #[error("{method}: the server has more {unit} than the limit of {limit}")]
    LimitExceeded {
        method: &'static Method,
        /// What of: subkeys, countersets or bytes of a value.
        unit: &'static str,
        limit: u32,
    },
}

impl<E: core::error::Error + 'static> Error<E> {
    /// What the server's method returned, where that is what failed.
    #[must_use]
    pub const fn status(&self) -> Option<Win32Error> {
        match self {
            Self::Rpc(error) => error.status(),
            Self::LimitExceeded { .. } => None,
        }
    }

    #[must_use]
    pub const fn method(&self) -> &'static Method {
        match self {
            Self::Rpc(error) => error.method(),
            Self::LimitExceeded { method, .. } => method,
        }
    }
}
