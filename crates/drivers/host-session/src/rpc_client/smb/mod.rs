//! One SMB connection with one session, driven by its caller.

mod connection;
mod request;

use std::sync::OnceLock;

use ms_smb2::Dialect;
use ms_smb2::client::{ClientConfig, ClientLimits, Encryption, Event, FileId, Reply, RequestId};
use ssp::{ClientOptions, Credentials, Mechanism, SecurityContext, Step, Usage};
use tokio::time::{Instant, timeout_at};
use tracing::{debug, trace, warn};
use wire::{Guid, NtStatus};

pub(crate) use self::connection::{DroppedPipes, unexpected};
pub use self::connection::{SharedSmbConnection, SmbConnection};

use self::connection::State;
use super::{Error, Operation, logon};

/// What a call waits for.
#[derive(Clone, Copy, Debug)]
enum Awaited {
    Request(RequestId),
    /// The READs of a pipe.
    Reads(FileId),
}

/// A READ that was sent and whose answer its pipe has not taken yet.
#[derive(Debug)]
struct PipeRead {
    request: RequestId,
    file: FileId,
    /// It was cancelled because the reply ended before it. It may still return data of the next reply.
    is_surplus: bool,
    outcome: Option<Outcome>,
}

/// The outcome of a READ.
#[derive(Debug)]
enum Outcome {
    Answered(Result<Reply, NtStatus>),
    /// The session had expired: nothing was read.
    Expired,
}

#[derive(Clone, Debug)]
pub struct SmbOptions {
    /// Whether messages are encrypted.
    pub encryption: Encryption,
    pub dialects: Vec<Dialect>,
    /// Limits on the server's messages.
    pub limits: ClientLimits,
    /// Maximum legs of one authentication.
    pub auth_legs_max: usize,
    /// Maximum repetitions of one request because the session had expired.
    pub reauthentications_max: usize,
}

impl Default for SmbOptions {
    fn default() -> Self {
        Self {
            encryption: Encryption::default(),
            dialects: Dialect::ALL.to_vec(),
            limits: ClientLimits::default(),
            auth_legs_max: 8,
            reauthentications_max: 2,
        }
    }
}

impl SmbOptions {
    pub(crate) fn client_config(&self, server_name: &str) -> ClientConfig {
        let mut config = ClientConfig::new(process_guid(), random());
        config.encryption = self.encryption;
        config.dialects.clone_from(&self.dialects);
        config.limits = self.limits;
        config.netname = Some(server_name.to_owned());
        config
    }
}

/// [MS-SMB2] 3.2.1.1 `ClientGuid`: one for the life of the process.
fn process_guid() -> Guid {
    static GUID: OnceLock<Guid> = OnceLock::new();
    *GUID.get_or_init(|| Guid::from_bytes(random()))
}

/// Random bytes of the system.
///
/// The salt only makes the hashes of negotiations differ, and the keys do not depend on it. So a system without
/// randomness causes only a warning.
fn random<const LEN: usize>() -> [u8; LEN] {
    let mut bytes = [0; LEN];
    if let Err(error) = getrandom::fill(&mut bytes) {
        warn!(%error, "System has no random bytes");
    }
    bytes
}

const AUTHENTICATE: Operation = Operation::Authenticate;

impl SmbConnection {
    /// Authenticates to the server by SPNEGO. One attempt: a wrong password is sent once.
    ///
    /// The credentials stay with the connection, because a server may request them again at any time
    /// (`STATUS_NETWORK_SESSION_EXPIRED`).
    ///
    /// # Errors [`Error::Status`] with the server's reason if it refuses; the connection is then unusable.
    pub async fn authenticate(&mut self, credentials: Credentials, deadline: Instant) -> Result<(), Error> {
        if self.state != State::Negotiated {
            return Err(self.unusable(AUTHENTICATE));
        }
        self.credentials = Some(credentials);
        match timeout_at(deadline, self.exchange_tokens()).await {
            Ok(outcome) => outcome,
            Err(_) => Err(self.timed_out(AUTHENTICATE)),
        }
    }

    /// One authentication, the first one or a later one. If it is dropped, the connection becomes unusable.
    async fn exchange_tokens(&mut self) -> Result<(), Error> {
        self.state = State::Authenticating;
        let outcome = self.run_context().await;
        self.state = match &outcome {
            Ok(()) => State::Ready,
            Err(error) => State::Broken(error.kind()),
        };
        outcome
    }

