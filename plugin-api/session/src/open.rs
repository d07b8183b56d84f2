//! A connection in use.

use std::net::IpAddr;

use host_session::rpc_client::{Association, NamedPipe};
use host_session::{Reason, Recovery, Session, SessionError, StageTimer};
use plugin_sdk::{Collection, Failure, GeneralReason, Stage};
use ssp::Credentials;
use tokio::time::Instant;

use super::lease::{SessionLease, lease, leased_credentials};
use crate::attempt::Retry;
use crate::failure::failure_of;
use crate::{AttemptError, Service};

/// A session of [`HostConnection`](crate::HostConnection), with the plugin's handles. Dropping it closes the connection.
#[derive(Debug)]
pub struct OpenSession<H> {
    pub(crate) session: Session,
    /// The credentials of the logon.
    pub(crate) credentials: Credentials,
    /// The address of the host that gets the credentials.
    pub(crate) address: Option<IpAddr>,
    pub(crate) is_pipe_lost: bool,
    /// Whether it was kept from an earlier attempt, so that it may have been lost meanwhile.
    pub(crate) is_kept: bool,
    /// The first failure by which the connection was lost. Nothing is tried over it after that.
    pub(crate) lost: Option<Failure>,
    /// Whether a call over the second pipe had no answer, and nothing was heard of the host since.
    pub(crate) is_in_doubt: bool,
    /// INVARIANT: there are handles only while the endpoint that they were opened over is open.
    pub(crate) handles: Option<H>,
    pub(crate) side_pipe: Option<Association<NamedPipe>>,
}

/// A second pipe of a session, with interfaces bound.
#[derive(Debug)]
pub struct SidePipe<'a> {
    pub association: &'a mut Association<NamedPipe>,
    /// Whether it was just opened, so that nothing is open over it.
    pub is_new: bool,
}

impl<H> OpenSession<H> {
    pub const fn session(&mut self) -> &mut Session {
        &mut self.session
    }

    /// The plugin's handles over the session; `None` after the endpoint was opened.
    pub const fn handles(&mut self) -> &mut Option<H> {
        &mut self.handles
    }

    /// The session and the plugin's handles over it.
    pub const fn parts(&mut self) -> (&mut Session, &mut Option<H>) {
        (&mut self.session, &mut self.handles)
    }

    /// Whether anything can be asked for over the connection, as far as it is known.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.lost.is_none() && self.session.is_connected()
    }

    /// Begins the query stage of a collection: calls are counted from now on.
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

    /// Leases the credentials of the session for one more logon, such as [`Session::open_association`].
    ///
    /// # Errors If the exporter withholds them, or leases others than those of the session.
    pub async fn lease(
        &mut self,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<SessionLease, Failure> {
        let credential = lease(collection, self.address, deadline).await?;
        if leased_credentials(&credential) == self.credentials {
            return Ok(SessionLease(credential));
        }
        let message = "the secret is another one since the host was logged on to";
        let failure = Failure::new(Stage::Auth, GeneralReason::Other, message);
        // Only another connection has the new one.
        Err(self.lost.get_or_insert(failure).clone())
    }

    /// A second pipe over the same connection, so that a call which hangs there leaves the first one usable. It is opened
    /// where none is kept that takes calls, which is a logon; there is one at a time, for one `service`.
    ///
    /// # Errors
    /// When the exporter withholds the credentials, or the pipe cannot be opened. When the connection is lost: by what it was.
    pub async fn side_pipe(
        &mut self,
        service: Service,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<SidePipe<'_>, Failure> {
        if let Some(lost) = &self.lost {
            return Err(lost.clone());
        }
        let is_new = !self.side_pipe.as_ref().is_some_and(Association::is_usable);
        if is_new {
            self.side_pipe = None;
            let lease = self.lease(collection, deadline).await?;
            let opened = self.session.open_association(service.endpoint, service.interfaces, deadline).await;
            lease.settle(&opened);
            self.side_pipe = Some(opened.map_err(|error| self.side_pipe_failed(&error))?);
            self.is_in_doubt = false;
        }
        match &mut self.side_pipe {
            Some(association) => Ok(SidePipe { association, is_new }),
            None => {
                Err(Failure::new(Stage::Plugin, GeneralReason::Internal, "the pipe was opened and is gone"))
            }
        }
    }

    /// A call over the second pipe failed, which costs what was asked for alone while the connection lives. Closes what the
    /// error made useless.
    pub fn side_pipe_failed(&mut self, error: &SessionError) -> Failure {
        if error.recovery > Recovery::Handle {
            self.side_pipe = None;
        }
        let failure = failure_of(error);
        if !self.session.is_connected() {
            self.lost.get_or_insert_with(|| failure.clone());
        }
        self.is_in_doubt |= error.reason == Reason::Timeout;
        failure
    }

    /// Call this after parts of a collection that may fail by themselves, before the results are used. `has_values` says whether
    /// other parts have any.
    ///
    /// # Errors
    /// When the connection was lost: then the failure is that of the whole attempt. A part that ends a new connection, after
    /// others gave values, costs only itself: it would end the next one, too.
    pub fn check_connected(&self, has_values: bool) -> Result<(), AttemptError> {
        match &self.lost {
            Some(failure) if self.is_kept || !has_values => {
                Err(AttemptError { failure: failure.clone(), retry: Retry::IfLost(Recovery::Connection) })
            }
            _ => Ok(()),
        }
    }

    /// Whether calls can succeed. An aborted call leaves the pipe out of step.
    pub(crate) const fn is_bound(&self) -> bool {
        !self.is_pipe_lost && self.session.is_usable()
    }
}
