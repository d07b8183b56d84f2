//! The interfaces of hosts that this plugin uses: both are behind the pipe of the remote registry service.

use counter_poll::ClassicError;
use host_session::{Endpoint, Reason, Session, SessionError, Stage, Target};
use ms_pcq::perflibv2::methods::PerflibV2;
use ms_rrp::winreg::{RegistryClient, Winreg};
use plugin_session::{InterfaceNames, Service, call_error};
use rpc_client::{Association, NamedPipe};
use tokio::time::Instant;

use crate::channel::{Client, PcqError, PipeChannel};

/// [MS-PCQ] 2.1
const WINREG: Endpoint = Endpoint::NamedPipe { name: "winreg", stopped: Reason::RemoteRegistryStopped };

/// The counters of version 2.
pub(crate) const PERFLIB: Service =
    Service { endpoint: WINREG, interfaces: &[ms_pcq::SYNTAX_ID], names: NAMES };

/// Classic counters.
pub(crate) const REGISTRY: Service =
    Service { endpoint: WINREG, interfaces: &[ms_rrp::SYNTAX_ID], names: NAMES };

const NAMES: &[InterfaceNames] = &[InterfaceNames::of::<PerflibV2>(), InterfaceNames::of::<Winreg>()];

/// Each association has one interface.
const FIRST_CONTEXT: dcerpc::ContextId = 0;

/// The methods of PerflibV2 until `deadline`.
pub(crate) fn perflib(session: &mut Session, deadline: Instant) -> Client<'_> {
    let host = session.target().host.clone();
    Client::new(PipeChannel::new(session.channel(FIRST_CONTEXT, deadline)), host)
}

/// The methods of the registry over an association of [`REGISTRY`], until `deadline`.
pub(crate) fn registry(
    association: &mut Association<NamedPipe>,
    deadline: Instant,
) -> RegistryClient<PipeChannel<'_>> {
    RegistryClient::new(PipeChannel::new(association.channel(FIRST_CONTEXT, deadline)))
}

/// What went wrong with a method of [`perflib`].
pub(crate) fn error_of_perflib(target: &Target, error: &PcqError) -> SessionError {
    use ms_pcq::Error as Pcq;
    let (stage, reason) = match error {
        Pcq::Rpc(error) => return call_error(target, WINREG, error),
        Pcq::Buffer { .. } => (Stage::Decode, Reason::MalformedReply),
        Pcq::LimitExceeded { .. } => (Stage::Query, Reason::LimitExceeded),
        Pcq::Unsettled { .. } => (Stage::Query, Reason::Busy),
        _ => (Stage::Query, Reason::Internal),
    };
    SessionError::of_answer(target, stage, reason, error)
}

/// What went wrong with classic objects.
pub(crate) fn error_of_classic(target: &Target, error: &ClassicError<rpc_client::Error>) -> SessionError {
    use ms_rrp::Error as Rrp;
    let (stage, reason) = match error {
        ClassicError::Call(Rrp::Rpc(error)) => return call_error(target, WINREG, error),
        ClassicError::Call(Rrp::LimitExceeded { .. }) => (Stage::Query, Reason::LimitExceeded),
        ClassicError::Call(_) => (Stage::Query, Reason::Internal),
        ClassicError::Malformed(_) => (Stage::Decode, Reason::MalformedReply),
    };
    match error {
        ClassicError::Call(error) => SessionError::of_answer(target, stage, reason, error),
        ClassicError::Malformed(error) => SessionError::of_answer(target, stage, reason, error),
    }
}
