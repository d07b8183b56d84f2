use std::sync::Arc;

use dcerpc::SyntaxId;
use ms_dtyp::NtStatus;
use rpc_client::{Association, NamedPipe, Security, SharedSmbConnection, SmbConnection};
use ssp::Credentials;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};
use tracing::debug;
use transport::{BoxStream, ByteCounter, Connector, Counted};

use crate::error::is_service_stopped;
use crate::stages::StageTimer;
use crate::{HostInfo, Options, Reason, SessionError, Stage, StageReport, Target};

/// One way from a name to a bound interface, which notes what each stage takes.
pub(crate) struct Connecting<'a> {
    target: &'a Target,
    options: &'a Options,
    deadline: Instant,
    bytes: ByteCounter,
    running: Option<StageTimer>,
    reports: Vec<StageReport>,
}

pub(crate) struct Connected {
    pub(crate) connection: SharedSmbConnection,
    pub(crate) association: Association<NamedPipe>,
    pub(crate) host: HostInfo,
}

impl<'a> Connecting<'a> {
    pub(crate) fn new(target: &'a Target, options: &'a Options, deadline: Instant) -> Self {
        let bytes = ByteCounter::default();
        Self { target, options, deadline, bytes, running: None, reports: Vec::new() }
    }

    /// Counts the bytes of a connection that is there already.
    pub(crate) fn count(&mut self, bytes: &ByteCounter) {
        self.bytes = bytes.clone();
    }

    /// The stages, where one that failed is the last.
    pub(crate) fn finish(self) -> (Vec<StageReport>, ByteCounter) {
        (self.reports, self.bytes)
    }

    pub(crate) async fn run(
        &mut self,
        credentials: &Credentials,
        connector: &dyn Connector,
    ) -> Result<Connected, SessionError> {
        let stream = self.dial(connector).await?;
        let mut smb = self.negotiate(stream).await?;
        self.begin(Stage::Auth, smb.requests());
        let outcome = smb.authenticate(credentials.clone(), self.deadline).await;
        self.end(smb.requests());
        self.check(outcome)?;
        let host = self.host_info(&smb)?;
        self.begin(Stage::Pipe, smb.requests());
        if let Err(error) = smb.connect_ipc(self.deadline).await {
            self.end(smb.requests());
            return self.check(Err(error));
        }
        let connection = Arc::new(Mutex::new(smb));
        let association = self.open(&connection, credentials).await?;
        Ok(Connected { connection, association, host })
    }

    /// The stages pipe and bind.
    pub(crate) async fn open(
        &mut self,
        connection: &SharedSmbConnection,
        credentials: &Credentials,
    ) -> Result<Association<NamedPipe>, SessionError> {
        if self.running.is_none() {
            let requests = connection.lock().await.requests();
            self.begin(Stage::Pipe, requests);
        }
        let outcome = self.open_pipe(connection).await;
        let requests = connection.lock().await.requests();
        self.end(requests);
        let pipe = outcome?;
        self.begin(Stage::Bind, requests);
        let security = Security {
            mechanism: self.options.mechanism,
            ..Security::sealed(credentials.clone(), format!("cifs/{}", self.target.host))
        };
        let interfaces: [SyntaxId; 1] = [ms_pcq::SYNTAX_ID];
        let config = self.options.rpc.clone();
        let outcome = Association::bind(pipe, &interfaces, Some(&security), config, self.deadline).await;
        let requests = connection.lock().await.requests();
        self.end(requests);
        self.check(outcome)
    }

    async fn dial(&mut self, connector: &dyn Connector) -> Result<BoxStream, SessionError> {
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
        Ok(Box::new(counted))
    }

    async fn negotiate(&mut self, stream: BoxStream) -> Result<SmbConnection, SessionError> {
        self.begin(Stage::Smb, 0);
        let options = self.options.smb.clone();
        let outcome = SmbConnection::negotiate(stream, &self.target.host, options, self.deadline).await;
        self.end(1);
        self.check(outcome)
    }

    /// Opens the pipe, and waits for the service behind it where opening the pipe is what starts it.
    async fn open_pipe(&self, connection: &SharedSmbConnection) -> Result<NamedPipe, SessionError> {
        let retry = self.options.pipe_retry;
        let mut attempt = 1;
        loop {
            let error = match NamedPipe::open(connection, WINREG, self.deadline).await {
                Ok(pipe) => return Ok(pipe),
                Err(error) => error,
            };
            let may_change = matches!(&error, rpc_client::Error::Status { status, .. }
                if is_service_stopped(*status) || *status == NtStatus::STATUS_PIPE_BUSY);
            let in_time = Instant::now() + retry.pause < self.deadline;
            if !(may_change && in_time && attempt < retry.attempts_max) {
                debug!(target = %self.target, attempt, %error, "Pipe not opened");
                return Err(SessionError::of_rpc(self.target, &error));
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
                Err(SessionError::new(self.target, Stage::Smb, Reason::Internal, "nothing was negotiated"))
            }
        }
    }

    fn stage_deadline(&self) -> Instant {
        self.deadline.min(Instant::now() + self.options.connect_timeout)
    }

    fn check<T>(&self, outcome: Result<T, rpc_client::Error>) -> Result<T, SessionError> {
        outcome.map_err(|error| SessionError::of_rpc(self.target, &error))
    }

    fn begin(&mut self, stage: Stage, calls: u64) {
        self.running = Some(StageTimer::start(stage, &self.bytes, calls));
    }

    fn end(&mut self, calls: u64) {
        self.reports.extend(self.running.take().map(|timer| timer.stop(calls)));
    }
}

/// [MS-PCQ] 2.1: the pipe of the remote registry, as SMB names it.
const WINREG: &str = "winreg";
