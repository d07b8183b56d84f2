use crate::{ErrorStatus, Method};
use wire::EncodeError;

/// Why a method of [`crate::endpoints::epm::ept::EndpointMapper`] failed; `E` is the channel's error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error<E: core::error::Error + 'static> {
    #[error(transparent)]
    Rpc(#[from] crate::Error<E, ErrorStatus>),
    /// The tower that is to be mapped cannot be written.
    #[error("{method}: {source}")]
    Tower { method: &'static Method, source: EncodeError },
}
