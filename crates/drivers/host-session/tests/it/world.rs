//! One host on a network in memory, with an invented interface.

use std::sync::Arc;
use std::time::Duration;

use dcerpc::server::IncomingCall;
use dcerpc::{AuthLevel, Channel as _, FaultStatus, SyntaxId};
use host_session::{Endpoint, Options, Reason, Session, SessionError, Target};
use parking_lot::Mutex;
use ssp::{Credentials, Secret};
use tokio::time::Instant;
use transport::MemoryNetwork;
use wire::Guid;

use crate::host::{Answer, PASSWORD, Rules, USER, serve};

pub(crate) const INTERFACE: SyntaxId = SyntaxId::new(Guid::from_u128(0x5e55_1047), 1, 0);
pub(crate) const PIPE: Endpoint =
    Endpoint::NamedPipe { name: "made-up", stopped: Reason::RemoteRegistryStopped };
const OPNUM: u16 = 3;
const STUB: [u8; 4] = [1, 2, 3, 4];

/// How the server answers the next calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServerMode {
    Works,
    Faults(FaultStatus),
    Silent,
    HangsUp,
}

pub(crate) struct World {
    pub(crate) network: MemoryNetwork,
    pub(crate) rules: Arc<Rules>,
    mode: Arc<Mutex<ServerMode>>,
}

impl World {
    /// The host `web1`, whose rules `change` may change before it starts.
    pub(crate) fn new(change: impl FnOnce(&mut Rules)) -> Self {
        let mode = Arc::new(Mutex::new(ServerMode::Works));
        let current = Arc::clone(&mode);
        let handler = move |call: &IncomingCall| answer(*current.lock(), call);
        let mut rules = Rules::new(INTERFACE, handler);
        change(&mut rules);
        let rules = Arc::new(rules);
        let network = MemoryNetwork::new();
        let mut listener = network.listen("web1", 445);
        let shared = Arc::clone(&rules);
        tokio::spawn(async move {
            loop {
                let stream = listener.accept().await;
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { network, rules, mode }
    }

    pub(crate) fn set_mode(&self, mode: ServerMode) {
        *self.mode.lock() = mode;
    }

    pub(crate) async fn connect(&self) -> Result<Session, SessionError> {
        self.connect_with(PASSWORD, Options::default()).await
    }

    pub(crate) async fn connect_with(
        &self,
        password: &str,
        options: Options,
    ) -> Result<Session, SessionError> {
        self.connect_by(password, options, soon()).await
    }

    pub(crate) async fn connect_to(&self, interfaces: &[SyntaxId]) -> Result<Session, SessionError> {
        let (target, credentials) = (Target::new("web1", 445), credentials(PASSWORD));
        let options = Options::default();
        Session::connect(target, credentials, options, PIPE, interfaces, &self.network, soon()).await
    }

    pub(crate) async fn connect_by(
        &self,
        password: &str,
        options: Options,
        deadline: Instant,
    ) -> Result<Session, SessionError> {
        let (target, credentials) = (Target::new("web1", 445), credentials(password));
        Session::connect(target, credentials, options, PIPE, &[INTERFACE], &self.network, deadline).await
    }
}

pub(crate) fn credentials(password: &str) -> Credentials {
    Credentials::new("CORP", USER, Secret::new(password))
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

/// Makes a call, and checks what it answers.
pub(crate) async fn poll(session: &mut Session) -> Result<(), SessionError> {
    match session.channel(0, soon()).call(OPNUM, None, &[]).await {
        Ok(stub) => {
            assert_eq!(stub, STUB);
            Ok(())
        }
        Err(error) => Err(SessionError::of_call(session.target(), PIPE, &"the method", &error)),
    }
}

fn answer(mode: ServerMode, call: &IncomingCall) -> Answer {
    assert_eq!((call.opnum, call.auth_level), (OPNUM, AuthLevel::PKT_PRIVACY));
    match mode {
        ServerMode::Works => Answer::Response(STUB.to_vec()),
        ServerMode::Faults(status) => Answer::Fault(status),
        ServerMode::Silent => Answer::Silence,
        ServerMode::HangsUp => Answer::HangUp,
    }
}
