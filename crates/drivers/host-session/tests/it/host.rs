//! A small host: an SMB server with pipes, behind each of which an RPC server answers by a function.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use dcerpc::server::{IncomingCall, ServerAssociation, ServerConfig as RpcConfig, ServerEvent as RpcEvent};
use dcerpc::{AuthService, FaultStatus, SyntaxId};
use parking_lot::Mutex;
use ssp::{Accounts, Mechanism, Outcome, Secret, SecurityContext, ServerOptions, Step, Usage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep_until};
use transport::BoxStream;
use windows_sim::smb::{
    AuthReply, Encryption, FileId, ServerConfig, ServerConnection, ServerEvent, SessionId,
};
use wire::{Guid, NtStatus};

pub(crate) const USER: &str = "svc-metrics";
pub(crate) const PASSWORD: &str = "Passw0rd-of-the-host";

/// What a pipe's function returns.
pub(crate) enum Answer {
    Response(Vec<u8>),
    Fault(FaultStatus),
    Silence,
    /// Bytes instead of an answer.
    Raw(Vec<u8>),
    /// The service behind the pipe ends.
    HangUp,
}

pub(crate) type Handler = dyn Fn(&IncomingCall) -> Answer + Send + Sync;

pub(crate) type Alter = dyn Fn(Vec<Vec<u8>>) -> Vec<Vec<u8>> + Send + Sync;

/// How a host behaves. Shared by all of its connections.
pub(crate) struct Rules {
    pub(crate) smb: ServerConfig,
    pub(crate) interface: SyntaxId,
    pub(crate) fragment_bytes_max: u16,
    /// All PDUs of an answer in one message, like a pipe in byte mode.
    pub(crate) coalesces: bool,
    /// Delay of every frame to the client.
    pub(crate) latency: Duration,
    /// Maximum number of delayed frames at a time.
    pub(crate) frames_on_their_way: AtomicUsize,
    /// Pause of the service between two messages of an answer.
    pub(crate) pace: Duration,
    /// Changes the messages of an answer before the pipe gets them.
    pub(crate) alter: Box<Alter>,
    /// The session expires when the service has written this number of messages.
    pub(crate) expires_after_output: AtomicUsize,
    /// A correct password is refused with this status.
    pub(crate) refuses_logon: Mutex<Option<NtStatus>>,
    /// The answers to opening a pipe before it succeeds.
    pub(crate) open_refusals: Mutex<VecDeque<NtStatus>>,
    /// The session expires when this number of pipe messages was received.
    pub(crate) expires_after: AtomicUsize,
    /// If set, every session expires at once.
    pub(crate) expires_at_once: AtomicBool,
    pub(crate) logons: Logons,
    pub(crate) handler: Box<Handler>,
}

/// Counts requests to the account database.
#[derive(Default)]
pub(crate) struct Logons {
    pub(crate) accepted: AtomicUsize,
    pub(crate) rejected: AtomicUsize,
}

impl Rules {
    pub(crate) fn new(
        interface: SyntaxId,
        handler: impl Fn(&IncomingCall) -> Answer + Send + Sync + 'static,
    ) -> Self {
        Self {
            smb: ServerConfig::new(Guid::from_u128(0x0123_4567_89ab_cdef), [7; 32]),
            interface,
            fragment_bytes_max: 5840,
            coalesces: false,
            latency: Duration::ZERO,
            frames_on_their_way: AtomicUsize::new(0),
            pace: Duration::ZERO,
            alter: Box::new(|messages| messages),
            expires_after_output: AtomicUsize::new(usize::MAX),
            refuses_logon: Mutex::default(),
            open_refusals: Mutex::default(),
            expires_after: AtomicUsize::new(usize::MAX),
            expires_at_once: AtomicBool::new(false),
            logons: Logons::default(),
            handler: Box::new(handler),
        }
    }

    pub(crate) fn with_encryption(mut self, encryption: Encryption) -> Self {
        self.smb.encryption = encryption;
        self
    }

    pub(crate) fn logons_accepted(&self) -> usize {
        self.logons.accepted.load(Ordering::Relaxed)
    }

    pub(crate) fn logons_rejected(&self) -> usize {
        self.logons.rejected.load(Ordering::Relaxed)
    }
}

struct Database(Arc<Rules>);

impl Accounts for Database {
    fn password(&self, _domain: &str, user: &str) -> Option<Secret> {
        (user == USER).then(|| Secret::new(PASSWORD))
    }

