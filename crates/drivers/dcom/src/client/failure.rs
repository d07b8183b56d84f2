use core::fmt;
use std::error::Error as StdError;

use host_session::{Reason, SessionError, Stage, TcpSession};
use rpc::{Error, Status};
use wire::HResult;

/// What a status of a method means for a session.
pub(crate) trait Outcome: Status {
    fn failure(self, session: &TcpSession, error: &dyn StdError) -> SessionError;
}

impl Outcome for HResult {
    fn failure(self, session: &TcpSession, error: &dyn StdError) -> SessionError {
        SessionError::of_hresult(session.target(), self, error)
    }
}

impl Outcome for wire::Win32Error {
    fn failure(self, session: &TcpSession, error: &dyn StdError) -> SessionError {
        SessionError::of_status(session.target(), self, error)
    }
}

/// What went wrong in a method that was called over `session`.
pub(crate) fn of_method<S: Outcome>(
    session: &TcpSession,
    error: &Error<host_session::rpc_client::Error, S>,
) -> SessionError
where
    Error<host_session::rpc_client::Error, S>: StdError,
{
    let (stage, reason) = match error {
        Error::Call { source, method } => return session.error_of_call(method, source),
        Error::Status { status, .. } => return status.failure(session, error),
        Error::Stub { .. } => (Stage::Decode, Reason::MalformedReply),
        Error::Request { .. } => (Stage::Query, Reason::Internal),
    };
    SessionError::of_answer(session.target(), stage, reason, error)
}

/// An answer that does not mean anything.
pub(crate) fn of_answer(session: &TcpSession, error: &dyn StdError) -> SessionError {
    SessionError::of_answer(session.target(), Stage::Decode, Reason::MalformedReply, error)
}

/// A sentence as an error.
#[derive(Debug)]
pub(crate) struct Sentence(pub(crate) String);

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for Sentence {}
