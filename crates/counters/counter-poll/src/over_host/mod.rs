//! The performance counters of a Windows host over a [`Session`]: the calls that `counter-poll` needs.
//!
//! Counters of version 2 come from PerflibV2 of [MS-PCQ]; classic ones, and the list of all countersets, from the registry of
//! [MS-RRP]. Both interfaces are behind the pipe of the remote registry service, [`WINREG`], and each association has one of
//! them.
//!
//! ```no_run
//! # use host_session::{Session, SessionError};
//! # use tokio::time::Instant;
//! use counter_poll::over_host::PerflibSession as _;
//!
//! # async fn count(session: &mut Session, deadline: Instant) -> Result<usize, SessionError> {
//! // The session was opened with `WINREG` and `PERFLIB_INTERFACES`.
//! let listed = session.perflib(deadline).enumerate_counter_set().await;
//! let guids = listed.map_err(|error| session.error(&error))?;
//! # Ok(guids.len()) }
//! ```

#![allow(clippy::disallowed_methods, reason = "the time of each call")]

use std::time::{Duration, SystemTime};

use counters::pcq::perflibv2::methods::PerflibV2;
use counters::rrp::RegisteredCounterSets;
use counters::rrp::winreg::{RegistryClient, Winreg};
use dcerpc::{Channel, SyntaxId};
use host_session::rpc_client::{Association, Error, ErrorKind, Interface, NamedPipe};
use host_session::{Endpoint, Reason, Session, SessionError, Stage, Target, call_error};
use rpc_recorder::InterfaceNames;
use tokio::time::Instant;
use tracing::debug;
use wire::Guid;

use super::ClassicError;
use crate::HostChannel;

/// An interface of a session.
#[derive(Debug)]
pub struct PipeChannel<'a> {
    interface: Interface<'a, NamedPipe>,
    last_call: Option<CallTimes>,
}

/// When a call began and ended, by our wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallTimes {
    /// Before the request was sent.
    pub began: SystemTime,
    /// After the reply was read.
    pub ended: SystemTime,
}

impl<'a> PipeChannel<'a> {
    /// The calls of this interface, until its deadline.
    #[must_use]
    pub const fn new(interface: Interface<'a, NamedPipe>) -> Self {
        Self { interface, last_call: None }
    }

    /// The last call that was answered.
    #[must_use]
    pub const fn last_call(&self) -> Option<CallTimes> {
        self.last_call
    }
}

/// A client of PerflibV2 over a session.
pub type Client<'a> = crate::Client<PipeChannel<'a>>;

/// Why a method of PerflibV2 failed.
pub type PcqError = counters::pcq::Error<Error>;

impl Channel for PipeChannel<'_> {
    type Error = Error;

    async fn call(&mut self, opnum: u16, object: Option<Guid>, stub: &[u8]) -> Result<Vec<u8>, Error> {
        let began = SystemTime::now();
        let reply = self.interface.call(opnum, object, stub).await?;
        self.last_call = Some(CallTimes { began, ended: SystemTime::now() });
        Ok(reply)
    }
}

impl HostChannel for PipeChannel<'_> {
    fn time_left(&self) -> Duration {
        self.interface.deadline().saturating_duration_since(Instant::now())
    }

    fn slowest_answer(&self) -> Duration {
        self.interface.slowest_answer()
    }

    fn limit_calls(&mut self, call_max: Option<Duration>) {
        self.interface.limit_calls(call_max);
    }

    fn is_timeout(error: &Error) -> bool {
        error.kind() == ErrorKind::Timeout
    }

    fn concerns_one_call(error: &Error) -> bool {
        host_session::concerns_one_call(error)
    }
}

// The interfaces of a host that give its counters.

/// [MS-PCQ] 2.1: the pipe of the remote registry service, which offers both interfaces.
pub const WINREG: Endpoint = Endpoint::NamedPipe { name: "winreg", stopped: Reason::RemoteRegistryStopped };

/// What an association has that is asked for counters of version 2.
pub const PERFLIB_INTERFACES: &[SyntaxId] = &[counters::pcq::SYNTAX_ID];

/// What an association has that is asked for classic objects, and for the list of countersets.
pub const REGISTRY_INTERFACES: &[SyntaxId] = &[counters::rrp::SYNTAX_ID];

/// The methods of both, with names.
pub const NAMES: &[InterfaceNames] = &[InterfaceNames::of::<PerflibV2>(), InterfaceNames::of::<Winreg>()];

/// Each association has one interface.
const FIRST_CONTEXT: dcerpc::ContextId = 0;

/// The performance counters' interface of a session.
pub trait PerflibSession {
    /// The methods of PerflibV2 until `deadline`.
    fn perflib(&mut self, deadline: Instant) -> Client<'_>;

    /// Converts the error of a method of [`perflib`](Self::perflib).
    fn error(&self, error: &PcqError) -> SessionError;
}

impl PerflibSession for Session {
    fn perflib(&mut self, deadline: Instant) -> Client<'_> {
        let host = self.target().host.clone();
        Client::new(PipeChannel::new(self.channel(FIRST_CONTEXT, deadline)), host)
    }

    fn error(&self, error: &PcqError) -> SessionError {
        error_of_perflib(self.target(), error)
    }
}

