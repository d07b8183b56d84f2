use crate::rpc_client::{Association, Interface, NamedPipe, SharedSmbConnection};
use dcerpc::client::PresentationContext;
use dcerpc::{ContextId, SyntaxId};
use ssp::Credentials;
use tokio::time::{Instant, timeout_at};
use transport::ByteCounter;

use crate::connecting::Connecting;
use crate::stages::StageTimer;
use crate::{Endpoint, HostInfo, Options, Reason, SessionError, Stage, StageReport, Target};

/// A host with our logon and bound interfaces.
///
/// Made once and kept between polls. After an error [`SessionError::recovery`](crate::Recovery) says what to
/// rebuild: make new handles, [`reopen`](Self::reopen) the pipe, or connect again.
pub struct Session {
    pub(crate) target: Target,
    pub(crate) credentials: Credentials,
    pub(crate) options: Options,
    pub(crate) endpoint: Endpoint,
    pub(crate) interfaces: Vec<SyntaxId>,
    pub(crate) connection: SharedSmbConnection,
    pub(crate) association: Association<NamedPipe>,
    pub(crate) bytes: ByteCounter,
    pub(crate) host: HostInfo,
    pub(crate) stages: Vec<StageReport>,
}

impl Session {
    /// Opens the endpoint and binds the interfaces again, on the existing connection. Context handles become
    /// invalid.
    ///
    /// # Errors
    /// As those of [`connect`](Self::connect), from the stage pipe on.
    pub async fn reopen(&mut self, deadline: Instant) -> Result<(), SessionError> {
        let mut connecting = Connecting::new(&self.target, &self.options, deadline);
        connecting.count(&self.bytes);
        let outcome =
            connecting.open(&self.connection, &self.credentials, self.endpoint, &self.interfaces).await;
        let (stages, _) = connecting.finish();
        match outcome {
            Ok(association) => {
                self.association = association;
                self.stages = stages;
                Ok(())
            }
            Err(error) => Err(error.with_stages(stages)),
        }
    }

    /// One of the bound interfaces until `deadline`, for typed stubs. `context_id` is the interface's index in the list
    /// that the session was opened with.
    pub const fn channel(&mut self, context_id: ContextId, deadline: Instant) -> Interface<'_, NamedPipe> {
        self.association.channel(context_id, deadline)
    }

    /// The host's answer about each of the interfaces that the session was opened with.
    #[must_use]
    pub fn contexts(&self) -> &[PresentationContext] {
        self.association.contexts()
    }

    /// Opens another association over the same connection: opens `endpoint` and binds `interfaces`, all by `deadline`.
    /// Sends the credentials once more, in RPC. A failure leaves the session's own association as it is, unless the host
    /// closes the connection: see [`is_connected`](Self::is_connected).
    ///
    /// # Errors
    /// From the stages pipe and bind.
    pub async fn open_association(
        &mut self,
        endpoint: Endpoint,
        interfaces: &[SyntaxId],
        deadline: Instant,
    ) -> Result<Association<NamedPipe>, SessionError> {
        let mut connecting = Connecting::new(&self.target, &self.options, deadline);
        connecting.count(&self.bytes);
        let opened = connecting.open(&self.connection, &self.credentials, endpoint, interfaces).await;
        opened.map_err(|error| error.with_stages(connecting.finish().0))
    }

    /// Whether the connection can take another request. Whether the host has closed it since the last request is
    /// known only after the next one.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        // The holder of the lock uses the connection and notices.
        self.connection.try_lock().map_or(true, |smb| smb.is_usable())
    }

    /// Sends an SMB ECHO.
    ///
    /// # Errors
    /// If no answer comes in time.
    pub async fn echo(&mut self, deadline: Instant) -> Result<(), SessionError> {
        let operation = crate::rpc_client::Operation::Echo;
        let outcome = match timeout_at(deadline, self.connection.lock()).await {
            Ok(mut smb) => smb.echo(deadline).await,
            Err(_) => Err(crate::rpc_client::Error::Timeout { operation }),
        };
        outcome.map_err(|error| SessionError::of_rpc(&self.target, Reason::NotFound, &error))
    }

    /// Whether another call can succeed. A call that was dropped or timed out makes it false for good.
    #[must_use]
    pub const fn is_usable(&self) -> bool {
        self.association.is_usable()
    }

    /// The stages of the last [`connect`](Self::connect) or [`reopen`](Self::reopen).
    #[must_use]
    pub fn stages(&self) -> &[StageReport] {
        &self.stages
    }

    /// Starts to measure the following calls.
    #[must_use]
    pub fn start_stage(&self, stage: Stage) -> StageTimer {
        StageTimer::start(stage, &self.bytes, self.association.calls())
    }

    /// The measured calls since [`start_stage`](Self::start_stage).
    #[must_use]
    pub fn stop_stage(&self, timer: StageTimer) -> StageReport {
        timer.stop(self.association.calls())
    }

    /// What the host reported about itself.
    #[must_use]
    pub const fn host(&self) -> &HostInfo {
        &self.host
    }

    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }
}

impl core::fmt::Debug for Session {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Session")
            .field("target", &self.target)
            .field("credentials", &self.credentials)
            .field("host", &self.host)
            .field("association", &self.association)
            .finish_non_exhaustive()
    }
}
