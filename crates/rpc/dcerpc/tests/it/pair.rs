//! A client and a server in memory, with everything that passes between them.

use std::collections::VecDeque;
use std::sync::Arc;

use dcerpc::client::{CallRequest, ClientAssociation, ClientConfig, Event, Transmit};
use dcerpc::server::{IncomingCall, ServerAssociation, ServerConfig, ServerEvent};
use dcerpc::{Auth, AuthLevel, AuthService, Error, FaultStatus, SyntaxId};
use ssp::{
    Accounts, ClientOptions, Credentials, Mechanism, Outcome, Secret, SecurityContext, ServerOptions, Usage,
};
use wire::Guid;

pub(crate) const WINREG: SyntaxId =
    SyntaxId::new(Guid::from_u128(0x338c_d001_2244_31f1_aaaa_9000_3800_1003), 1, 0);
pub(crate) const PERFLIB: SyntaxId =
    SyntaxId::new(Guid::from_u128(0xda5a_86c5_12c2_4943_ab30_7f74_a813_d853), 1, 0);
pub(crate) const UNKNOWN: SyntaxId = SyntaxId::new(Guid::from_u128(1), 1, 0);

pub(crate) const PASSWORD: &str = "Passw0rd";

/// Answered with a fault by [`Pair::drive`]; every other operation echoes its stub data.
pub(crate) const FAULTING_OPNUM: u16 = 99;

/// Every way to protect a call.
pub(crate) fn protections() -> impl Iterator<Item = Option<(Mechanism, AuthLevel)>> {
    let levels = [AuthLevel::PKT_INTEGRITY, AuthLevel::PKT_PRIVACY];
    let secured = [Mechanism::Ntlm, Mechanism::Negotiate]
        .into_iter()
        .flat_map(move |mechanism| levels.map(|level| Some((mechanism, level))));
    [None].into_iter().chain(secured)
}

pub(crate) struct Pair {
    pub(crate) client: ClientAssociation,
    pub(crate) server: ServerAssociation,
    /// What the client sent so far.
    pub(crate) sent: Vec<Transmit>,
    /// What the server sent so far.
    pub(crate) answered: Vec<Vec<u8>>,
    /// Calls that the server got.
    pub(crate) calls: Vec<IncomingCall>,
    /// Other news of the server.
    pub(crate) server_events: VecDeque<ServerEvent>,
    /// Bytes handed over at once.
    pub(crate) chunk_bytes: usize,
}

impl Pair {
    pub(crate) fn new(protection: Option<(Mechanism, AuthLevel)>) -> Self {
        let client = ClientConfig { auth: protection.map(auth), ..ClientConfig::default() };
        Self::with(client, server_config(), protection, PASSWORD)
    }

    pub(crate) fn with(
        client: ClientConfig,
        server: ServerConfig,
        protection: Option<(Mechanism, AuthLevel)>,
        password: &str,
    ) -> Self {
        let context = protection.map(|(mechanism, _)| client_context(mechanism, password));
        Self {
            client: ClientAssociation::new(client, context).unwrap(),
            server: ServerAssociation::new(server, accept),
            sent: Vec::new(),
            answered: Vec::new(),
            calls: Vec::new(),
            server_events: VecDeque::new(),
            chunk_bytes: usize::MAX,
        }
    }

    pub(crate) fn bound(protection: Option<(Mechanism, AuthLevel)>) -> Self {
        let mut pair = Self::new(protection);
        pair.client.bind(&[WINREG]).unwrap();
        pair.drive();
        assert!(matches!(pair.client.poll_event(), Some(Event::Bound { .. })));
        pair
    }

    /// Passes PDUs to and fro until nobody has any.
    pub(crate) fn drive(&mut self) {
        self.try_drive().unwrap();
    }

    pub(crate) fn try_drive(&mut self) -> Result<(), Error> {
        loop {
            let requests: Vec<Transmit> = core::iter::from_fn(|| self.client.poll_transmit()).collect();
            for bytes in requests.iter().flat_map(|request| request.bytes.chunks(self.chunk_bytes)) {
                self.server.handle_bytes(bytes)?;
            }
            let is_idle = requests.is_empty();
            self.sent.extend(requests);
            self.serve();
            let answers: Vec<Vec<u8>> = core::iter::from_fn(|| self.server.poll_transmit()).collect();
            if is_idle && answers.is_empty() {
                return Ok(());
            }
            for bytes in answers.iter().flat_map(|answer| answer.chunks(self.chunk_bytes)) {
                self.client.handle_bytes(bytes)?;
            }
            self.answered.extend(answers);
        }
    }

    /// Lets the server answer what it has got.
    pub(crate) fn serve(&mut self) {
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Request(call) => {
                    if call.opnum == FAULTING_OPNUM {
                        self.server.fault(call.call_id, FaultStatus::NCA_S_OP_RNG_ERROR).unwrap();
                    } else {
                        self.server.respond(call.call_id, &call.stub).unwrap();
                    }
                    self.calls.push(call);
                }
                other => self.server_events.push_back(other),
            }
        }
    }

    /// Makes a call on context 0 and answers what became of it.
    pub(crate) fn call(&mut self, opnum: u16, stub: &[u8]) -> Event {
        self.client.call(CallRequest { context_id: 0, opnum, object: None, stub }).unwrap();
        self.drive();
        self.client.poll_event().unwrap()
    }

    /// The client has sent a call and the server has answered it; the answer is not delivered yet.
    pub(crate) fn answer_to(&mut self, stub: &[u8]) -> Vec<Vec<u8>> {
        self.client.call(CallRequest { context_id: 0, opnum: 7, object: None, stub }).unwrap();
        while let Some(request) = self.client.poll_transmit() {
            self.server.handle_bytes(&request.bytes).unwrap();
        }
        self.serve();
        core::iter::from_fn(|| self.server.poll_transmit()).collect()
    }
}

pub(crate) fn auth((mechanism, level): (Mechanism, AuthLevel)) -> Auth {
    let service = match mechanism {
        Mechanism::Ntlm => AuthService::WINNT,
        _ => AuthService::GSS_NEGOTIATE,
    };
    Auth::new(level, service)
}

pub(crate) fn client_context(mechanism: Mechanism, password: &str) -> Box<dyn SecurityContext> {
    let credentials = Credentials::new("CORP", "svc-metrics", Secret::new(password));
    ssp::client(&credentials, ClientOptions::new(mechanism, "cifs/web1", Usage::Rpc)).unwrap()
}

pub(crate) fn server_config() -> ServerConfig {
    ServerConfig::new(vec![WINREG, PERFLIB])
}

/// Stub data of which no part repeats soon.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251).to_le_bytes()[0]).collect()
}

pub(crate) fn accept(service: AuthService) -> Option<Box<dyn SecurityContext>> {
    let mechanism = match service {
        AuthService::WINNT => Mechanism::Ntlm,
        AuthService::GSS_NEGOTIATE => Mechanism::Negotiate,
        _ => return None,
    };
    ssp::server(Arc::new(OneAccount), ServerOptions::new(mechanism, Usage::Rpc)).ok()
}

struct OneAccount;

impl Accounts for OneAccount {
    fn password(&self, _domain: &str, user: &str) -> Option<Secret> {
        (user == "svc-metrics").then(|| Secret::new(PASSWORD))
    }

    fn attempted(&self, _domain: &str, _user: &str, _outcome: Outcome) {}
}
