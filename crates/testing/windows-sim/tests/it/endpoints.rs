//! The endpoint mapper of a host, and the management interface of each of its endpoints.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use com::comt::IGetTrackingData;
use dcerpc::client::ClientConfig;
use dcerpc::{FaultStatus, SyntaxId};
use host_session::rpc_client::{Association, NamedPipe, Security, SmbConnection, SmbOptions};
use host_session::{Options, Reason, SessionError, Target, TcpPort, TcpReached, TcpService, TcpSession};
use rpc::endpoints::epm::ept::{EndpointMap, EndpointMapper, EptLookupRequest, Inquiry, Limits};
use rpc::endpoints::epm::types::{InquiryType, VersionOption};
use rpc::endpoints::mgmt::management::{Management, Mgmt, StopServerListeningRequest};
use rpc::endpoints::mgmt::types::{AuthenticationService, Statistics};
use rpc::ndr::ContextHandle;
use rpc::{Client, ErrorStatus, Interface};
use tokio::io::duplex;
use tokio::net::TcpListener;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::Instant;
use transport::TcpConnector;
use windows_sim::service::endpoint_mapper::LOOKUPS_MAX;
use windows_sim::{WindowsHost, server};

use crate::host::{credentials, host};

const SERVICE: TcpService = TcpService { class: "host", stopped: Reason::NotFound };
const TRACKER: SyntaxId = IGetTrackingData::SYNTAX_ID;

struct World {
    host: Arc<WindowsHost>,
    mapper: SocketAddr,
    objects: SocketAddr,
    /// Ends with the test.
    _tasks: JoinSet<()>,
}

