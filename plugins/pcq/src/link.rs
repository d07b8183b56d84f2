//! The connection to the host: made, kept, and opened again with as few logons as possible.
//!
//! Whenever we prove who we are, the exporter has lent the secret for it and is told the verdict: it sees to it
//! that a wrong password is tried once and not once by each target.

use std::net::IpAddr;

use host_session::{Options, PinnedConnector, Reached, Recovery, Session, SessionError, Target, Verdict};
use ms_rrp::RegisteredCounterSets;
use ms_smb2::client::Encryption as SmbEncryption;
use plugin_sdk::{Collection, Credential, Failure, GeneralReason, Stage};
use ssp::{Credentials, Secret};
use tokio::time::{Instant, timeout_at};

use crate::config::{Encryption, TransportSettings};
use crate::connector;
use crate::failure;
use crate::session::{self, INTERFACES, WINREG};

/// The connection to one host, or what is left of it.
#[derive(Debug)]
pub(crate) struct Link {
    target: Target,
    connector: PinnedConnector,
    transport: TransportSettings,
    line: Option<Line>,
}

/// A connection with the interface bound, which is the link's but while it is in use.
#[derive(Debug)]
pub(crate) struct Line {
    session: Session,
    /// As whom we are logged on.
    credentials: Credentials,
    /// Where the host is, which is who sees the secret.
    address: Option<IpAddr>,
    is_pipe_lost: bool,
}

/// How much is there before an attempt begins, or is left after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// No connection.
    Nothing,
    /// A connection on which we are logged on.
    Connection,
    /// The interface, too.
    Interface,
    /// The open query, too.
    Query,
}

/// Why an attempt failed.
#[derive(Debug)]
pub(crate) struct Broken {
    /// For the exporter.
    pub(crate) failure: Failure,
    /// What stands after it, where something was lost; nothing where the failure is the answer.
    pub(crate) left: Option<Standing>,
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Self {
        Self { failure, left: None }
    }
}

impl Standing {
    /// The most that can stand when `self` turned out not to.
    pub(crate) const fn without_top(self) -> Self {
        match self {
            Self::Nothing | Self::Connection => Self::Nothing,
            Self::Interface => Self::Connection,
            Self::Query => Self::Interface,
        }
    }
}

impl Link {
    /// A host that was not asked yet.
    pub(crate) fn new(target: Target, transport: TransportSettings) -> Self {
        Self { target, connector: connector::pinned(&transport), transport, line: None }
    }

    /// Speaks otherwise from now on, which takes another connection.
    pub(crate) fn reconfigure(&mut self, transport: TransportSettings) {
        if transport != self.transport {
            self.connector = connector::pinned(&transport);
            self.transport = transport;
            self.line = None;
        }
    }

    /// What stands, as far as it is known. Never more than the interface.
    pub(crate) fn standing(&self) -> Standing {
        match &self.line {
            None => Standing::Nothing,
            Some(line) if line.has_interface() => Standing::Interface,
            Some(_) => Standing::Connection,
        }
    }

    /// Gives up what is above `left`.
    pub(crate) fn keep_only(&mut self, left: Standing) {
        match (left, &mut self.line) {
            (Standing::Nothing, line) => *line = None,
            (Standing::Connection, Some(line)) => line.is_pipe_lost = true,
            _ => {}
        }
    }