/// The countersets in the host's registry, by `deadline`: for hosts that have more than PCQ can list. The account
/// needs the right to read `HKEY_LOCAL_MACHINE`. Opens another pipe, which sends the credentials once more.
///
/// # Errors
/// If the host does not offer its registry, or denies access to it.
pub async fn registered_counter_sets(
    session: &mut Session,
    deadline: Instant,
) -> Result<RegisteredCounterSets, SessionError> {
    let mut association = open_registry(session, deadline).await?;
    let listed = counters::rrp::enumerate_counter_sets(&mut registry(&mut association, deadline)).await;
    let listed = listed.map_err(|error| error_of_registry(session.target(), &error))?;
    if let Err(error) = association.into_transport().close(deadline).await {
        debug!(target = %session.target(), %error, "Pipe of the registry not closed");
    }
    Ok(listed)
}

/// What went wrong with a method of [`PerflibSession::perflib`].
#[must_use]
pub fn error_of_perflib(target: &Target, error: &PcqError) -> SessionError {
    use counters::pcq::Error as Pcq;
    let (stage, reason) = match error {
        Pcq::Rpc(error) => return call_error(target, WINREG, error),
        Pcq::Buffer { .. } => (Stage::Decode, Reason::MalformedReply),
        Pcq::LimitExceeded { .. } => (Stage::Query, Reason::LimitExceeded),
        Pcq::Unsettled { .. } => (Stage::Query, Reason::Busy),
        _ => (Stage::Query, Reason::Internal),
    };
    SessionError::of_answer(target, stage, reason, error)
}

/// Opens an association of [`REGISTRY_INTERFACES`] over a pipe of its own.
///
/// # Errors
/// When the host does not offer its registry.
pub async fn open_registry(
    session: &mut Session,
    deadline: Instant,
) -> Result<Association<NamedPipe>, SessionError> {
    session.open_association(WINREG, REGISTRY_INTERFACES, deadline).await
}

/// The methods of the registry over an association of [`REGISTRY_INTERFACES`], until `deadline`.
pub fn registry(
    association: &mut Association<NamedPipe>,
    deadline: Instant,
) -> RegistryClient<PipeChannel<'_>> {
    RegistryClient::new(PipeChannel::new(association.channel(FIRST_CONTEXT, deadline)))
}

/// What went wrong with classic objects.
pub fn error_of_classic(
    target: &Target,
    error: &ClassicError<host_session::rpc_client::Error>,
) -> SessionError {
    match error {
        ClassicError::Call(error) => error_of_registry(target, error),
        ClassicError::Malformed(error) => {
            SessionError::of_answer(target, Stage::Decode, Reason::MalformedReply, error)
        }
    }
}

/// What went wrong with a method of [`registry`].
pub fn error_of_registry(
    target: &Target,
    error: &counters::rrp::Error<host_session::rpc_client::Error>,
) -> SessionError {
    use counters::rrp::Error as Rrp;
    let (stage, reason) = match error {
        Rrp::Rpc(error) => return call_error(target, WINREG, error),
        Rrp::LimitExceeded { .. } => (Stage::Query, Reason::LimitExceeded),
        _ => (Stage::Query, Reason::Internal),
    };
    SessionError::of_answer(target, stage, reason, error)
}

#[cfg(test)]
mod tests {
    use counters::pcq::perflibv2::methods::EnumerateCountersetsRequest;
    use dcerpc::FaultStatus;
    use host_session::Recovery;
    use rpc::{Error as Rpc, Message, Method};
    use wire::Win32Error;

    use super::*;

    const METHOD: &Method = EnumerateCountersetsRequest::METHOD;

    fn fault(status: FaultStatus) -> PcqError {
        let source = host_session::rpc_client::Error::Fault { opnum: METHOD.opnum, status };
        Rpc::Call { method: METHOD, source }.into()
    }

    #[test]
    fn an_error_of_a_method_names_the_method_and_says_what_is_left() {
        let status = |status| counters::pcq::Error::from(Rpc::Status { method: METHOD, status });
        let table = [
            (status(Win32Error::ERROR_WMI_GUID_NOT_FOUND), Reason::NotFound, Recovery::Nothing),
            (status(Win32Error::ERROR_INVALID_HANDLE), Reason::ServerFault, Recovery::Handle),
            (status(Win32Error::ERROR_ACCESS_DENIED), Reason::AccessDenied, Recovery::Connection),
            (fault(FaultStatus::NCA_S_SERVER_TOO_BUSY), Reason::Busy, Recovery::Nothing),
            (fault(FaultStatus::NCA_S_UNK_IF), Reason::RemoteRegistryStopped, Recovery::Pipe),
        ];
        let target = Target::new("web1", 445);
        for (error, reason, recovery) in table {
            let error = error_of_perflib(&target, &error);
            assert_eq!((error.stage, error.reason, error.recovery), (Stage::Query, reason, recovery));
            assert!(error.detail().contains("enumerate countersets"), "{error}");
        }
    }
}
