use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use ssp::{Mechanism, SecurityContext, Step, Usage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};
use tracing::debug;
use transport::Stream;
use wire::NtStatus;

use super::association::Association;
use super::{Reply, Then, accept};
use crate::host::WindowsHost;
use crate::smb::{AuthReply, FileId, ServerConfig, ServerConnection, ServerEvent, SessionId};

/// Serves one SMB connection until its client goes, it is idle for `idle_max`, or it breaks the protocol.
///
/// # Errors
/// When the stream fails. What a client does wrong ends the connection and is no error.
pub async fn serve_smb<S: Stream>(host: Arc<WindowsHost>, stream: S, idle_max: Duration) -> io::Result<()> {
    serve_smb_of(host, None, stream, idle_max).await
}

/// The same for a client at this address.
pub(super) async fn serve_smb_of<S: Stream>(
    host: Arc<WindowsHost>,
    peer: Option<IpAddr>,
    mut stream: S,
    idle_max: Duration,
) -> io::Result<()> {
    if host.behaviour().dialects.is_empty() {
        return serve_smb1_only(stream).await;
    }
    let mut connection = Connection::new(host, peer);
    let mut buffer = vec![0; READ_BYTES];
    let mut idle_at = Instant::now() + idle_max;
    loop {
        connection.answer();
        connection.send_due(Instant::now());
        while let Some(frame) = connection.smb.poll_transmit() {
            stream.write_all(&frame).await?;
        }
        if connection.is_over {
            return stream.shutdown().await;
        }
        let wake_at = connection.next_due().map_or(idle_at, |due| due.min(idle_at));
        tokio::select! {
            received = stream.read(&mut buffer) => match received? {
                0 => return Ok(()),
                count => {
                    idle_at = Instant::now() + idle_max;
                    connection.receive(&buffer[..count]);
                }
            },
            () = sleep_until(wake_at) => connection.is_over |= Instant::now() >= idle_at,
        }
    }
}

const READ_BYTES: usize = 16 * 1024;

/// Answers a negotiation as a server that knows SMB1 only: no dialect, in the format of SMB1.
async fn serve_smb1_only<S: Stream>(mut stream: S) -> io::Result<()> {
    let mut response = vec![0; 4 + 32 + 5];
    response[3] = 32 + 5;
    response[4..9].copy_from_slice(b"\xffSMB\x72");
    response[13] = 0x80; // Flags: a response
    response[36] = 1; // WordCount
    response[37..39].copy_from_slice(&[0xFF, 0xFF]); // DialectIndex: none
    let mut buffer = [0; 1024];
    if stream.read(&mut buffer).await? > 0 {
        stream.write_all(&response).await?;
    }
    stream.shutdown().await
}

struct Connection {
    host: Arc<WindowsHost>,
    peer: Option<IpAddr>,
    smb: ServerConnection,
    logons: BTreeMap<SessionId, Logon>,
    pipes: BTreeMap<FileId, OpenPipe>,
    /// Answers that wait, in the order in which their calls came.
    delayed: VecDeque<(Instant, FileId, Reply)>,
    is_over: bool,
}

/// An authentication that goes on, or one that has succeeded.
#[derive(Default)]
struct Logon {
    context: Option<Box<dyn SecurityContext>>,
    /// Messages into the session's pipes since it was authenticated.
    messages: u32,
}

struct OpenPipe {
    session: SessionId,
    association: Association,
}

