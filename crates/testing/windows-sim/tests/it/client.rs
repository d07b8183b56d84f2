//! A client made of the protocol crates and nothing else, over one end of a duplex.

use std::sync::Arc;
use std::time::Duration;

use counters::pcq::perflibv2::PerflibV2Client;
use counters::rrp::winreg::RegistryClient;
use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig as RpcConfig, Event as RpcEvent};
use dcerpc::{Auth, AuthLevel, AuthService, Channel, FaultStatus, SyntaxId};
use ms_smb2::client::{ClientConfig, ClientConnection, Event, FileId, Reply, RequestId, TreeId};
use ssp::{ClientOptions, Credentials, Mechanism, OsVersion, SecurityContext, Step, Usage};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use transport::Stream;
use windows_sim::{WindowsHost, server};
use wire::{Guid, NtStatus};

/// Why the conversation ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Status(NtStatus),
    #[error("{0}")]
    Fault(FaultStatus),
    #[error("SMB: {0}")]
    Smb(String),
    #[error("RPC: {0}")]
    Rpc(String),
    #[error("session expired")]
    SessionExpired,
    #[error("connection ended")]
    Ended,
    #[error("no answer")]
    Silence,
}

/// Nothing answers later than this unless it was told to; time in these tests is paused.
const PATIENCE: Duration = Duration::from_secs(60);
const STREAM_BYTES: usize = 256 * 1024;
const READ_BYTES: u32 = 64 * 1024;

pub(crate) struct Smb {
    smb: ClientConnection,
    stream: Box<dyn Stream>,
    tree: Option<TreeId>,
    /// The version of its system that the host names at a logon.
    pub(crate) os_version: Option<OsVersion>,
}

impl Smb {
    pub(crate) fn connect(host: &Arc<WindowsHost>) -> Self {
        Self::connect_with(host, ClientConfig::new(Guid::from_u128(1), [7; 32]))
    }

    pub(crate) fn connect_with(host: &Arc<WindowsHost>, config: ClientConfig) -> Self {
        let (ours, theirs) = duplex(STREAM_BYTES);
        tokio::spawn(server::serve_smb(Arc::clone(host), theirs, Duration::from_secs(3600)));
        Self::over(ours, config)
    }

    /// Over a stream that somebody serves.
    pub(crate) fn over(stream: impl Stream + 'static, config: ClientConfig) -> Self {
        Self {
            smb: ClientConnection::new(config).unwrap(),
            stream: Box::new(stream),
            tree: None,
            os_version: None,
        }
    }

    pub(crate) async fn event(&mut self) -> Result<Event, Failure> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            while let Some(frame) = self.smb.poll_transmit() {
                self.stream.write_all(&frame).await.map_err(|_| Failure::Ended)?;
            }
            match self.smb.poll_event() {
                Some(Event::Pending { .. }) => continue,
                Some(event) => return Ok(event),
                None => {}
            }
            let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut buffer)).await;
            match read.map_err(|_| Failure::Silence)? {
                Ok(0) | Err(_) => return Err(Failure::Ended),
                Ok(count) => self
                    .smb
                    .handle_bytes(&buffer[..count])
                    .map_err(|error| Failure::Smb(error.to_string()))?,
            }
        }
    }

    pub(crate) async fn log_on(&mut self, credentials: &Credentials) -> Result<(), Failure> {
        if self.tree.is_none() {
            let Event::Negotiated(_) = self.event().await? else { panic!("the negotiation comes first") };
        }
        let options = ClientOptions::new(Mechanism::Negotiate, "cifs/web1", Usage::Smb);
        let mut context = ssp::client(credentials, options).unwrap();
        let mut token = Vec::new();
        loop {
            let (Step::Continue(ours) | Step::Done(Some(ours))) = context.step(&token).unwrap() else {
                panic!("the server waits for a token")
            };
            self.smb.session_setup(&ours).unwrap();
            match self.event().await? {
                Event::SessionSetup { token: theirs, more: true } => token = theirs,
                Event::SessionSetup { token: theirs, more: false } => {
                    if context.session_key().is_err() {
                        context.step(&theirs).unwrap();
                    }
                    let key = context.session_key().unwrap();
                    self.os_version = context.peer().server.and_then(|server| server.os_version);
                    return self
                        .smb
                        .complete_session(key.as_bytes())
                        .map_err(|error| Failure::Smb(error.to_string()));
                }
                Event::SessionRefused { status } => return Err(Failure::Status(status)),
                event => panic!("not part of a logon: {event:?}"),
            }
        }
    }

    async fn reply(&mut self, request: RequestId) -> Result<Reply, Failure> {
        match self.event().await? {
            Event::Completed { request: answered, result } => {
                assert_eq!(answered, request);
                result.map_err(Failure::Status)
            }
            Event::SessionExpired { .. } => Err(Failure::SessionExpired),
            event => panic!("not an answer: {event:?}"),
        }
    }

    pub(crate) async fn open(&mut self, name: &str) -> Result<FileId, Failure> {
        let tree = match self.tree {
            Some(tree) => tree,
            None => {
                let request = self.smb.tree_connect(r"\\web1\IPC$").unwrap();
                let Reply::TreeConnected(tree) = self.reply(request).await? else { panic!("no tree") };
                *self.tree.insert(tree)
            }
        };
        let request = self.smb.create_pipe(tree, name).unwrap();
        let Reply::Created(file) = self.reply(request).await? else { panic!("no file") };
        Ok(file)
    }

    async fn transceive(&mut self, file: FileId, input: &[u8]) -> Result<Vec<u8>, Failure> {
        let request =
            self.smb.transceive(file, input, READ_BYTES).map_err(|error| Failure::Smb(error.to_string()))?;
        match self.reply(request).await? {
            Reply::Transceived { data, .. } => Ok(data),
            reply => panic!("not an answer to a transceive: {reply:?}"),
        }
    }

    async fn write(&mut self, file: FileId, input: &[u8]) -> Result<(), Failure> {
        let request = self.smb.write(file, input).map_err(|error| Failure::Smb(error.to_string()))?;
        self.reply(request).await.map(|_written| ())
    }

    async fn read(&mut self, file: FileId) -> Result<Vec<u8>, Failure> {
        let request = self.smb.read(file, READ_BYTES).map_err(|error| Failure::Smb(error.to_string()))?;
        match self.reply(request).await? {
            Reply::Read { data, .. } => Ok(data),
            reply => panic!("not an answer to a read: {reply:?}"),
        }
    }
}

