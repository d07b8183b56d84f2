//! RPC over a TCP port of a host: an association that is kept, and made again with as few logons as possible.

use host_session::{PinnedConnector, Recovery, SessionError, Target, TcpReached, TcpSession};
use plugin_sdk::{Collection, Stage};
use tokio::time::Instant;

use super::lease::{lease, leased_credentials, report_verdict};
use crate::failure::{add_stages, failure_of};
use crate::{AttemptError, KeptConnection, PortService, ReachedHost, Retry, TransportSettings, connector};

/// The connection to a TCP port of one host, if there is one. All of its calls are sealed.
#[derive(Debug)]
pub struct PortConnection {
    target: Target,
    service: PortService,
    connector: PinnedConnector,
    transport: TransportSettings,
    kept: Option<TcpSession>,
    /// INVARIANT: that of the last session, also while that is taken.
    host: Option<ReachedHost>,
    /// Whether the host could not be reached since this was last asked.
    was_away: bool,
}

impl PortConnection {
    /// A port without a connection.
    #[must_use]
    pub fn new(target: Target, service: PortService, transport: TransportSettings) -> Self {
        let connector = connector::pinned(&transport);
        Self { target, service, connector, transport, kept: None, host: None, was_away: false }
    }

    /// Takes other settings, which close the connection. Returns whether they are others.
    pub fn reconfigure(&mut self, transport: TransportSettings) -> bool {
        let is_other = transport != self.transport;
        if is_other {
            self.connector = connector::pinned(&transport);
            self.transport = transport;
            self.close(Recovery::Connection);
        }
        is_other
    }

    /// Takes the session, or logs on. A session that is taken and not put back is closed.
    ///
    /// # Errors If there is none.
    pub async fn take(
        &mut self,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<TcpSession, AttemptError> {
        match self.kept.take() {
            Some(session) if session.is_usable() => Ok(session),
            _ => self.connect(collection, deadline).await,
        }
    }

    /// Puts back a session that was taken.
    pub fn put_back(&mut self, session: TcpSession) {
        self.kept = Some(session);
    }

    /// Puts back the session if it is usable after `error`, and converts the error of a call.
    pub fn fail(&mut self, session: TcpSession, error: &SessionError) -> AttemptError {
        if error.recovery != Recovery::Connection && session.is_usable() {
            self.put_back(session);
        }
        AttemptError { failure: failure_of(error), retry: Retry::after(error.recovery) }
    }

    /// The host that accepted the credentials at this port, for connections to its other ports.
    #[must_use]
    pub const fn host(&self) -> Option<&ReachedHost> {
        self.host.as_ref()
    }

    async fn connect(
        &mut self,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<TcpSession, AttemptError> {
        self.host = None;
        collection.enter(Stage::Dns);
        collection.leave();
        let not_made = |error: &SessionError| -> AttemptError {
            add_stages(collection, &error.stages);
            failure_of(error).into()
        };
        let options = self.transport.options(self.service.names);
        let reached =
            TcpReached::connect(self.target.clone(), options.clone(), &self.connector, deadline).await;
        self.was_away |= reached.is_err();
        let reached = reached.map_err(|error| not_made(&error))?;
        // Not before: a host that does not answer must not delay others that wait for the verdict.
        let address = self.connector.reached();
        let credential = lease(collection, address, deadline).await.inspect_err(|_withheld| {
            add_stages(collection, reached.stages());
        })?;
        let credentials = leased_credentials(&credential);
        let PortService { service, interfaces, .. } = self.service;
        let connector = connector::pinned_to(address, &self.transport);
        match reached.log_on(service, &credentials, interfaces, &connector, deadline).await {
            Ok(session) => {
                credential.accepted();
                add_stages(collection, session.stages());
                self.host =
                    address.map(|address| ReachedHost::new(&self.target.host, address, credentials, options));
                Ok(session)
            }
            Err(error) => {
                let verdict = error.verdict();
                report_verdict(credential, verdict);
                Err(AttemptError::of_logon(not_made(&error).failure, verdict))
            }
        }
    }
}

impl KeptConnection for PortConnection {
    fn missing(&self) -> Recovery {
        if self.kept.as_ref().is_some_and(TcpSession::is_usable) {
            Recovery::Nothing
        } else {
            Recovery::Connection
        }
    }

    /// An association has nothing that is reopened by itself.
    fn close(&mut self, recovery: Recovery) {
        if recovery > Recovery::Nothing {
            self.kept = None;
            self.host = None;
        }
    }

    fn take_was_away(&mut self) -> bool {
        std::mem::take(&mut self.was_away)
    }
}
