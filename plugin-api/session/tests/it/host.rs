//! A simulated host on a port of loopback.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;
use plugin_sdk::Target;
use plugin_sdk::testing::FakeIdentity;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use windows_sim::model::{Host, HostOptions};
use windows_sim::service::{self, Service};
use windows_sim::{Account, Accounts, WindowsHost, server};

const PASSWORD: &str = "Passw0rd-of-the-test";
const USER: &str = "svc-metrics";

pub(crate) struct SimHost {
    pub(crate) host: Arc<WindowsHost>,
    port: u16,
    listener: Mutex<JoinHandle<()>>,
    // Last, so that what runs on it ends first.
    runtime: Runtime,
}

impl SimHost {
    pub(crate) fn new() -> Self {
        Self::with_services(Vec::new())
    }

    /// A host that offers these, too.
    pub(crate) fn with_services(services: Vec<Arc<dyn Service>>) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.unwrap();
        let account = Account::new("CORP", USER, ssp::Secret::new(PASSWORD));
        let source = Arc::new(Host::new(HostOptions::default()));
        let accounts = Arc::new(Accounts::new(vec![account]));
        let services = [service::standard(), services].concat();
        let host = Arc::new(WindowsHost::with_services("web1", source, accounts, &services));
        let (port, listener) = listen(&runtime, &host, 0);
        Self { host, port, listener: Mutex::new(listener), runtime }
    }

    /// The host as a target.
    pub(crate) fn target(&self) -> Target {
        Target {
            name: "web1".to_owned(),
            host: "127.0.0.1".to_owned(),
            port: Some(self.port),
            identity: "corp".to_owned(),
            is_on_demand: false,
        }
    }

    /// From now on these calls go wrong, and no others.
    pub(crate) fn rule(&self, rule: &str) {
        self.host.change_behaviour(|behaviour| behaviour.rules = vec![rule.parse().unwrap()]);
    }

    /// Ends all connections, and accepts new ones.
    pub(crate) fn cut(&self) {
        let mut listener = self.listener.lock();
        listener.abort();
        while !listener.is_finished() {
            std::thread::yield_now();
        }
        *listener = listen(&self.runtime, &self.host, self.port).1;
    }

    /// Calls of a method of the registry so far.
    pub(crate) fn calls(&self, opnum: u16) -> u64 {
        self.host.counts().calls("winreg", opnum)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.host.counts().connections.load(Ordering::Relaxed)
    }

    /// Logons so far, over SMB and RPC: accepted and refused ones.
    pub(crate) fn logons(&self) -> (u64, u64) {
        let attempts = self.host.accounts().attempts();
        attempts.values().fold((0, 0), |sum, seen| (sum.0 + seen.accepted, sum.1 + seen.refused))
    }

    pub(crate) fn change_password(&self) {
        self.host.accounts().change(|accounts| accounts[0].password = ssp::Secret::new("another one"));
    }
}

/// The account with the right password.
pub(crate) fn identity() -> FakeIdentity {
    with_password(PASSWORD)
}

pub(crate) fn with_password(password: &str) -> FakeIdentity {
    FakeIdentity { domain: "CORP".to_owned(), username: USER.to_owned(), password: password.to_owned() }
}

fn listen(runtime: &Runtime, host: &Arc<WindowsHost>, port: u16) -> (u16, JoinHandle<()>) {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let listener = runtime.block_on(TcpListener::bind(address)).unwrap();
    let port = listener.local_addr().unwrap().port();
    (port, runtime.spawn(server::listen_smb(Arc::clone(host), listener, server::Limits::default())))
}