impl World {
    /// A host on two ports of loopback.
    async fn new() -> Self {
        let host = host();
        let listen = async || TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (mapper, objects) = (listen().await, listen().await);
        let addresses = [&mapper, &objects].map(|listener| listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        let (served, limits) = (Arc::clone(&host), server::Limits::default());
        tasks.spawn(async move { server::listen_dcom(served, mapper, objects, limits).await.unwrap() });
        let [mapper, objects] = addresses;
        Self { host, mapper, objects, _tasks: tasks }
    }

    async fn bind(&self, address: SocketAddr, interface: SyntaxId) -> TcpSession {
        let target = Target::new(address.ip().to_string(), address.port());
        let connector = TcpConnector::default();
        let reached = TcpReached::connect(target, Options::default(), &connector, soon()).await.unwrap();
        reached.bind(SERVICE, None, &[interface], soon()).await.unwrap()
    }

    fn rule(&self, text: &str) {
        let rules = vec![text.parse().unwrap()];
        self.host.change_behaviour(|behaviour| behaviour.rules = rules);
    }

    async fn session(&self, interface: SyntaxId) -> Result<TcpSession, SessionError> {
        let port = TcpPort::Mapped { interface, mapper: self.mapper.port() };
        let (credentials, options, connector) = (credentials(), Options::default(), TcpConnector::default());
        let reached = TcpReached::connect_service(
            "127.0.0.1",
            port,
            SERVICE,
            Some(&credentials),
            options,
            &connector,
            soon(),
        );
        reached.await?.bind(SERVICE, Some(&credentials), &[interface], soon()).await
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

async fn list(session: &mut TcpSession, page_entries: u32) -> EndpointMap {
    let limits = Limits { page_entries, ..Limits::default() };
    EndpointMapper::new(session.channel(0, soon())).with_limits(limits).lookup(Inquiry::All).await.unwrap()
}

fn lookup(entry_handle: ContextHandle) -> EptLookupRequest {
    EptLookupRequest {
        inquiry_type: InquiryType::RPC_C_EP_ALL_ELTS,
        object: None,
        interface: None,
        versions: VersionOption::RPC_C_VERS_ALL,
        entry_handle,
        entries_max: 1,
    }
}

#[tokio::test]
async fn a_host_lists_its_interfaces_with_where_they_are() {
    let world = World::new().await;
    let mut session = world.bind(world.mapper, rpc::endpoints::epm::SYNTAX_ID).await;
    let whole = list(&mut session, 500).await;
    let shown: Vec<String> =
        whole.entries.iter().map(|entry| format!("{} {}", entry.tower.binding, entry.annotation)).collect();
    let port = world.objects.port();
    let at = |name: &str| {
        [format!("ncacn_ip_tcp:127.0.0.1[{port}] {name}"), format!("ncalrpc:[LRPC-{port:018x}] {name}")]
    };
    let pipe = |name: &str| format!(r"ncacn_np:\\web1[\PIPE\winreg] RemoteRegistry {name}");
    let expected = [
        &[pipe("Perflib Interface"), pipe("Interface")][..],
        &at("COM+ Tracker"),
        &at("COM+ Event System"),
        &at("COM+ Event System"),
    ];
    assert_eq!(shown, expected.concat());
    for page_entries in [1, 3] {
        assert_eq!(list(&mut session, page_entries).await, whole);
    }
}

#[tokio::test]
async fn the_port_of_the_tracker_is_that_of_the_hosts_objects_and_the_registry_has_none() {
    let world = World::new().await;
    let session = world.session(TRACKER).await.unwrap();
    assert_eq!(session.target().port, world.objects.port());
    let error = world.session(counters::rrp::SYNTAX_ID).await.unwrap_err();
    assert!(error.detail().contains("knows no TCP port of 338cd001"), "{error}");
    assert_eq!((world.host.counts().calls("epm", 3), world.host.counts().calls("epm", 4)), (2, 0));
}

#[tokio::test]
async fn lookups_that_are_not_ended_are_few_and_can_be_lost() {
    let world = World::new().await;
    let mut session = world.bind(world.mapper, rpc::endpoints::epm::SYNTAX_ID).await;
    let mut mapper = Client::<_, rpc::endpoints::epm::ept::Ept>::new(session.channel(0, soon()));
    let mut handles = Vec::new();
    for _ in 0..LOOKUPS_MAX {
        handles.push(mapper.call(&lookup(ContextHandle::NULL)).await.unwrap().entry_handle);
    }
    let error = mapper.call(&lookup(ContextHandle::NULL)).await.unwrap_err();
    assert_eq!(error.status(), Some(ErrorStatus::EPT_S_NO_MEMORY), "{error}");
    handles[0] = mapper.call(&lookup(handles[0])).await.unwrap().entry_handle;
    world.rule("epm/2x1=lose-handles");
    mapper.call(&lookup(handles[1])).await.unwrap_err();
    let error = mapper.call(&lookup(handles[0])).await.unwrap_err();
    assert!(error.to_string().contains(&FaultStatus::NCA_S_FAULT_CONTEXT_MISMATCH.to_string()), "{error}");
    world.rule("epm/2x1=status:7");
    let error = mapper.call(&lookup(ContextHandle::NULL)).await.unwrap_err();
    assert_eq!(error.status(), Some(ErrorStatus(7)));
    let mut other = lookup(ContextHandle::NULL);
    other.inquiry_type = InquiryType::RPC_C_EP_MATCH_BY_IF;
    let error = mapper.call(&other).await.unwrap_err();
    assert_eq!(error.status(), Some(ErrorStatus::EPT_S_CANT_PERFORM_OP));
}

/// What a call of each method answers, and what it adds to the counts of its endpoint.
async fn manage<C: dcerpc::Channel>(channel: C, expected: &[SyntaxId]) {
    let mut server = Management::new(channel);
    let interfaces = server.interfaces().await.unwrap();
    let management = [rpc::endpoints::mgmt::SYNTAX_ID];
    for interface in expected.iter().chain(&management) {
        assert!(interfaces.contains(interface), "{interface}");
    }
    assert!(server.is_listening().await.unwrap());
    let name = server.principal_name(AuthenticationService::WINNT).await.unwrap();
    assert_eq!(name, "host/web1");
    server.principal_name(AuthenticationService::GSS_KERBEROS).await.unwrap_err();
    let before = server.statistics().await.unwrap();
    server.is_listening().await.unwrap();
    let after = server.statistics().await.unwrap();
    let Statistics { calls_in, calls_out, packets_in, packets_out } = before;
    let added = Statistics {
        calls_in: calls_in + 2,
        calls_out,
        packets_in: packets_in + 2,
        packets_out: packets_out + 2,
    };
    assert_eq!(after, added);
    // This call and the four before it; a bind beside them; its own answer is still to be sent.
    assert_eq!((calls_in, calls_out, packets_out), (5, 0, packets_in - 1), "{before:?}");
    assert!(packets_in > calls_in);
}

#[tokio::test]
async fn each_port_says_what_it_offers_and_counts_for_itself() {
    let world = World::new().await;
    let of_mapper = [rpc::endpoints::epm::SYNTAX_ID, com::dcom::resolver::IObjectExporter::SYNTAX_ID];
    for (address, interfaces) in [(world.mapper, &of_mapper[..]), (world.objects, &[TRACKER])] {
        let mut session = world.bind(address, rpc::endpoints::mgmt::SYNTAX_ID).await;
        manage(session.channel(0, soon()), interfaces).await;
    }
}

#[tokio::test]
async fn a_pipe_says_what_it_offers_and_counts_for_itself() {
    let world = World::new().await;
    let (ours, theirs) = duplex(64 * 1024);
    tokio::spawn(server::serve_smb(Arc::clone(&world.host), theirs, Duration::from_secs(3600)));
    let mut smb =
        SmbConnection::negotiate(Box::new(ours), "web1", SmbOptions::default(), soon()).await.unwrap();
    smb.authenticate(credentials(), soon()).await.unwrap();
    smb.connect_ipc(soon()).await.unwrap();
    let pipe = NamedPipe::open(&Arc::new(Mutex::new(smb)), "winreg", soon()).await.unwrap();
    let security = Security::sealed(credentials(), "cifs/web1");
    let bound = Association::bind(
        pipe,
        &[rpc::endpoints::mgmt::SYNTAX_ID],
        Some(&security),
        ClientConfig::default(),
        soon(),
    );
    let mut association = bound.await.unwrap();
    let mut server = Management::new(association.channel(0, soon()));
    let interfaces = server.interfaces().await.unwrap();
    assert_eq!(
        interfaces,
        [counters::pcq::SYNTAX_ID, counters::rrp::SYNTAX_ID, rpc::endpoints::mgmt::SYNTAX_ID]
    );
    let before = server.statistics().await.unwrap();
    let after = server.statistics().await.unwrap();
    assert_eq!(after.to_array(), [3, 0, before.packets_in + 1, before.packets_out + 1]);
}

#[tokio::test]
async fn nobody_stops_a_server() {
    let world = World::new().await;
    let mut session = world.bind(world.mapper, rpc::endpoints::mgmt::SYNTAX_ID).await;
    let mut server = Client::<_, Mgmt>::new(session.channel(0, soon()));
    let error = server.call(&StopServerListeningRequest {}).await.unwrap_err();
    assert_eq!(error.status(), Some(ErrorStatus::ACCESS_DENIED));
    world.rule("mgmt/1x1=status:9");
    let error = Management::new(session.channel(0, soon())).statistics().await.unwrap_err();
    assert_eq!(error.status(), Some(ErrorStatus(9)));
}
