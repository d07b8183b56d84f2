//! Name lookup and connections to hosts.

use std::net::IpAddr;
use std::sync::LazyLock;

use host_session::{
    Options, PinnedConnector, SessionError, Stage as SessionStage, Target, TcpReached, TcpSession,
};
use plugin_sdk::{Collection, Failure, GeneralReason, Stage};
use ssp::{Credentials, ImpersonationLevel};
use tokio::time::{Instant, timeout_at};
use transport::TcpConnector;
use transport::resolver::Resolver;

use super::PortService;
use super::failure::failure_of;
use super::lease::{is_refusal, leased_credentials};
use crate::TransportSettings;

/// Shared by all targets, so that there is one limit for all look-ups.
static RESOLVER: LazyLock<Resolver> = LazyLock::new(Resolver::default);

/// A TCP connector that shares its look-ups with all connections of this plugin.
pub(crate) fn shared() -> TcpConnector {
    TcpConnector::with_resolver(RESOLVER.clone())
}

/// The same, limited to the addresses in the settings, if there are any.
pub(crate) fn pinned(transport: &TransportSettings) -> PinnedConnector {
    PinnedConnector::new(shared(), transport.addresses.clone())
}

/// The same, limited to the address that credentials were leased for, if it is known.
pub(crate) fn pinned_to(address: Option<IpAddr>, transport: &TransportSettings) -> PinnedConnector {
    match address {
        Some(address) => PinnedConnector::new(shared(), vec![address]),
        None => pinned(transport),
    }
}

/// The same, limited to this address.
pub(crate) fn to(address: IpAddr) -> PinnedConnector {
    PinnedConnector::new(shared(), vec![address])
}

// More ports of a host that accepted the credentials at one.

/// A host that accepted the credentials at one of its ports.
///
/// Connections to its other ports go to the address that was reached, and to no other: what a host says of addresses cannot
/// send credentials elsewhere. Programs behind these ports are told who calls, and cannot act as the account.
#[derive(Clone, Debug)]
pub struct ReachedHost {
    name: String,
    address: IpAddr,
    credentials: Credentials,
    options: Options,
}

/// Why a port of a [`ReachedHost`] has no session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortError {
    pub failure: Failure,
    /// The port refuses the credentials, or the exporter lends others than those that the host accepted. Then the first
    /// port has to be logged on to again before any other: that is the logon whose verdict the exporter hears.
    pub is_logon_refused: bool,
    /// A server answered there, and knows none of the ways in which this side can log on.
    pub is_security_unknown: bool,
}

impl ReachedHost {
    pub(crate) fn new(name: &str, address: IpAddr, credentials: Credentials, options: Options) -> Self {
        let options = Options { impersonation: ImpersonationLevel::Identify, ..options };
        Self { name: name.to_owned(), address, credentials, options }
    }

    /// The address that was reached.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    /// Connects to a port and binds `service` with sealed calls. Connections to several ports may be made at a time: stages
    /// of the collection are left to the caller.
    ///
    /// The exporter is told that the credentials were accepted, and never that they were refused: one program that refuses
    /// an account must not withhold the secret from other hosts. See [`PortError::is_logon_refused`].
    ///
    /// # Errors
    /// If the port cannot be reached or refuses the logon, or the exporter withholds the credentials.
    pub async fn connect(
        &self,
        port: u16,
        service: PortService,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<TcpSession, PortError> {
        let connector = to(self.address);
        let target = Target::new(&self.name, port);
        let reached = TcpReached::connect(target, self.options.clone(), &connector, deadline).await;
        let reached = reached.map_err(|error| PortError::of(&error))?;
        let leased = timeout_at(deadline, collection.credential_at(Some(self.address))).await;
        let credential = leased.unwrap_or_else(|_passed| {
            let message = "the exporter did not lend the credentials in time";
            Err(Failure::new(Stage::Auth, GeneralReason::Timeout, message))
        });
        let credential = credential.map_err(|failure| PortError {
            failure,
            is_logon_refused: false,
            is_security_unknown: false,
        })?;
        let credentials = leased_credentials(&credential);
        if credentials != self.credentials {
            let message = "the secret is another one since the host was logged on to";
            let failure = Failure::new(Stage::Auth, GeneralReason::Other, message);
            return Err(PortError { failure, is_logon_refused: true, is_security_unknown: false });
        }
        let PortService { service, interfaces, .. } = service;
        let bound = reached.log_on(service, &credentials, interfaces, &connector, deadline).await;
        bound.inspect(|_| credential.accepted()).map_err(|error| PortError::of(&error))
    }
}

impl PortError {
    fn of(error: &SessionError) -> Self {
        let is_logon_refused = error.stage == SessionStage::Auth && is_refusal(error.verdict());
        let is_security_unknown = error.is_security_unknown();
        Self { failure: failure_of(error), is_logon_refused, is_security_unknown }
    }
}
