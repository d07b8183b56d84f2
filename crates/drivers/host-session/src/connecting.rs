use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use dcerpc::{AssociationInfo, Observer, Role, SyntaxId, Transport};
use ssp::{Credentials, Mechanism};
use tokio::time::{Instant, sleep, timeout_at};
use tracing::debug;
use transport::{BoxStream, ByteCounter, Connector, Counted};
use wire::NtStatus;

use crate::classify::is_service_stopped;
use crate::rpc_client::{Association, NamedPipe, Security, SharedSmbConnection, SmbConnection, TcpTransport};
use crate::stages::StageTimer;
use crate::{
    Endpoint, HostInfo, Options, Reason, Recovery, SessionError, Stage, StageReport, Target, TcpService,
};

/// One connection attempt, from a name to bound interfaces, with the time of each stage.
pub(crate) struct Connecting<'a> {
    target: &'a Target,
    options: &'a Options,
    deadline: Instant,
    bytes: ByteCounter,
    running: Option<StageTimer>,
    reports: Vec<StageReport>,
}

impl<'a> Connecting<'a> {
    pub(crate) fn new(target: &'a Target, options: &'a Options, deadline: Instant) -> Self {
        let bytes = ByteCounter::default();
        Self { target, options, deadline, bytes, running: None, reports: Vec::new() }
    }

    /// Counts the bytes of an existing connection.
    pub(crate) fn count(&mut self, bytes: &ByteCounter) {
        self.bytes = bytes.clone();
    }

    /// The stages; a failed one is the last.
    pub(crate) fn finish(self) -> (Vec<StageReport>, ByteCounter) {
        (self.reports, self.bytes)
    }

    /// The stages dns, tcp and smb.
    pub(crate) async fn reach(&mut self, connector: &dyn Connector) -> Result<SmbConnection, SessionError> {
        let (stream, place) = self.dial(connector).await?;
        self.negotiate(stream).await.map_err(|error| error.at(&place))
    }

    pub(crate) async fn authenticate(
        &mut self,
        smb: &mut SmbConnection,
        credentials: &Credentials,
    ) -> Result<HostInfo, SessionError> {
        self.begin(Stage::Auth, smb.requests());
        let outcome = smb.authenticate(credentials.clone(), self.deadline).await;
        self.end(smb.requests());
        self.check(outcome).map_err(|error| error.of_credentials(credentials))?;
        self.host_info(smb)
    }

    /// Connects the share of the pipe.
    pub(crate) async fn connect_ipc(&mut self, smb: &mut SmbConnection) -> Result<(), SessionError> {
        self.begin(Stage::Pipe, smb.requests());
        let outcome = smb.connect_ipc(self.deadline).await;
        if outcome.is_err() {
            self.end(smb.requests());
        }
        self.check(outcome)
    }

    /// The stages pipe and bind.
    pub(crate) async fn open(
        &mut self,
        connection: &SharedSmbConnection,
        credentials: &Credentials,
        endpoint: Endpoint,
        interfaces: &[SyntaxId],
    ) -> Result<Association<NamedPipe>, SessionError> {
        if self.running.is_none() {
            let requests = self.requests(connection, 0).await;
            self.begin(Stage::Pipe, requests);
        }
        let outcome = self.open_pipe(connection, endpoint).await;
        let before = self.running.as_ref().map_or(0, StageTimer::calls_before);
        let requests = self.requests(connection, before).await;
        self.end(requests);
        let pipe = outcome.map_err(|error| error.of_pipe(credentials))?;
        self.begin(Stage::Bind, requests);
        let security = self.security("cifs", credentials);
        let config = self.options.rpc.clone();
        let Endpoint::NamedPipe { name, .. } = endpoint;
        let observer = self.observer(Transport::NamedPipe, &format!(r"\PIPE\{name}"));
        let bound =
            Association::bind_observed(pipe, interfaces, Some(&security), config, observer, self.deadline);
        let outcome = bound.await;
        let requests = self.requests(connection, requests).await;
        self.end(requests);
        let failed = |error| SessionError::of_rpc(self.target, endpoint.stopped(), &error);
        outcome.map_err(|error| failed(error).of_pipe(credentials))
    }

    /// The stage auth with credentials, else bind.
    pub(crate) async fn bind_tcp(
        &mut self,
        transport: TcpTransport,
        service: TcpService,
        credentials: Option<&Credentials>,
        interfaces: &[SyntaxId],
    ) -> Result<Association<TcpTransport>, SessionError> {
        let stage = if credentials.is_some() { Stage::Auth } else { Stage::Bind };
        self.begin(stage, 0);
        let security = credentials.map(|credentials| self.security(service.class, credentials));
        let config = self.options.rpc.clone();
        let observer = self.observer(Transport::Tcp, &self.target.port.to_string());
        let asks_again = security.as_ref().is_some_and(|security| security.mechanism == Mechanism::Ntlm);
        let bound = Association::bind_observed(
            transport,
            interfaces,
            security.as_ref(),
            config,
            observer,
            self.deadline,
        );
        let mut outcome = bound.await;
        // The last message of NTLM alone has no answer: whether the password is right, the next one tells.
        if asks_again && let Ok(association) = &mut outcome {
            let bound = association.contexts().iter().find(|context| context.outcome.is_ok());
            let interface = bound.map(|context| context.interface);
            if let Some(interface) = interface
                && let Err(error) = association.alter_context(interface, self.deadline).await
            {
                outcome = Err(error);
            }
        }
        self.end(1);
        outcome.map_err(|error| {
            let error = SessionError::of_bind(self.target, stage, service.stopped, &error);
            match credentials {
                Some(credentials) => error.of_credentials(credentials),
                None => error,
            }
        })
    }

