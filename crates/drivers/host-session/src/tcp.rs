//! RPC directly over TCP, without SMB.

use core::fmt;

use crate::rpc_client::{Association, Interface, TcpTransport};
use dcerpc::client::PresentationContext;
use dcerpc::{ContextId, SyntaxId};
use rpc::ErrorStatus;
use ssp::{Credentials, Mechanism};
use tokio::time::Instant;
use tracing::debug;
use transport::{BoxStream, ByteCounter, Connector};

use crate::connecting::Connecting;
use crate::stages::StageTimer;
use crate::{Options, Reason, SessionError, Stage, StageReport, Target, TcpService};

/// A host whose TCP port accepted a connection, before any RPC.
///
/// As with [`Reached`](crate::Reached), credentials are requested only now.
#[must_use = "a connection that nobody binds over is closed"]
pub struct TcpReached {
    target: Target,
    options: Options,
    stream: BoxStream,
    place: String,
    bytes: ByteCounter,
    stages: Vec<StageReport>,
}

impl TcpReached {
    /// Finds `target` and connects to its port, all by `deadline`.
    ///
    /// # Errors
    /// From the stages dns and tcp.
    pub async fn connect(
        target: Target,
        options: Options,
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<Self, SessionError> {
        let mut connecting = Connecting::new(&target, &options, deadline);
        let outcome = connecting.dial(connector).await;
        let (stages, bytes) = connecting.finish();
        match outcome {
            Ok((stream, place)) => Ok(Self { target, options, stream, place, bytes, stages }),
            Err(error) => Err(error.with_stages(stages)),
        }
    }

    /// The same connection, behind stages of an earlier one that led to it.
    pub(crate) fn behind(mut self, earlier: Vec<StageReport>) -> Self {
        self.stages.splice(0..0, earlier);
        self
    }

    /// The stages so far.
    #[must_use]
    pub fn stages(&self) -> &[StageReport] {
        &self.stages
    }

    /// Binds `interfaces` and logs on with `credentials`, so that all calls are sealed. Without credentials the calls have no
    /// protection at all: that is for methods which are made for it, such as [MS-DCOM] 3.1.2.5.1.6 `ServerAlive2`.
    ///
    /// # Errors
    /// From the stage auth, where credentials were given, because the logon is a part of the bind; else from the stage
    /// bind.
    pub async fn bind(
        self,
        service: TcpService,
        credentials: Option<&Credentials>,
        interfaces: &[SyntaxId],
        deadline: Instant,
    ) -> Result<TcpSession, SessionError> {
        let Self { target, options, stream, place, bytes, mut stages } = self;
        let mut connecting = Connecting::new(&target, &options, deadline);
        connecting.count(&bytes);
        let transport = TcpTransport::new(stream);
        let bound = connecting.bind_tcp(transport, service, credentials, interfaces).await;
        stages.extend(connecting.finish().0);
        match bound {
            Ok(association) => Ok(TcpSession { target, service, association, bytes, stages }),
            Err(error) => Err(error.at(&place).with_stages(stages)),
        }
    }
}

impl TcpReached {
    /// As [`bind`](Self::bind), and once more over another connection with NTLM alone where the server does not know SPNEGO.
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect) and [`bind`](Self::bind).
    pub async fn log_on(
        self,
        service: TcpService,
        credentials: &Credentials,
        interfaces: &[SyntaxId],
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<TcpSession, SessionError> {
        let has_password = matches!(credentials, Credentials::Password(_));
        let (target, mechanism) = (self.target.clone(), self.options.mechanism);
        let options = Options { mechanism: Mechanism::Ntlm, ..self.options.clone() };
        match self.bind(service, Some(credentials), interfaces, deadline).await {
            Err(error)
                if error.is_security_unknown() && mechanism == Mechanism::Negotiate && has_password =>
            {
                debug!(%target, "SPNEGO is not known there; trying NTLM alone");
                let reached = Self::connect(target, options, connector, deadline).await?.behind(error.stages);
                reached.bind(service, Some(credentials), interfaces, deadline).await
            }
            bound => bound,
        }
    }
}

/// An association over TCP. It is one connection: what breaks it needs another [`TcpReached::connect`].
pub struct TcpSession {
    target: Target,
    service: TcpService,
    association: Association<TcpTransport>,
    bytes: ByteCounter,
    stages: Vec<StageReport>,
}

impl TcpSession {
    /// One of the interfaces until `deadline`, for typed stubs; see [`Session::channel`](crate::Session::channel).
    pub const fn channel(&mut self, context_id: ContextId, deadline: Instant) -> Interface<'_, TcpTransport> {
        self.association.channel(context_id, deadline)
    }

    /// Binds one more interface on the same connection, without another logon.
    ///
    /// # Errors
    /// If the host does not have it, or the connection is lost.
    pub async fn add_interface(
        &mut self,
        interface: SyntaxId,
        deadline: Instant,
    ) -> Result<ContextId, SessionError> {
        let added = self.association.alter_context(interface, deadline).await;
        added.map_err(|error| SessionError::of_rpc(&self.target, self.service.stopped, &error))
    }

    /// The host's answer about each of the interfaces.
    #[must_use]
    pub fn contexts(&self) -> &[PresentationContext] {
        self.association.contexts()
    }

    /// Whether another call can succeed. A call that was dropped or timed out makes it false for good.
    #[must_use]
    pub const fn is_usable(&self) -> bool {
        self.association.is_usable()
    }

    /// The error of a call without an answer, or with a fault. The message begins with `method`.
    #[must_use]
    pub fn error_of_call(&self, method: &dyn fmt::Display, error: &crate::rpc_client::Error) -> SessionError {
        SessionError::of_call_to(&self.target, self.service.stopped, method, error)
    }

    /// The error of a method of the run time's own interfaces, such as the endpoint mapper. `stage` is that of an answer
    /// without a result.
    #[must_use]
    pub fn error_of_method(
        &self,
        stage: Stage,
        error: &rpc::Error<crate::rpc_client::Error, ErrorStatus>,
    ) -> SessionError {
        let reason = match error {
            rpc::Error::Call { method, source } => return self.error_of_call(method, source),
            rpc::Error::Status { status: ErrorStatus::ACCESS_DENIED, .. } => Reason::AccessDenied,
            rpc::Error::Status { .. } => Reason::ServerFault,
            rpc::Error::Stub { .. } => Reason::MalformedReply,
            rpc::Error::Request { .. } => Reason::Internal,
        };
        SessionError::of_answer(&self.target, stage, reason, error)
    }

    /// The stages of [`TcpReached::connect`] and [`TcpReached::bind`].
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

    /// Which host and port.
    #[must_use]
    pub const fn target(&self) -> &Target {
        &self.target
    }
}

impl fmt::Debug for TcpSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TcpSession")
            .field("target", &self.target)
            .field("association", &self.association)
            .finish_non_exhaustive()
    }
}
