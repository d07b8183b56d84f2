//! A connection in use.

use std::net::IpAddr;

use host_session::{Session, StageTimer};
use plugin_sdk::{Collection, Failure, GeneralReason, Stage};
use ssp::Credentials;
use tokio::time::Instant;

use crate::lease::{self, SessionLease};

/// A session of [`HostConnection`](crate::HostConnection), with the plugin's handles. Dropping it closes the connection.
#[derive(Debug)]
pub struct OpenSession<H> {
    pub(crate) session: Session,
    /// As whom we are logged on.
    pub(crate) credentials: Credentials,
    /// Where the host is, which is who sees the credentials.
    pub(crate) address: Option<IpAddr>,
    pub(crate) is_pipe_lost: bool,
    /// INVARIANT: there are some only while the endpoint is open that they were made over.
    pub(crate) handles: Option<H>,
}

impl<H> OpenSession<H> {
    /// The session.
    pub const fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// What the plugin keeps open over the session; nothing when the endpoint was just opened.
    pub const fn handles(&mut self) -> &mut Option<H> {
        &mut self.handles
    }

    /// The session and what is kept open over it.
    pub const fn parts(&mut self) -> (&mut Session, &mut Option<H>) {
        (&mut self.session, &mut self.handles)
    }

    /// Whether the host still holds the connection, as far as anybody has noticed.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.session.is_connected()
    }

    /// Begins the stage query of a collection: calls are counted from here on.
    #[must_use = "the calls are added by end_calls"]
    pub fn begin_calls(&self, collection: &Collection) -> StageTimer {
        collection.enter(Stage::Query);
        self.session.start_stage(host_session::Stage::Query)
    }

    /// Adds the calls since [`begin_calls`](Self::begin_calls) to the collection's stages.
    pub fn end_calls(&self, timer: StageTimer, collection: &Collection) {
        let report = self.session.stop_stage(timer);
        collection.stages().add(report.calls, report.received_bytes, report.sent_bytes);
    }

    /// Leases the credentials of the session for one more logon, such as
    /// [`Session::open_association`]: a logon takes a lease.
    ///
    /// # Errors
    /// When the exporter withholds them, or lends others than those of the session.
    pub async fn lease(
        &mut self,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<SessionLease, Failure> {
        let credential = lease::lease(collection, self.address, deadline).await?;
        if lease::credentials(&credential) == self.credentials {
            return Ok(SessionLease(credential));
        }
        let message = "the secret is another one since the host was logged on to";
        Err(Failure::new(Stage::Auth, GeneralReason::Other, message))
    }

    /// Whether calls can succeed. One that was given up half-way leaves the pipe out of step.
    pub(crate) const fn is_bound(&self) -> bool {
        !self.is_pipe_lost && self.session.is_usable()
    }
}
