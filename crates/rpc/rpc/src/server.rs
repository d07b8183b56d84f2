use crate::ndr::ContextHandle;
use dcerpc::{AuthLevel, FaultStatus};
use wire::{Guid, HResult, Win32Error};

use crate::{ErrorStatus, FromStub, Message, Request, StatusOf};

/// What the server's side of a call knows about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallInfo {
    /// How the call is protected.
    pub auth_level: AuthLevel,
    /// The object that the call is for.
    pub object: Option<Guid>,
}

/// A call without protection.
impl Default for CallInfo {
    fn default() -> Self {
        Self { auth_level: AuthLevel::NONE, object: None }
    }
}

/// Why a server's method did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure<S> {
    /// The method returns this status alone.
    Status(S),
    /// The call is answered with a fault.
    Fault(FaultStatus),
}

/// What a server's method answers. A reply may have a status that is no success, and data with it.
pub type ServerResult<T, S> = Result<T, Failure<S>>;

impl From<Win32Error> for Failure<Win32Error> {
    fn from(status: Win32Error) -> Self {
        Self::Status(status)
    }
}

impl From<HResult> for Failure<HResult> {
    fn from(status: HResult) -> Self {
        Self::Status(status)
    }
}

impl From<ErrorStatus> for Failure<ErrorStatus> {
    fn from(status: ErrorStatus) -> Self {
        Self::Status(status)
    }
}

impl<S> From<FaultStatus> for Failure<S> {
    fn from(fault: FaultStatus) -> Self {
        Self::Fault(fault)
    }
}

/// Reads a request, executes it, writes its reply.
///
/// # Errors
/// The fault to answer.
pub fn answer<'stub, R: Request + FromStub<'stub>, M: Message>(
    stub: &'stub [u8],
    execute: impl FnOnce(&R) -> ServerResult<M, StatusOf<R>>,
) -> Result<Vec<u8>, FaultStatus> {
    let request = R::from_stub(stub).map_err(|error| refuse(&error))?;
    let stub = match execute(&request) {
        Ok(reply) => reply.to_stub(),
        Err(Failure::Status(status)) => request.refused(status).to_stub(),
        Err(Failure::Fault(fault)) => return Err(fault),
    };
    stub.map_err(|_error| FaultStatus::NCA_S_FAULT_UNSPEC)
}

/// The fault that answers a stub which cannot be read.
pub(crate) const fn refuse(error: &crate::ndr::Error) -> FaultStatus {
    match error {
        crate::ndr::Error::Range(_) => FaultStatus::RPC_S_INVALID_BOUND,
        crate::ndr::Error::Decode(_) => FaultStatus::RPC_X_BAD_STUB_DATA,
    }
}

/// Refuses a context handle that is not open: `strict_context_handle`.
///
/// # Errors
/// `nca_s_fault_context_mismatch`.
pub fn check_open(
    handle: ContextHandle,
    is_open: impl FnOnce(ContextHandle) -> bool,
) -> Result<(), FaultStatus> {
    if !handle.is_null() && is_open(handle) { Ok(()) } else { Err(FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH) }
}