impl Connection {
    fn new(host: Arc<WindowsHost>, peer: Option<IpAddr>) -> Self {
        let mut config = ServerConfig::new(host.server_guid(), crate::random_bytes());
        {
            let behaviour = host.behaviour();
            config.dialects.clone_from(&behaviour.dialects);
            config.encryption = behaviour.encryption;
            config.security_token = ssp::server_hint(behaviour.keytab.is_some(), behaviour.takes_ntlm);
        }
        config.system_time = host.state().source().moment().time;
        config.limits.output_bytes_max = OUTPUT_BYTES_MAX;
        Self {
            host,
            peer,
            smb: ServerConnection::new(config),
            logons: BTreeMap::new(),
            pipes: BTreeMap::new(),
            delayed: VecDeque::new(),
            is_over: false,
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        if let Err(error) = self.smb.handle_bytes(bytes) {
            debug!(host = self.host.name(), %error, "Connection failed");
            self.is_over = true;
        }
    }

    fn answer(&mut self) {
        while let Some(event) = self.smb.poll_event() {
            match event {
                ServerEvent::Authenticate { session, token, begins } => {
                    self.authenticate(session, &token, begins);
                }
                ServerEvent::OpenPipe { request, session, name } => {
                    let opened = self.host.open_pipe(&name);
                    let status = opened.as_ref().map(|_opened| ()).map_err(|status| *status);
                    let file = self.smb.open_pipe(request, status);
                    if let (Ok((endpoint, run)), Ok(Some(file))) = (opened, file) {
                        let association = Association::new(Arc::clone(&self.host), endpoint, run, self.peer);
                        self.pipes.insert(file, OpenPipe { session, association });
                    }
                }
                ServerEvent::PipeInput { file, data } => self.pipe_input(file, &data),
                ServerEvent::PipeClosed { file } => {
                    self.pipes.remove(&file);
                }
                ServerEvent::SessionClosed { session } => {
                    self.logons.remove(&session);
                }
            }
        }
    }

    fn authenticate(&mut self, session: SessionId, token: &[u8], begins: bool) {
        let logon = self.logons.entry(session).or_default();
        if begins {
            *logon = Logon::default();
        }
        let reply = step(&self.host, logon, token);
        if matches!(reply, AuthReply::Failed(_)) {
            self.logons.remove(&session);
        }
        if let Err(error) = self.smb.authenticate(session, reply) {
            debug!(host = self.host.name(), %error, "Authentication not answered");
        }
    }

    fn pipe_input(&mut self, file: FileId, data: &[u8]) {
        let Some(OpenPipe { session, association }) = self.pipes.get_mut(&file) else { return };
        let reply = association.input(data);
        let limit = self.host.behaviour().session_expires_after;
        if let Some(logon) = self.logons.get_mut(session) {
            logon.messages += 1;
            if limit.is_some_and(|limit| logon.messages >= limit) {
                self.smb.expire_session(*session);
            }
        }
        self.delayed.push_back((Instant::now() + reply.delay, file, reply));
    }

    fn next_due(&self) -> Option<Instant> {
        self.delayed.iter().map(|&(due, ..)| due).min()
    }

    /// Sends the answers whose time has come. Those of one pipe never overtake each other: a pipe's client waits
    /// for one before it asks for the next.
    fn send_due(&mut self, now: Instant) {
        let (due, later) = std::mem::take(&mut self.delayed).into_iter().partition(|(due, ..)| *due <= now);
        self.delayed = later;
        let due: VecDeque<(Instant, FileId, Reply)> = due;
        for (_, file, reply) in due {
            let reply = match self.pipes.get_mut(&file) {
                Some(pipe) => pipe.association.finish(reply),
                None => reply,
            };
            let sent = reply.messages.into_iter().try_for_each(|message| self.smb.pipe_output(file, message));
            let ended = match reply.then {
                Then::GoOn => Ok(()),
                Then::HangUp => {
                    self.pipes.remove(&file);
                    self.smb.pipe_hangup(file)
                }
                Then::Drop => {
                    self.is_over = true;
                    Ok(())
                }
            };
            if let Err(error) = sent.and(ended) {
                // The client closed the pipe meanwhile.
                debug!(host = self.host.name(), %error, "Output not sent");
            }
        }
    }
}

/// One leg of a logon.
fn step(host: &WindowsHost, logon: &mut Logon, token: &[u8]) -> AuthReply {
    let failed = AuthReply::Failed(NtStatus::STATUS_LOGON_FAILURE);
    let context = match &mut logon.context {
        Some(context) => context,
        none => {
            let Some(context) = accept(host, Mechanism::Negotiate, Usage::Smb) else { return failed };
            none.insert(context)
        }
    };
    let result = context.step(token);
    let status = match context.peer().account {
        Some(account) => host.accounts().verdict(&account.domain, &account.user),
        None => NtStatus::STATUS_SUCCESS,
    };
    match result {
        Ok(Step::Continue(token)) => AuthReply::Continue(token),
        // Whoever knows its password learns the state of an account; everybody learns that it is locked.
        Ok(Step::Done(token)) if status == NtStatus::STATUS_SUCCESS => match context.session_key() {
            Ok(key) => AuthReply::Done { token: token.unwrap_or_default(), session_key: key.full().to_vec() },
            Err(_) => failed,
        },
        Ok(_) => AuthReply::Failed(status),
        Err(error) => {
            debug!(host = host.name(), %error, "Logon refused");
            match error {
                ssp::Error::NoCommonMechanism { wanted: "Kerberos", .. } => {
                    AuthReply::Failed(NtStatus::STATUS_NTLM_BLOCKED)
                }
                ssp::Error::Kerberos(error) if error.reason == ssp::kerberos::Reason::ClockSkew => {
                    AuthReply::Failed(NtStatus::STATUS_TIME_DIFFERENCE_AT_DC)
                }
                _ if status == NtStatus::STATUS_ACCOUNT_LOCKED_OUT => AuthReply::Failed(status),
                _ => failed,
            }
        }
    }
}

/// More than any answer that a client would take.
const OUTPUT_BYTES_MAX: usize = 256 << 20;
