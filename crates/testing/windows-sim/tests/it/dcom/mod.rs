//! Objects of a host, over loopback, with the project's client.

mod dumps;
mod events;
mod lamp;
mod objects;
mod performance_logs;
mod references;
mod refusals;
mod tracker;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dcom::client::{Object, ReachedResolver, Resolver};
use host_session::{Options, SessionError, Target, TcpReached, TcpService, TcpSession};
use rpc::SyntaxId;
use ssp::{Credentials, Secret};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Instant;
use transport::TcpConnector;
use windows_sim::model::{Clock, ValueSource};
use windows_sim::service;
use windows_sim::service::event_system;
use windows_sim::service::objects::ComClass;
use windows_sim::service::performance_logs as performance_logs_service;
use windows_sim::service::process_dump::ProcessDumpService;
use windows_sim::service::tracker::Tracker;
use windows_sim::{Accounts, WindowsHost, server};
use wire::Guid;

use self::lamp::LampClass;
use crate::host::{NOON, account, credentials, model};

pub(crate) struct World {
    host: Arc<WindowsHost>,
    clock: Clock,
    source: Arc<dyn ValueSource>,
    accounts: Arc<Accounts>,
    lamps: Arc<AtomicU32>,
    resolver: SocketAddr,
    exporter: SocketAddr,
    /// Ends with the test.
    _tasks: JoinSet<()>,
}

impl World {
    /// A host with lamps and COM+ applications, on two ports of loopback.
    pub(crate) async fn new() -> Self {
        Self::at("127.0.0.1").await
    }

    /// The same on two ports of this address.
    async fn at(address: &str) -> Self {
        let clock = Clock::manual(NOON);
        let (accounts, class) = (Arc::new(Accounts::new(vec![account()])), LampClass::default());
        let lamps = Arc::clone(&class.0);
        let mut classes: Vec<Arc<dyn ComClass>> =
            vec![Arc::new(class), Arc::new(Tracker), Arc::new(ProcessDumpService)];
        classes.extend(event_system::classes());
        classes.extend(performance_logs_service::classes());
        let services = service::dcom(classes);
        let source: Arc<dyn ValueSource> = Arc::new(model(&clock));
        let host = WindowsHost::with_services("web1", Arc::clone(&source), Arc::clone(&accounts), &services);
        let host = Arc::new(host);
        let listen = async || TcpListener::bind((address, 0)).await.unwrap();
        let (resolver, exporter) = (listen().await, listen().await);
        let addresses = [&resolver, &exporter].map(|listener| listener.local_addr().unwrap());
        let mut tasks = JoinSet::new();
        let limits = server::Limits { connections_max: 8, idle_max: Duration::from_secs(60) };
        let served = Arc::clone(&host);
        tasks.spawn(async move { server::listen_dcom(served, resolver, exporter, limits).await.unwrap() });
        let [resolver, exporter] = addresses;
        Self { host, clock, source, accounts, lamps, resolver, exporter, _tasks: tasks }
    }

    fn lamps(&self) -> u32 {
        self.lamps.load(Ordering::Relaxed)
    }

    async fn log_on(&self, credentials: Credentials) -> Result<Resolver, SessionError> {
        let options = Options::default();
        let connector = TcpConnector::default();
        let reached = ReachedResolver::connect(target(self.resolver), options, &connector, soon()).await?;
        reached.log_on(credentials, &connector, soon()).await
    }

    async fn activate(&self, class: Guid, interface: Guid) -> Result<Object, SessionError> {
        let resolver = self.log_on(credentials()).await?;
        resolver.activate(class, &[interface], Arc::new(TcpConnector::default()), soon()).await
    }

    /// A connection to one of the ports, without credentials or with.
    async fn bind(
        &self,
        address: SocketAddr,
        credentials: Option<Credentials>,
        interface: SyntaxId,
    ) -> Result<TcpSession, SessionError> {
        let service = TcpService { class: "RPCSS", stopped: host_session::Reason::NotFound };
        let connector = TcpConnector::default();
        let reached = TcpReached::connect(target(address), Options::default(), &connector, soon()).await?;
        reached.bind(service, credentials.as_ref(), &[interface], soon()).await
    }
}

fn target(address: SocketAddr) -> Target {
    Target::new(address.ip().to_string(), address.port())
}

fn wrong_credentials() -> Credentials {
    Credentials::new("CORP", "svc-metrics", Secret::new("hunter2 (made up)"))
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}