    fn attempted(&self, _domain: &str, _user: &str, outcome: Outcome) {
        let counter = match outcome {
            Outcome::Accepted => &self.0.logons.accepted,
            _ => &self.0.logons.rejected,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Serves one connection until it ends.
pub(crate) async fn serve(mut stream: BoxStream, rules: Arc<Rules>) {
    let mut host = Connection {
        smb: ServerConnection::new(rules.smb.clone()),
        contexts: HashMap::new(),
        pipes: HashMap::new(),
        session: None,
        output: VecDeque::new(),
        rules,
    };
    let mut buffer = vec![0; 64 * 1024];
    let mut frames: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
    loop {
        host.write_due_output();
        let latency = host.rules.latency;
        frames.extend(
            std::iter::from_fn(|| host.smb.poll_transmit()).map(|frame| (Instant::now() + latency, frame)),
        );
        host.rules.frames_on_their_way.fetch_max(frames.len(), Ordering::Relaxed);
        while let Some((_, frame)) = frames.pop_front_if(|(due, _)| *due <= Instant::now()) {
            if stream.write_all(&frame).await.is_err() {
                return;
            }
        }
        let wakes = frames.front().map(|(due, _)| *due).into_iter();
        let wake = wakes.chain(host.output.front().map(|(due, ..)| *due)).min();
        tokio::select! {
            received = stream.read(&mut buffer) => match received {
                Ok(0) | Err(_) => return,
                Ok(len) if host.smb.handle_bytes(&buffer[..len]).is_err() => return,
                Ok(_) => host.handle_events(),
            },
            () = sleep_until(wake.unwrap_or_else(Instant::now)), if wake.is_some() => {}
        }
    }
}

struct Connection {
    smb: ServerConnection,
    contexts: HashMap<SessionId, Box<dyn SecurityContext>>,
    pipes: HashMap<FileId, ServerAssociation>,
    session: Option<SessionId>,
    /// Pending output of the services, with its time.
    output: VecDeque<(Instant, FileId, Vec<u8>)>,
    rules: Arc<Rules>,
}

impl Connection {
    fn handle_events(&mut self) {
        while let Some(event) = self.smb.poll_event() {
            match event {
                ServerEvent::Authenticate { session, token, begins } => {
                    self.authenticate(session, &token, begins);
                }
                ServerEvent::OpenPipe { request, .. } => {
                    let refusal = self.rules.open_refusals.lock().pop_front();
                    let opened = self.smb.open_pipe(request, refusal.map_or(Ok(()), Err)).unwrap();
                    if let Some(file) = opened {
                        let association = self.new_association();
                        self.pipes.insert(file, association);
                    }
                }
                ServerEvent::PipeInput { file, data } => self.pipe_input(file, &data),
                ServerEvent::PipeClosed { file } => {
                    self.pipes.remove(&file);
                }
                _ => {}
            }
        }
    }

    fn authenticate(&mut self, session: SessionId, token: &[u8], begins: bool) {
        if begins {
            self.contexts.insert(session, acceptor(&self.rules, Mechanism::Negotiate, Usage::Smb));
        }
        let context = self.contexts.get_mut(&session).unwrap();
        let refusal = *self.rules.refuses_logon.lock();
        let reply = match (context.step(token), refusal) {
            (Ok(Step::Continue(token)), _) => AuthReply::Continue(token),
            (Ok(Step::Done(_)), Some(status)) => AuthReply::Failed(status),
            (Ok(Step::Done(token)), None) => {
                let session_key = context.session_key().unwrap().as_bytes().to_vec();
                AuthReply::Done { token: token.unwrap_or_default(), session_key }
            }
            _ => AuthReply::Failed(NtStatus::STATUS_LOGON_FAILURE),
        };
        self.session = Some(session);
        let is_done = matches!(reply, AuthReply::Done { .. });
        self.smb.authenticate(session, reply).unwrap();
        if is_done && self.rules.expires_at_once.load(Ordering::Relaxed) {
            self.smb.expire_session(session);
        }
    }

    fn new_association(&self) -> ServerAssociation {
        let rules = Arc::clone(&self.rules);
        let mut config = RpcConfig::new(vec![rules.interface]);
        config.max_xmit_frag = rules.fragment_bytes_max;
        config.max_recv_frag = rules.fragment_bytes_max;
        ServerAssociation::new(config, move |service| {
            mechanism(service).map(|m| acceptor(&rules, m, Usage::Rpc))
        })
    }

    fn pipe_input(&mut self, file: FileId, data: &[u8]) {
        if self.rules.expires_after.fetch_sub(1, Ordering::Relaxed) == 1
            && let Some(session) = self.session
        {
            self.smb.expire_session(session);
        }
        let association = self.pipes.get_mut(&file).unwrap();
        if association.handle_bytes(data).is_err() {
            self.smb.pipe_hangup(file).unwrap();
            return;
        }
        while let Some(event) = association.poll_event() {
            let RpcEvent::Request(call) = event else { continue };
            match (self.rules.handler)(&call) {
                Answer::Response(stub) => association.respond(call.call_id, &stub).unwrap(),
                Answer::Fault(status) => association.fault(call.call_id, status).unwrap(),
                Answer::Raw(bytes) => self.smb.pipe_output(file, bytes).unwrap(),
                Answer::HangUp => self.smb.pipe_hangup(file).unwrap(),
                Answer::Silence => {}
            }
        }
        let pdus: Vec<Vec<u8>> = std::iter::from_fn(|| association.poll_transmit()).collect();
        let messages = if self.rules.coalesces && !pdus.is_empty() { vec![pdus.concat()] } else { pdus };
        let mut due = Instant::now();
        for message in (self.rules.alter)(messages) {
            self.output.push_back((due, file, message));
            due += self.rules.pace;
        }
    }

    fn write_due_output(&mut self) {
        while let Some((_, file, message)) = self.output.pop_front_if(|(due, ..)| *due <= Instant::now()) {
            self.smb.pipe_output(file, message).unwrap();
            if self.rules.expires_after_output.fetch_sub(1, Ordering::Relaxed) == 1 {
                self.smb.expire_session(self.session.unwrap());
            }
        }
    }
}

/// A security context for the accounts of a host.
pub(crate) fn acceptor(rules: &Arc<Rules>, mechanism: Mechanism, usage: Usage) -> Box<dyn SecurityContext> {
    ssp::server(Arc::new(Database(Arc::clone(rules))), ServerOptions::new(mechanism, usage)).unwrap()
}

pub(crate) const fn mechanism(service: AuthService) -> Option<Mechanism> {
    match service {
        AuthService::GSS_NEGOTIATE => Some(Mechanism::Negotiate),
        AuthService::WINNT => Some(Mechanism::Ntlm),
        _ => None,
    }
}