    /// The deadline has passed, which ends a connection that is authenticating.
    fn timed_out(&mut self, operation: Operation) -> Error {
        let error = Error::Timeout { operation };
        if self.state == State::Authenticating {
            self.state = State::Broken(error.kind());
        }
        error
    }

    async fn run_context(&mut self) -> Result<(), Error> {
        let security_failed = |source| Error::Security { operation: AUTHENTICATE, source };
        let smb_failed = |source| Error::Smb { operation: AUTHENTICATE, source };
        let credentials = self.credentials.clone().ok_or(protocol("there are no credentials"))?;
        let options = ClientOptions::new(Mechanism::Negotiate, self.target_name.as_str(), Usage::Smb);
        let mut context = logon::begin(&credentials, options).await.map_err(security_failed)?;
        let mut token = Vec::new();
        for _leg in 0..self.options.auth_legs_max {
            let (Step::Continue(ours) | Step::Done(Some(ours))) =
                context.step(&token).map_err(security_failed)?
            else {
                return Err(protocol("the server waits for a token, and there is none to send"));
            };
            self.peer = context.peer();
            self.smb.session_setup(&ours).map_err(smb_failed)?;
            self.count_request();
            let (theirs, more) = self.answer().await?;
            if more {
                token = theirs;
                continue;
            }
            finish(&mut *context, &theirs)?;
            let key = context.session_key().map_err(security_failed)?;
            return self.smb.complete_session(key.full()).map_err(smb_failed);
        }
        Err(protocol("the exchange of tokens does not end"))
    }

    /// The server's token, and whether it expects another one from us.
    async fn answer(&mut self) -> Result<(Vec<u8>, bool), Error> {
        loop {
            match self.event(AUTHENTICATE).await? {
                Event::SessionSetup { token, more } => return Ok((token, more)),
                Event::SessionRefused { status } => return Err(self.refused(status)),
                // Answers to requests that were in flight when the session expired.
                Event::Pending { .. } | Event::Completed { .. } | Event::SessionExpired { .. } => {}
                _ => return Err(unexpected(AUTHENTICATE)),
            }
        }
    }

    /// [MS-SMB2] 3.3.5.5: a server that requires encryption denies access to clients without it, before it knows
    /// the user.
    fn refused(&self, status: NtStatus) -> Error {
        let has_encryption = self.negotiated().is_some_and(|negotiated| negotiated.cipher.is_some());
        if status == NtStatus::STATUS_ACCESS_DENIED && !has_encryption {
            Error::Smb { operation: AUTHENTICATE, source: ms_smb2::Error::EncryptionDisabled }
        } else {
            Error::Status { operation: AUTHENTICATE, status }
        }
    }
}

/// The server has accepted us. If the context expects another token, it must accept the server's last one, too.
fn finish(context: &mut dyn SecurityContext, token: &[u8]) -> Result<(), Error> {
    if context.session_key().is_ok() {
        return Ok(());
    }
    match context.step(token) {
        Ok(Step::Done(None)) => Ok(()),
        Ok(_) => Err(protocol("the server admitted us before the exchange of tokens was over")),
        Err(source) => Err(Error::Security { operation: AUTHENTICATE, source }),
    }
}

const fn protocol(reason: &'static str) -> Error {
    Error::Protocol { operation: AUTHENTICATE, reason }
}

// READs of pipes, of which several may be in flight.

impl SmbConnection {
    /// The result of the oldest READ of a pipe. First sends READs until `wanted` of them are in flight, as far as
    /// the server's credits allow; at least one.
    pub(crate) async fn read(
        &mut self,
        file: FileId,
        wanted: usize,
        operation: Operation,
        deadline: Instant,
    ) -> Result<Vec<u8>, Error> {
        self.forget_abandoned(operation)?;
        self.awaited = Some(Awaited::Reads(file));
        match timeout_at(deadline, self.oldest_read(file, wanted, operation)).await {
            Ok(Ok(data)) => {
                self.awaited = None;
                Ok(data)
            }
            outcome => {
                self.cancel_now(operation).await;
                outcome.unwrap_or_else(|_passed| Err(self.timed_out(operation)))
            }
        }
    }

    /// The number of READs of a pipe whose results were not read.
    pub(crate) fn reads_in_flight(&self, file: FileId) -> usize {
        self.reads.iter().filter(|read| read.file == file).count()
    }

