use ms_pcq::perflibv2::PerflibV2Client;
use ms_rrp::RegisteredCounterSets;
use ms_rrp::winreg::RegistryClient;
use rpc_client::{Association, Interface, NamedPipe, SharedSmbConnection};
use ssp::Credentials;
use tokio::time::{Instant, timeout_at};
use tracing::debug;
use transport::{ByteCounter, Connector};

use crate::connect::{Connecting, Reached};
use crate::stages::StageTimer;
use crate::{HostInfo, Options, SessionError, Stage, StageReport, Target};

/// A host that we are logged on to, with its performance counters' interface bound.
///
/// Made once and kept between polls. After an error ask [`SessionError::recovery`](crate::Recovery) what is left:
/// make handles anew, [`reopen`](Self::reopen) the pipe, or connect again.
pub struct Session {
    pub(crate) target: Target,
    pub(crate) credentials: Credentials,
    pub(crate) options: Options,
    pub(crate) connection: SharedSmbConnection,
    pub(crate) association: Association<NamedPipe>,
    pub(crate) bytes: ByteCounter,
    pub(crate) host: HostInfo,
    pub(crate) stages: Vec<StageReport>,
}

impl Session {
    /// Connects to `target`, logs on, opens the pipe and binds the interface, all by `deadline`.
    ///
    /// The credentials are shown once in SMB and, where that succeeds, once more in RPC. Who leases them goes step
    /// by step: [`Reached`], [`LoggedOn`](crate::LoggedOn), session.
    ///
    /// # Errors
    /// With the stage that failed, why, and what the stages until then took.
    pub async fn connect(
        target: Target,
        credentials: Credentials,
        options: Options,
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<Self, SessionError> {
        let reached = Reached::connect(target, options, connector, deadline).await?;
        reached.log_on(credentials, deadline).await?.open(deadline).await
    }

    /// Opens the pipe and binds the interface again, on the connection that is there. Context handles are gone.
    ///
    /// # Errors
    /// As those of [`connect`](Self::connect), from the stage pipe on.
    pub async fn reopen(&mut self, deadline: Instant) -> Result<(), SessionError> {
        let mut connecting = Connecting::new(&self.target, &self.options, deadline);
        connecting.count(&self.bytes);
        let outcome = connecting.open(&self.connection, &self.credentials).await;
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

    /// The methods of PerflibV2 until `deadline`.
    pub fn perflib(&mut self, deadline: Instant) -> PerflibV2Client<Interface<'_, NamedPipe>> {
        PerflibV2Client::new(self.association.channel(FIRST_CONTEXT, deadline), &self.target.host)
    }

    /// The countersets in the host's registry, by `deadline`: for hosts that have more than PCQ can list. Needs a caller
    /// who may read `HKEY_LOCAL_MACHINE`.
    ///
    /// Takes a pipe of its own, on which the credentials are shown once more, in RPC: what the host makes of that does
    /// not touch the performance counters' association. Whether it let go of the connection, [`is_connected`] says.
    ///
    /// # Errors
    /// When the host does not offer its registry, or does not let us see it.
    ///
    /// [`is_connected`]: Self::is_connected
    pub async fn registered_counter_sets(
        &mut self,
        deadline: Instant,
    ) -> Result<RegisteredCounterSets, SessionError> {
        let mut connecting = Connecting::new(&self.target, &self.options, deadline);
        connecting.count(&self.bytes);
        let opened = connecting.open_interface(&self.connection, &self.credentials, ms_rrp::SYNTAX_ID).await;
        let mut association = opened.map_err(|error| error.with_stages(connecting.finish().0))?;
        let mut client = RegistryClient::new(association.channel(FIRST_CONTEXT, deadline));
        let listed = ms_rrp::enumerate_counter_sets(&mut client).await;
        let listed = listed.map_err(|error| SessionError::of_rrp(&self.target, &error))?;
        if let Err(error) = association.into_transport().close(deadline).await {
            debug!(target = %self.target, %error, "Pipe of the registry not closed");
        }
        Ok(listed)
    }

    /// Whether the connection underneath takes another request. What the host did to it since, nobody knows before.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        // Whoever holds it is busy with it, and finds out.
        self.connection.try_lock().map_or(true, |smb| smb.is_usable())
    }

    /// What went wrong in a method of [`perflib`](Self::perflib).
    #[must_use]
    pub fn error(&self, error: &ms_pcq::Error<rpc_client::Error>) -> SessionError {
        SessionError::of_pcq(&self.target, error)
    }

    /// Asks the host for a sign of life.
    ///
    /// # Errors
    /// When none comes in time.
    pub async fn echo(&self, deadline: Instant) -> Result<(), SessionError> {
        let operation = rpc_client::Operation::Echo;
        let outcome = match timeout_at(deadline, self.connection.lock()).await {
            Ok(mut smb) => smb.echo(deadline).await,
            Err(_) => Err(rpc_client::Error::Timeout { operation }),
        };
        outcome.map_err(|error| SessionError::of_rpc(&self.target, &error))
    }

    /// Whether another call can succeed. A call that was dropped or timed out makes it false for good.
    #[must_use]
    pub const fn is_usable(&self) -> bool {
        self.association.is_usable()
    }

    /// What the stages of the last [`connect`](Self::connect) or [`reopen`](Self::reopen) took.
    #[must_use]
    pub fn stages(&self) -> &[StageReport] {
        &self.stages
    }

    /// Begins to measure the calls that follow.
    #[must_use]
    pub fn start_stage(&self, stage: Stage) -> StageTimer {
        StageTimer::start(stage, &self.bytes, self.association.calls())
    }

    /// What the calls since [`start_stage`](Self::start_stage) took.
    #[must_use]
    pub fn stop_stage(&self, timer: StageTimer) -> StageReport {
        timer.stop(self.association.calls())
    }

    /// What the host told of itself.
    #[must_use]
    pub const fn host(&self) -> &HostInfo {
        &self.host
    }

    /// Which host.
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

/// Each association has one interface.
const FIRST_CONTEXT: dcerpc::ContextId = 0;
