use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use dcerpc::SyntaxId;
use ms_dtyp::NtStatus;
use rpc_client::{Association, NamedPipe, Security, SharedSmbConnection, SmbConnection};
use ssp::Credentials;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::debug;
use transport::{BoxStream, ByteCounter, Connector, Counted};

use crate::error::is_service_stopped;
use crate::stages::StageTimer;
use crate::{HostInfo, Options, Reason, Session, SessionError, Stage, StageReport, Target};

/// A host that answered and agreed on how to speak SMB, and does not know yet who we are.
///
/// Secrets are needed from here on, and not before: a host that does not answer never holds up who else needs them.
#[must_use = "a connection that nobody logs on to is closed"]
pub struct Reached {
    target: Target,
    options: Options,
    smb: SmbConnection,
    bytes: ByteCounter,
    stages: Vec<StageReport>,
}

/// A host that let us in.
#[must_use = "a logon without a session is closed"]
pub struct LoggedOn {
    reached: Reached,
    credentials: Credentials,
    host: HostInfo,
}

impl Reached {
    /// Finds `target`, connects, and negotiates SMB, all by `deadline`.
    ///
    /// # Errors
    /// From the stages dns, tcp and smb.
    pub async fn connect(
        target: Target,
        options: Options,
        connector: &dyn Connector,
        deadline: Instant,
    ) -> Result<Self, SessionError> {
        let mut connecting = Connecting::new(&target, &options, deadline);
        let outcome = connecting.reach(connector).await;
        let (stages, bytes) = connecting.finish();
        match outcome {
            Ok(smb) => Ok(Self { target, options, smb, bytes, stages }),
            Err(error) => Err(error.with_stages(stages)),
        }
    }

    /// What the stages so far took.
    #[must_use]
    pub fn stages(&self) -> &[StageReport] {
        &self.stages
    }

    /// Proves who we are.
    ///
    /// # Errors
    /// From the stage auth; [`SessionError::verdict`] says what they mean for the credentials.
    pub async fn log_on(
        mut self,
        credentials: Credentials,
        deadline: Instant,
    ) -> Result<LoggedOn, SessionError> {
        let mut connecting = Connecting::new(&self.target, &self.options, deadline);
        connecting.count(&self.bytes);
        let outcome = connecting.authenticate(&mut self.smb, &credentials).await;
        self.stages.extend(connecting.finish().0);
        match outcome {
            Ok(host) => Ok(LoggedOn { reached: self, credentials, host }),
            Err(error) => Err(error.with_stages(self.stages)),
        }
    }
}

impl LoggedOn {
    /// Opens the pipe and binds the interface. The credentials are shown once more, in RPC.
    ///
    /// # Errors
    /// From the stages pipe and bind.
    pub async fn open(self, deadline: Instant) -> Result<Session, SessionError> {
        let Self { reached, credentials, host } = self;
        let Reached { target, options, mut smb, bytes, mut stages } = reached;
        let mut connecting = Connecting::new(&target, &options, deadline);
        connecting.count(&bytes);
        let opened = match connecting.connect_ipc(&mut smb).await {
            Ok(()) => {
                let connection = Arc::new(Mutex::new(smb));
                connecting.open(&connection, &credentials).await.map(|association| (connection, association))
            }
            Err(error) => Err(error),
        };
        stages.extend(connecting.finish().0);
        match opened {
            Ok((connection, association)) => {
                Ok(Session { target, credentials, options, connection, association, bytes, host, stages })
            }
            Err(error) => Err(error.with_stages(stages)),
        }
    }
}

/// One way from a name to a bound interface, which notes what each stage takes.
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

    /// Counts the bytes of a connection that is there already.
    pub(crate) fn count(&mut self, bytes: &ByteCounter) {
        self.bytes = bytes.clone();
    }

    /// The stages, where one that failed is the last.
    pub(crate) fn finish(self) -> (Vec<StageReport>, ByteCounter) {
        (self.reports, self.bytes)
    }

    /// The stages dns, tcp and smb.
    async fn reach(&mut self, connector: &dyn Connector) -> Result<SmbConnection, SessionError> {
        let (stream, place) = self.dial(connector).await?;
        self.negotiate(stream).await.map_err(|error| error.at(&place))
    }

    /// The stage auth.
    async fn authenticate(
        &mut self,
        smb: &mut SmbConnection,
        credentials: &Credentials,
    ) -> Result<HostInfo, SessionError> {
        self.begin(Stage::Auth, smb.requests());
        let outcome = smb.authenticate(credentials.clone(), self.deadline).await;
        self.end(smb.requests());
        self.check(outcome)?;
        self.host_info(smb)
    }

    /// The share behind which the pipe is.
    async fn connect_ipc(&mut self, smb: &mut SmbConnection) -> Result<(), SessionError> {
        self.begin(Stage::Pipe, smb.requests());
        let outcome = smb.connect_ipc(self.deadline).await;
        if outcome.is_err() {
            self.end(smb.requests());
        }
        self.check(outcome)
    }

    /// The stages pipe and bind, for the performance counters' interface.
    pub(crate) async fn open(
        &mut self,
        connection: &SharedSmbConnection,
        credentials: &Credentials,
    ) -> Result<Association<NamedPipe>, SessionError> {
        self.open_interface(connection, credentials, ms_pcq::SYNTAX_ID).await
    }

    /// The stages pipe and bind, for any interface behind the pipe.
    pub(crate) async fn open_interface(
        &mut self,
        connection: &SharedSmbConnection,
        credentials: &Credentials,
        interface: SyntaxId,
    ) -> Result<Association<NamedPipe>, SessionError> {
        if self.running.is_none() {
            let requests = self.requests(connection, 0).await;
            self.begin(Stage::Pipe, requests);
        }
        let outcome = self.open_pipe(connection).await;
        let before = self.running.as_ref().map_or(0, StageTimer::calls_before);
        let requests = self.requests(connection, before).await;
        self.end(requests);
        let pipe = outcome?;
        self.begin(Stage::Bind, requests);
        let security = Security {
            mechanism: self.options.mechanism,
            ..Security::sealed(credentials.clone(), format!("cifs/{}", self.target.host))
        };
        let config = self.options.rpc.clone();
        let outcome = Association::bind(pipe, &[interface], Some(&security), config, self.deadline).await;
        let requests = self.requests(connection, requests).await;
        self.end(requests);
        self.check(outcome)
    }

    /// Requests made on `connection` so far, or `otherwise` where somebody else is still busy with it at the deadline:
    /// a count is nothing to wait for longer.
    async fn requests(&self, connection: &SharedSmbConnection, otherwise: u64) -> u64 {
        timeout_at(self.deadline, connection.lock()).await.map_or(otherwise, |smb| smb.requests())
    }

    /// The stream, and where it leads, for people.
    async fn dial(&mut self, connector: &dyn Connector) -> Result<(BoxStream, String), SessionError> {
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