    fn observer(&self, transport: Transport, endpoint: &str) -> Arc<dyn Observer> {
        let server = &self.target.host;
        self.options.observers.association(&AssociationInfo {
            role: Role::Client,
            transport,
            server,
            endpoint,
            peer: None,
        })
    }

    /// Sealed calls to a service of the host.
    fn security(&self, class: &str, credentials: &Credentials) -> Security {
        let server_name = self.options.server_name.as_ref().unwrap_or(&self.target.host);
        Security {
            mechanism: self.options.mechanism,
            impersonation: self.options.impersonation,
            ..Security::sealed(credentials.clone(), format!("{class}/{server_name}"))
        }
    }

    /// The number of requests made on `connection` so far, or `otherwise` if the connection is still in use at the
    /// deadline: a count is not worth waiting longer.
    async fn requests(&self, connection: &SharedSmbConnection, otherwise: u64) -> u64 {
        timeout_at(self.deadline, connection.lock()).await.map_or(otherwise, |smb| smb.requests())
    }

    /// The stream, and its address for messages.
    pub(crate) async fn dial(
        &mut self,
        connector: &dyn Connector,
    ) -> Result<(BoxStream, String), SessionError> {
        let failed = |error| SessionError::of_connect(&error);
        self.begin(Stage::Dns, 0);
        let addresses = connector.resolve(self.target, self.stage_deadline()).await;
        self.end(0);
        let addresses = addresses.map_err(failed)?;
        self.begin(Stage::Tcp, 0);
        let stream = connector.connect_to(self.target, &addresses, self.stage_deadline()).await;
        self.end(0);
        let counted = Counted::new(stream.map_err(failed)?);
        self.bytes = counted.counter();
        let addresses: Vec<IpAddr> = addresses.iter().map(SocketAddr::ip).collect();
        Ok((Box::new(counted), self.target.with_addresses(&addresses)))
    }

    async fn negotiate(&mut self, stream: BoxStream) -> Result<SmbConnection, SessionError> {
        self.begin(Stage::Smb, 0);
        let options = self.options.smb.clone();
        let outcome = SmbConnection::negotiate(stream, &self.target.host, options, self.deadline).await;
        self.end(1);
        self.check(outcome)
    }

    /// Opens the pipe. If that starts the service after it, waits for the service.
    async fn open_pipe(
        &self,
        connection: &SharedSmbConnection,
        endpoint: Endpoint,
    ) -> Result<NamedPipe, SessionError> {
        let Endpoint::NamedPipe { name, .. } = endpoint;
        let retry = self.options.pipe_retry;
        let mut attempt = 1;
        loop {
            let error = match NamedPipe::open(connection, name, self.deadline).await {
                Ok(pipe) => return Ok(pipe),
                Err(error) => error,
            };
            let may_change = matches!(&error, crate::rpc_client::Error::Status { status, .. }
                if is_service_stopped(*status) || *status == NtStatus::STATUS_PIPE_BUSY);
            let in_time = Instant::now() + retry.pause < self.deadline;
            if !(may_change && in_time && attempt < retry.attempts_max) {
                debug!(target = %self.target, pipe = name, attempt, %error, "Pipe not opened");
                return Err(SessionError::of_rpc(self.target, endpoint.stopped(), &error));
            }
            attempt += 1;
            sleep(retry.pause).await;
        }
    }

    fn host_info(&self, smb: &SmbConnection) -> Result<HostInfo, SessionError> {
        let names = smb.peer().server.clone().unwrap_or_default();
        match smb.negotiated() {
            Some(negotiated) => Ok(HostInfo::new(negotiated, smb.is_encrypted(), names)),
            None => {
                let (stage, reason) = (Stage::Smb, Reason::Internal);
                Err(SessionError::new(
                    self.target,
                    stage,
                    reason,
                    Recovery::Connection,
                    "nothing was negotiated",
                ))
            }
        }
    }

    fn stage_deadline(&self) -> Instant {
        self.deadline.min(Instant::now() + self.options.connect_timeout)
    }

    fn check<T>(&self, outcome: Result<T, crate::rpc_client::Error>) -> Result<T, SessionError> {
        outcome.map_err(|error| SessionError::of_rpc(self.target, Reason::NotFound, &error))
    }

    fn begin(&mut self, stage: Stage, calls: u64) {
        self.running = Some(StageTimer::start(stage, &self.bytes, calls));
    }

    fn end(&mut self, calls: u64) {
        self.reports.extend(self.running.take().map(|timer| timer.stop(calls)));
    }
}