    /// The connection, made as far as it does not stand. What is taken and not put back ends.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) async fn take(&mut self, collection: &Collection, deadline: Instant) -> Result<Line, Broken> {
        match self.line.take() {
            Some(line) if line.has_interface() => Ok(line),
            Some(line) => self.reopen(line, collection, deadline).await,
            None => self.connect(collection, deadline).await,
        }
    }

    /// Keeps a connection that was taken.
    pub(crate) fn put_back(&mut self, line: Line) {
        self.line = Some(line);
    }

    /// Puts it back as far as `error` left it standing, and says what the collection makes of it.
    pub(crate) async fn fail(
        &mut self,
        line: Line,
        error: &SessionError,
        collection: &Collection,
        deadline: Instant,
    ) -> Broken {
        let failure = failure::of_session(error);
        let verdict = error.verdict();
        if error.stage == host_session::Stage::Auth && is_refusal(verdict) {
            // The session had expired, and the host does not take the secret any more, which nobody had leased.
            if let Ok(credential) = lease(collection, line.address, deadline).await
                && credentials(&credential) == line.credentials
            {
                failure::judge(credential, verdict);
            }
            return Broken { failure, left: None };
        }
        let left = match error.recovery {
            Recovery::Nothing => None,
            Recovery::Handle => Some(Standing::Interface),
            Recovery::Pipe => Some(Standing::Connection),
            Recovery::Connection => Some(Standing::Nothing),
        };
        if left != Some(Standing::Nothing) {
            self.put_back(line);
        }
        Broken { failure, left }
    }

    async fn connect(&mut self, collection: &Collection, deadline: Instant) -> Result<Line, Broken> {
        collection.enter(Stage::Dns);
        collection.leave();
        let reached = Reached::connect(self.target.clone(), self.options(), &self.connector, deadline).await;
        let reached = reached.map_err(|error| fresh(collection, &error))?;
        // Only now: a host that does not answer must not hold up who waits for the verdict.
        let address = self.connector.reached();
        let credential = lease(collection, address, deadline).await.inspect_err(|_withheld| {
            failure::account(collection, reached.stages());
        })?;
        let credentials = credentials(&credential);
        let logged_on = match reached.log_on(credentials.clone(), deadline).await {
            Ok(logged_on) => {
                credential.accepted();
                logged_on
            }
            Err(error) => {
                failure::judge(credential, error.verdict());
                return Err(fresh(collection, &error));
            }
        };
        let session =
            logged_on.open(WINREG, INTERFACES, deadline).await.map_err(|error| fresh(collection, &error))?;
        failure::account(collection, session.stages());
        Ok(Line { session, credentials, address, is_pipe_lost: false })
    }

    /// Opens the pipe on the connection that is there. That is a logon, too, so that it takes a lease; where the
    /// secret is another one by now, the connection is made anew with it.
    async fn reopen(
        &mut self,
        mut line: Line,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<Line, Broken> {
        let credential = lease(collection, line.address, deadline).await?;
        if credentials(&credential) != line.credentials {
            drop((credential, line));
            return self.connect(collection, deadline).await;
        }
        collection.leave();
        match line.session.reopen(deadline).await {
            Ok(()) => {
                credential.accepted();
                failure::account(collection, line.session.stages());
                Ok(Line { is_pipe_lost: false, ..line })
            }
            Err(error) => {
                let verdict = error.verdict();
                failure::judge(credential, verdict);
                let mut broken = fresh(collection, &error);
                if error.recovery < Recovery::Connection {
                    self.line = Some(line);
                } else if !is_refusal(verdict) {
                    broken.left = Some(Standing::Nothing);
                }
                Err(broken)
            }
        }
    }

    fn options(&self) -> Options {
        let mut options = Options { connect_timeout: self.transport.connect_timeout(), ..Options::default() };
        options.smb.encryption = match self.transport.smb.encryption {
            Encryption::Disabled => SmbEncryption::Disabled,
            Encryption::Preferred => SmbEncryption::Preferred,
            Encryption::Required => SmbEncryption::Required,
        };
        options
    }
}

impl Line {
    /// Whether calls can succeed. One that was given up half-way leaves the pipe out of step.
    const fn has_interface(&self) -> bool {
        !self.is_pipe_lost && self.session.is_usable()
    }

    /// The countersets in the registry of the host. That is a logon, too, so that it takes a lease.
    ///
    /// # Errors
    /// When the host does not give the list; whether the connection stands then, [`is_connected`](Self::is_connected) says.
    pub(crate) async fn registered_counter_sets(
        &mut self,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<RegisteredCounterSets, Failure> {
        let credential = lease(collection, self.address, deadline).await?;
        if credentials(&credential) != self.credentials {
            let message = "the secret is another one since the host was logged on to";
            return Err(Failure::new(Stage::Auth, GeneralReason::Other, message));
        }
        match session::registered_counter_sets(&mut self.session, deadline).await {
            Ok(registered) => {
                credential.accepted();
                Ok(registered)
            }
            Err(error) => {
                failure::judge(credential, error.verdict());
                Err(failure::of_session(&error))
            }
        }
    }

    /// Whether the host still holds the connection, as far as anybody has noticed.
    pub(crate) fn is_connected(&self) -> bool {
        self.session.is_connected()
    }

    /// The session.
    pub(crate) const fn session(&mut self) -> &mut Session {
        &mut self.session
    }
}

/// The secret for the host that was reached at `address`, once the exporter lends it.
async fn lease(
    collection: &Collection,
    address: Option<IpAddr>,
    deadline: Instant,
) -> Result<Credential, Failure> {
    collection.enter(Stage::Auth);
    let leased = timeout_at(deadline, collection.credential_at(address)).await.unwrap_or_else(|_passed| {
        let message = "another target is trying the same password for the first time, and has no answer yet";
        Err(Failure::new(Stage::Auth, GeneralReason::Timeout, message))
    });
    collection.leave();
    leased
}

fn credentials(credential: &Credential) -> Credentials {
    Credentials::new(credential.domain(), credential.username(), Secret::new(credential.password()))
}

/// A failure of something that was just being made: trying again at once would fail again.
fn fresh(collection: &Collection, error: &SessionError) -> Broken {
    failure::account(collection, &error.stages);
    failure::of_session(error).into()
}

const fn is_refusal(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Rejected | Verdict::Locked)
}
