//! The connection to a host: made, kept, and opened again with as few logons as possible.

use host_session::{PinnedConnector, Reached, Recovery, SessionError, Target};
use plugin_sdk::{Collection, Stage};
use ssp::OsVersion;
use tokio::time::Instant;

use super::lease::{is_refusal, lease, leased_credentials, report_verdict};
use crate::failure::{add_stages, failure_of};
use crate::{AttemptError, KeptConnection, OpenSession, Retry, Service, TransportSettings, connector};

/// The connection to one host, as far as it is open. `H` is what a plugin keeps open over the interfaces, such as
/// the handle of a query; it is dropped when it becomes invalid at the host.
#[derive(Debug)]
pub struct HostConnection<H = ()> {
    target: Target,
    service: Service,
    connector: PinnedConnector,
    transport: TransportSettings,
    /// Whether the operating system was reported.
    is_os_reported: bool,
    /// The last reported version of Windows.
    os_version: Option<OsVersion>,
    kept: Option<OpenSession<H>>,
    /// Whether the host did not answer at all since the last time that this was asked.
    was_away: bool,
}

impl<H> HostConnection<H> {
    /// A host without a connection.
    #[must_use]
    pub fn new(target: Target, service: Service, transport: TransportSettings) -> Self {
        let connector = connector::pinned(&transport);
        Self {
            target,
            service,
            connector,
            transport,
            is_os_reported: false,
            os_version: None,
            kept: None,
            was_away: false,
        }
    }

    /// Takes other settings, which close the connection.
    pub fn reconfigure(&mut self, transport: TransportSettings) {
        if transport != self.transport {
            self.connector = connector::pinned(&transport);
            self.transport = transport;
            self.kept = None;
        }
    }

    /// Binds other interfaces from now on, over a connection that has to be made for them.
    pub fn use_service(&mut self, service: Service) {
        if service.interfaces != self.service.interfaces {
            self.kept = None;
        }
        self.service = service;
    }

