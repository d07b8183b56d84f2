//! Ports that the endpoint mapper of a host tells.

use std::net::Ipv4Addr;
use std::sync::Arc;

use dcerpc::server::IncomingCall;
use dcerpc::{AuthLevel, Channel as _, FaultStatus, SyntaxId};
use host_session::{
    Options, Reason, SessionError, Stage, TcpPort, TcpReached, TcpService, TcpSession, Verdict,
};
use parking_lot::Mutex;
use rpc::endpoints::epm::ept::{EptMapReply, EptMapRequest, EptServer};
use rpc::endpoints::epm::types::Entry;
use rpc::endpoints::epm::wire::{Binding, Tower};
use rpc::ndr::ContextHandle;
use rpc::{CallInfo, ErrorStatus, ServerResult};
use transport::MemoryNetwork;
use wire::Guid;

use crate::host::{Answer, PASSWORD};
use crate::tcp::listen;
use crate::world::{INTERFACE, credentials, soon};

const SERVICE: TcpService = TcpService { class: "host", stopped: Reason::RemoteRegistryStopped };
const MAPPED: TcpPort = TcpPort::of(INTERFACE);

/// How a mapper answers.
#[derive(Clone)]
enum Mapper {
    Knows(Vec<Entry>),
    Fails(ErrorStatus),
    Faults(FaultStatus),
    Garbage,
}

impl EptServer for Mapper {
    fn is_open(&self, _handle: ContextHandle) -> bool {
        false
    }

    fn ept_map(&mut self, request: &EptMapRequest) -> ServerResult<EptMapReply, ErrorStatus> {
        let wanted = request.wanted()?;
        match self {
            Self::Knows(entries) => {
                let served = entries.iter().filter(|entry| request.is_served_by(entry, &wanted));
                Ok(request.answer(served.map(|entry| &entry.tower)).unwrap())
            }
            Self::Fails(status) => Err((*status).into()),
            Self::Faults(status) => Err((*status).into()),
            Self::Garbage => panic!("it reads nothing"),
        }
    }
}

/// The interface at a port of another host than the one that is asked.
fn at(port: u16) -> Entry {
    let binding = Binding::Tcp { address: Ipv4Addr::new(192, 0, 2, 9), port };
    Entry { object: None, tower: Tower::ndr(INTERFACE, binding), annotation: String::new() }
}

struct World {
    network: MemoryNetwork,
    /// How the calls of the mapper were protected.
    levels: Arc<Mutex<Vec<AuthLevel>>>,
}

impl World {
    /// A host whose mapper answers so, and whose port 49664 has the interface.
    fn new(mapper: Mapper) -> Self {
        let (network, levels) = (MemoryNetwork::new(), Arc::<Mutex<Vec<AuthLevel>>>::default());
        let seen = Arc::clone(&levels);
        listen(&network, 135, vec![rpc::endpoints::epm::SYNTAX_ID], move |call: &IncomingCall| {
            seen.lock().push(call.auth_level);
            if matches!(mapper, Mapper::Garbage) {
                return Answer::Response(vec![1, 2, 3]);
            }
            match mapper.clone().dispatch(&CallInfo::default(), call.opnum, &call.stub) {
                Ok(stub) => Answer::Response(stub),
                Err(status) => Answer::Fault(status),
            }
        });
        listen(&network, 49664, vec![INTERFACE], |_: &IncomingCall| Answer::Response(vec![7]));
        Self { network, levels }
    }

    async fn reach(&self, port: TcpPort, password: Option<&str>) -> Result<TcpReached, SessionError> {
        let credentials = password.map(credentials);
        let options = Options::default();
        TcpReached::connect_service(
            "web1",
            port,
            SERVICE,
            credentials.as_ref(),
            options,
            &self.network,
            soon(),
        )
        .await
    }

    async fn failure(&self, password: Option<&str>) -> SessionError {
        match self.reach(MAPPED, password).await {
            Ok(_) => panic!("connected"),
            Err(error) => error,
        }
    }
}

async fn bind(reached: TcpReached) -> TcpSession {
    reached.bind(SERVICE, Some(&credentials(PASSWORD)), &[INTERFACE], soon()).await.unwrap()
}

