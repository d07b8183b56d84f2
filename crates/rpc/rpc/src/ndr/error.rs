use wire::DecodeError;

/// What reading a stub answers.
pub type Result<T> = core::result::Result<T, Error>;

/// Why a stub was refused. A server answers each kind with a fault of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The stub is no NDR of the type expected (`RPC_X_BAD_STUB_DATA`, 1783).
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The stub is well formed and a `[range]` is violated (`RPC_X_INVALID_BOUND`, 1734).
    #[error(transparent)]
    Range(#[from] RangeError),
}

/// A parameter outside its IDL `[range]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{context}: `{field}`: {value} is outside of the range {min} to {max} (offset {offset})")]
pub struct RangeError {
    /// The method or structure.
    pub context: &'static str,
    /// The parameter.
    pub field: &'static str,
    /// Bytes from the beginning of the stub.
    pub offset: usize,
    /// What the peer says.
    pub value: u32,
    /// The smallest value allowed.
    pub min: u32,
    /// The largest value allowed.
    pub max: u32,
}