/// An association on a pipe.
pub(crate) struct Rpc {
    pub(crate) smb: Smb,
    file: FileId,
    association: ClientAssociation,
}

impl Rpc {
    /// Logs on, opens the pipe and binds.
    pub(crate) async fn connect(
        host: &Arc<WindowsHost>,
        credentials: &Credentials,
        level: AuthLevel,
    ) -> Result<Self, Failure> {
        Self::connect_in_group(host, credentials, level, 0).await
    }

    /// The same in an association group; 0 for a new one.
    pub(crate) async fn connect_in_group(
        host: &Arc<WindowsHost>,
        credentials: &Credentials,
        level: AuthLevel,
        assoc_group_id: u32,
    ) -> Result<Self, Failure> {
        let mut smb = Smb::connect(host);
        smb.log_on(credentials).await?;
        let file = smb.open("winreg").await?;
        Self::bind(smb, file, credentials, level, assoc_group_id).await
    }

    /// The same for the registry, sealed.
    pub(crate) async fn registry(
        host: &Arc<WindowsHost>,
        credentials: &Credentials,
    ) -> Result<RegistryClient<Self>, Failure> {
        let mut smb = Smb::connect(host);
        smb.log_on(credentials).await?;
        let file = smb.open("winreg").await?;
        let level = AuthLevel::PKT_PRIVACY;
        Ok(RegistryClient::new(
            Self::bind_to(counters::rrp::SYNTAX_ID, smb, file, credentials, level, 0).await?,
        ))
    }

    /// Binds in an association group; 0 for a new one.
    pub(crate) async fn bind(
        smb: Smb,
        file: FileId,
        credentials: &Credentials,
        level: AuthLevel,
        assoc_group_id: u32,
    ) -> Result<Self, Failure> {
        Self::bind_to(counters::pcq::SYNTAX_ID, smb, file, credentials, level, assoc_group_id).await
    }

    async fn bind_to(
        interface: SyntaxId,
        smb: Smb,
        file: FileId,
        credentials: &Credentials,
        level: AuthLevel,
        assoc_group_id: u32,
    ) -> Result<Self, Failure> {
        let options = ClientOptions::new(Mechanism::Ntlm, "cifs/web1", Usage::Rpc);
        let context: Box<dyn SecurityContext> = ssp::client(credentials, options).unwrap();
        let auth = Auth::new(level, AuthService::WINNT);
        let config = RpcConfig { assoc_group_id, ..RpcConfig::with_auth(auth) };
        let mut association = ClientAssociation::new(config, Some(context)).unwrap();
        association.bind(&[interface]).unwrap();
        let mut rpc = Self { smb, file, association };
        match rpc.event().await? {
            RpcEvent::Bound { contexts } => assert_eq!(contexts[0].outcome, Ok(())),
            event => panic!("not bound: {event:?}"),
        }
        Ok(rpc)
    }

    async fn event(&mut self) -> Result<RpcEvent, Failure> {
        loop {
            let mut received = None;
            while let Some(transmit) = self.association.poll_transmit() {
                if transmit.reply {
                    received = Some(self.smb.transceive(self.file, &transmit.bytes).await?);
                } else {
                    self.smb.write(self.file, &transmit.bytes).await?;
                }
            }
            if received.is_none() {
                if let Some(event) = self.association.poll_event() {
                    return Ok(event);
                }
                received = Some(self.smb.read(self.file).await?);
            }
            let bytes = received.unwrap_or_default();
            self.association.handle_bytes(&bytes).map_err(|error| Failure::Rpc(error.to_string()))?;
        }
    }

    pub(crate) const fn assoc_group_id(&self) -> u32 {
        self.association.assoc_group_id()
    }

    pub(crate) fn perflib(self) -> PerflibV2Client<Self> {
        PerflibV2Client::new(self, "web1")
    }
}

impl Channel for Rpc {
    type Error = Failure;

    async fn call(&mut self, opnum: u16, object: Option<Guid>, stub: &[u8]) -> Result<Vec<u8>, Failure> {
        let request = CallRequest { context_id: 0, opnum, object, stub };
        self.association.call(request).map_err(|error| Failure::Rpc(error.to_string()))?;
        match self.event().await? {
            RpcEvent::Response { stub, .. } => Ok(stub),
            RpcEvent::Fault { status, .. } => Err(Failure::Fault(status)),
            event => panic!("not an answer to a call: {event:?}"),
        }
    }
}