#[tokio::test]
async fn the_mapper_tells_a_port_of_the_host_that_the_user_named() {
    let world = World::new(Mapper::Knows(vec![at(49664)]));
    for (password, level, logon) in
        [(None, AuthLevel::NONE, Stage::Bind), (Some(PASSWORD), AuthLevel::PKT_PRIVACY, Stage::Auth)]
    {
        let mut session = bind(world.reach(MAPPED, password).await.unwrap()).await;
        assert_eq!(session.target().to_string(), "web1:49664", "not the address that the mapper names");
        assert_eq!(session.channel(0, soon()).call(0, None, &[]).await.unwrap(), [7]);
        let stages: Vec<Stage> = session.stages().iter().map(|report| report.stage).collect();
        let mapper = [Stage::Dns, Stage::Tcp, logon, Stage::Tcp];
        assert_eq!(stages, [&mapper[..], &[Stage::Dns, Stage::Tcp, Stage::Auth]].concat());
        assert!(session.stages()[3].calls == 1 && session.stages()[3].received_bytes > 0);
        assert_eq!(world.levels.lock().pop(), Some(level));
    }
}

#[tokio::test]
async fn a_fixed_port_needs_no_mapper() {
    let world = World::new(Mapper::Faults(FaultStatus::NCA_S_FAULT_UNSPEC));
    let mut session = bind(world.reach(TcpPort::Fixed(49664), None).await.unwrap()).await;
    assert_eq!(session.channel(0, soon()).call(0, None, &[]).await.unwrap(), [7]);
    assert_eq!((session.stages().len(), world.levels.lock().len()), (3, 0));
}

#[tokio::test]
async fn an_interface_that_is_not_registered_fails_by_the_reason_of_its_service() {
    let other =
        Entry { tower: Tower::ndr(SyntaxId::new(Guid::from_u128(1), 1, 0), at(1).tower.binding), ..at(1) };
    let pipe = Binding::NamedPipe { host: String::new(), pipe: r"\PIPE\x".to_owned() };
    let behind_pipe = Entry { tower: Tower::ndr(INTERFACE, pipe), ..at(1) };
    for entries in [Vec::new(), vec![other, behind_pipe], vec![at(0)]] {
        let error = World::new(Mapper::Knows(entries)).failure(None).await;
        assert_eq!((error.stage, error.reason), (Stage::Tcp, Reason::RemoteRegistryStopped), "{error}");
        assert_eq!(error.verdict(), Verdict::Unknown, "nobody has seen credentials");
        let text = format!("web1:135: tcp: the endpoint mapper knows no TCP port of {INTERFACE}");
        assert!(error.to_string().starts_with(&text), "{error}");
        assert_eq!((error.stages.len(), error.is_connection_lost()), (4, true));
    }
}

#[tokio::test]
async fn a_mapper_that_fails_is_named_with_what_it_did() {
    for (mapper, reason, detail) in [
        (Mapper::Fails(ErrorStatus::EPT_S_NO_MEMORY), Reason::ServerFault, "ept map: EPT_S_NO_MEMORY"),
        (Mapper::Faults(FaultStatus::NCA_S_FAULT_ACCESS_DENIED), Reason::AccessDenied, "ept map: "),
        (Mapper::Garbage, Reason::MalformedReply, "ept map: ept_map: `entry_handle`: "),
    ] {
        let error = World::new(mapper).failure(None).await;
        assert_eq!((error.stage, error.reason), (Stage::Tcp, reason), "{error}");
        assert!(error.detail().starts_with(detail), "{error}");
        assert!(error.is_connection_lost());
    }
}

#[tokio::test]
async fn a_mapper_that_refuses_a_password_is_a_wrong_password() {
    let error = World::new(Mapper::Knows(vec![at(49664)])).failure(Some("hunter2 (made up)")).await;
    assert_eq!((error.stage, error.reason), (Stage::Auth, Reason::WrongCredentials), "{error}");
    assert_eq!(error.verdict(), Verdict::Rejected);
}

#[tokio::test]
async fn a_port_that_the_mapper_tells_and_nobody_listens_at_is_named_behind_the_stages_of_the_mapper() {
    let error = World::new(Mapper::Knows(vec![at(50000)])).failure(None).await;
    assert_eq!((error.stage, error.reason), (Stage::Tcp, Reason::ConnectionRefused), "{error}");
    assert_eq!(error.detail(), "web1:50000 (198.18.0.1): connection refused");
    assert_eq!(error.stages.len(), 6);
}
