//! Converts errors of methods.

use rpc::Error;
use wire::Win32Error;

use crate::{Endpoint, Reason, SessionError, Stage, Target};

/// What went wrong in a method of an interface that answers with Win32 errors, called over `endpoint` of `target`.
#[must_use]
pub fn call_error(
    target: &Target,
    endpoint: Endpoint,
    error: &Error<crate::rpc_client::Error, Win32Error>,
) -> SessionError {
    let (stage, reason) = match error {
        Error::Call { source, method } => return SessionError::of_call(target, endpoint, method, source),
        Error::Status { status, .. } => return SessionError::of_status(target, *status, error),
        Error::Stub { .. } => (Stage::Decode, Reason::MalformedReply),
        Error::Request { .. } => (Stage::Query, Reason::Internal),
    };
    SessionError::of_answer(target, stage, reason, error)
}