    /// Cancels the READs of a pipe whose reply is complete. The server may answer them late or never.
    pub(crate) async fn cancel_surplus(&mut self, file: FileId) {
        for read in self.reads.iter_mut().filter(|read| read.file == file) {
            read.is_surplus = true;
            if let Err(error) = self.smb.cancel(read.request) {
                debug!(%error, "READ was not cancelled");
            }
        }
        self.flush_now().await;
    }

    /// Cancels the READs of a pipe that is not used any more.
    fn abandon_reads(&mut self, file: FileId) {
        for read in self.reads.extract_if(.., |read| read.file == file) {
            if let Err(error) = self.smb.cancel(read.request) {
                debug!(%error, "Abandoned READ was not cancelled");
            }
        }
    }

    /// The READs of a pipe that is being closed.
    pub(crate) fn forget_reads(&mut self, file: FileId) {
        self.reads.retain(|read| read.file != file);
    }

    /// Keeps the result of a READ for its pipe; returns every other event.
    fn keep_read(&mut self, event: Event) -> Option<Event> {
        let request = match &event {
            Event::Completed { request, .. } | Event::SessionExpired { request } => *request,
            _ => return Some(event),
        };
        let Some(read) = self.reads.iter_mut().find(|read| read.request == request) else {
            return Some(event);
        };
        read.outcome = Some(match event {
            Event::Completed { result, .. } => Outcome::Answered(result),
            _ => Outcome::Expired,
        });
        None
    }

    async fn oldest_read(
        &mut self,
        file: FileId,
        wanted: usize,
        operation: Operation,
    ) -> Result<Vec<u8>, Error> {
        let mut repeated = 0;
        loop {
            self.issue_reads(file, wanted, operation)?;
            let Some(outcome) = self.take_oldest(file) else {
                self.progress(operation).await?;
                continue;
            };
            match outcome {
                (Outcome::Answered(Ok(Reply::Read { data, .. })), _) => return Ok(data),
                (Outcome::Answered(Ok(_)), _) => return Err(unexpected(operation)),
                (Outcome::Answered(Err(NtStatus::STATUS_CANCELLED)) | Outcome::Expired, true) => {}
                (Outcome::Answered(Err(status)), _) => return Err(self.refused_by(status, operation)),
                (Outcome::Expired, false) => {
                    self.drop_expired_reads(file, operation).await?;
                    self.authenticate_again(operation, &mut repeated).await?;
                }
            }
        }
    }

    fn issue_reads(&mut self, file: FileId, wanted: usize, operation: Operation) -> Result<(), Error> {
        let mut in_flight = self.reads_in_flight(file);
        while in_flight == 0 || (in_flight < wanted && self.smb.spare_requests() > 0) {
            let request =
                self.smb.read(file, READ_BYTES_MAX).map_err(|source| Error::Smb { operation, source })?;
            self.reads.push(PipeRead { request, file, is_surplus: false, outcome: None });
            self.count_request();
            in_flight += 1;
        }
        Ok(())
    }

    /// The outcome of the oldest READ of a pipe, if it was answered, and whether it was surplus.
    fn take_oldest(&mut self, file: FileId) -> Option<(Outcome, bool)> {
        let at = self.reads.iter().position(|read| read.file == file)?;
        let outcome = self.reads[at].outcome.take()?;
        Some((outcome, self.reads.remove(at).is_surplus))
    }

    /// A server refuses all requests that were sent after a session expired. Those READs got no data from the pipe,
    /// so dropping them keeps the order of the others.
    async fn drop_expired_reads(&mut self, file: FileId, operation: Operation) -> Result<(), Error> {
        while self.reads.iter().any(|read| read.file == file && read.outcome.is_none()) {
            self.progress(operation).await?;
        }
        self.reads.retain(|read| read.file != file || !matches!(read.outcome, Some(Outcome::Expired)));
        Ok(())
    }

    /// Reads and writes until the next event of any kind.
    async fn progress(&mut self, operation: Operation) -> Result<(), Error> {
        match self.any_event(operation).await? {
            None => {}
            Some(Event::Completed { result: Ok(Reply::Created(file)), .. }) => self.drop_pipe(file),
            Some(other) => trace!(?other, "Late or interim answer ignored"),
        }
        Ok(())
    }
}

/// Fits any fragment ([MS-RPCE] limits one to 65,535 bytes) and costs one credit.
pub(crate) const READ_BYTES_MAX: u32 = 64 * 1024;