    /// Takes the connection, and opens the missing parts. A session that is taken and not put back is closed.
    ///
    /// # Errors If it cannot be opened.
    pub async fn take(
        &mut self,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<OpenSession<H>, AttemptError> {
        let open = match self.kept.take().filter(OpenSession::is_connected) {
            Some(open) if open.is_bound() => open,
            Some(open) => self.reopen(open, collection, deadline).await?,
            None => self.connect(collection, deadline).await?,
        };
        self.report_os(open.session.host().names.os_version, collection);
        Ok(open)
    }

    /// Puts back a session that was taken.
    pub fn put_back(&mut self, open: OpenSession<H>) {
        self.kept = Some(OpenSession { is_kept: true, ..open });
    }

    /// Puts back the parts of a session that are usable after `error`, and converts the error.
    pub async fn fail(
        &mut self,
        open: OpenSession<H>,
        error: &SessionError,
        collection: &Collection,
        deadline: Instant,
    ) -> AttemptError {
        let failure = open.lost.clone().unwrap_or_else(|| failure_of(error));
        let verdict = error.verdict();
        if error.stage == host_session::Stage::Auth && is_refusal(verdict) {
            // The session had expired, and the host refused the credentials of the new logon, which had no lease.
            if let Ok(credential) = lease(collection, open.address, deadline).await
                && leased_credentials(&credential) == open.credentials
            {
                report_verdict(credential, verdict);
            }
            return failure.into();
        }
        if error.recovery != Recovery::Connection {
            self.put_back(open);
        }
        AttemptError { failure, retry: Retry::after(error.recovery) }
    }

    async fn connect(
        &mut self,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<OpenSession<H>, AttemptError> {
        collection.enter(Stage::Dns);
        collection.leave();
        let options = self.transport.options(self.service.names);
        let reached = Reached::connect(self.target.clone(), options, &self.connector, deadline).await;
        let reached = reached.map_err(|error| {
            self.was_away = true;
            not_opened(collection, &error)
        })?;
        // Not before: a host that does not answer must not delay others that wait for the verdict.
        let address = self.connector.reached();
        let credential = lease(collection, address, deadline).await.inspect_err(|_withheld| {
            add_stages(collection, reached.stages());
        })?;
        let credentials = leased_credentials(&credential);
        let logged_on = match reached.log_on(credentials.clone(), deadline).await {
            Ok(logged_on) => {
                credential.accepted();
                logged_on
            }
            Err(error) => {
                let verdict = error.verdict();
                report_verdict(credential, verdict);
                return Err(AttemptError::of_logon(not_opened(collection, &error).failure, verdict));
            }
        };
        let Service { endpoint, interfaces, .. } = self.service;
        let opened = logged_on.open(endpoint, interfaces, deadline).await;
        let session = opened.map_err(|error| not_opened(collection, &error))?;
        add_stages(collection, session.stages());
        Ok(OpenSession {
            session,
            credentials,
            address,
            is_pipe_lost: false,
            is_kept: false,
            lost: None,
            is_in_doubt: false,
            handles: None,
            side_pipe: None,
        })
    }

    /// Opens the endpoint over the existing connection. This is a logon, too, so it needs a lease; if the
    /// credentials have changed, it connects again with the new ones.
    async fn reopen(
        &mut self,
        mut open: OpenSession<H>,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<OpenSession<H>, AttemptError> {
        open.handles = None;
        let credential = lease(collection, open.address, deadline).await?;
        if leased_credentials(&credential) != open.credentials {
            drop((credential, open));
            return self.connect(collection, deadline).await;
        }
        collection.leave();
        match open.session.reopen(deadline).await {
            Ok(()) => {
                credential.accepted();
                add_stages(collection, open.session.stages());
                Ok(OpenSession { is_pipe_lost: false, ..open })
            }
            Err(error) => {
                let verdict = error.verdict();
                report_verdict(credential, verdict);
                let mut failed = not_opened(collection, &error);
                if error.recovery < Recovery::Connection {
                    self.kept = Some(open);
                } else if !is_refusal(verdict) {
                    failed.retry = Retry::IfLost(Recovery::Connection);
                }
                Err(failed)
            }
        }
    }

    /// Reports the operating system of the host and its version, if they changed.
    fn report_os(&mut self, version: Option<OsVersion>, collection: &Collection) {
        if !self.is_os_reported {
            self.is_os_reported = true;
            collection.handle().fact("os.type", "windows");
        }
        if version != self.os_version {
            self.os_version = version;
            let text = version.map(|version| version.to_string()).unwrap_or_default();
            collection.handle().fact("os.version", &text);
        }
    }
}

impl<H: Send> KeptConnection for HostConnection<H> {
    fn missing(&self) -> Recovery {
        match self.kept.as_ref().filter(|open| open.is_connected()) {
            None => Recovery::Connection,
            Some(open) if !open.is_bound() => Recovery::Pipe,
            Some(OpenSession { handles: None, .. }) => Recovery::Handle,
            Some(_) => Recovery::Nothing,
        }
    }

    /// A provider that hangs costs its own values only, a host that is away costs all.
    async fn verify(&mut self, deadline: Instant) {
        let Some(open) = self.kept.as_mut().filter(|open| open.is_in_doubt && open.is_connected()) else {
            return;
        };
        let now = Instant::now();
        let share = deadline.saturating_duration_since(now) / ECHO_PARTS;
        match open.session.echo(now + share).await {
            Ok(()) => open.is_in_doubt = false,
            Err(error) => {
                tracing::debug!(target = %self.target, %error, "The host does not answer");
                (self.kept, self.was_away) = (None, true);
            }
        }
    }

    fn close(&mut self, recovery: Recovery) {
        if recovery == Recovery::Connection {
            self.kept = None;
        }
        if let Some(open) = &mut self.kept
            && recovery > Recovery::Nothing
        {
            open.handles = None;
            open.is_pipe_lost |= recovery == Recovery::Pipe;
        }
    }

    fn take_was_away(&mut self) -> bool {
        std::mem::take(&mut self.was_away)
    }
}

/// The share of a collection's time in which a host answers that it is there.
const ECHO_PARTS: u32 = 4;

/// The failure of opening something: an immediate retry would fail again.
fn not_opened(collection: &Collection, error: &SessionError) -> AttemptError {
    add_stages(collection, &error.stages);
    failure_of(error).into()
}
