use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use test_support::name_server::NameServer;
use tokio::time::Instant;
use transport::resolver::{Files, Limits, LookupError, Resolver};

/// A machine with two files and a name server.
pub(crate) struct World {
    pub(crate) resolver: Resolver,
    pub(crate) server: NameServer,
    folder: TempDir,
}

pub(crate) fn late() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

impl World {
    pub(crate) fn new(hosts: &str) -> Self {
        Self::with(hosts, "", Limits::default())
    }

    pub(crate) fn with(hosts: &str, resolv_conf: &str, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = NameServer::start(None).unwrap();
        let files = Files {
            hosts: folder.path().join("hosts"),
            resolv_conf: folder.path().join("resolv.conf"),
            port: server.address().port(),
        };
        let world = Self { resolver: Resolver::new(files, limits), server, folder };
        world.write_hosts(hosts);
        world.write_resolv_conf(resolv_conf);
        world
    }

    /// A server on another address and the same port.
    pub(crate) fn second_server(&self) -> NameServer {
        let address = SocketAddr::from((Ipv4Addr::new(127, 0, 0, 2), self.server.address().port()));
        NameServer::start(Some(address)).unwrap()
    }

    pub(crate) fn write_hosts(&self, text: &str) {
        self.replace("hosts", text);
    }

    pub(crate) fn write_resolv_conf(&self, text: &str) {
        self.replace("resolv.conf", &format!("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n{text}"));
    }

    fn replace(&self, name: &str, text: &str) {
        let new = self.path("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.path(name)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) async fn find(&self, name: &str) -> Vec<String> {
        let found = self.resolver.lookup(name, late()).await;
        let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
        found.iter().map(ToString::to_string).collect()
    }

    pub(crate) async fn fail(&self, name: &str) -> LookupError {
        self.resolver.lookup(name, late()).await.unwrap_err()
    }

    /// Waits until the server was asked for this number of names.
    pub(crate) async fn wait_asked(&self, names: usize) {
        self.wait("not asked", async || {
            let mut asked = self.server.asked();
            asked.sort();
            asked.dedup();
            asked.len() >= names
        })
        .await;
    }

    pub(crate) async fn wait_found(&self, name: &str, address: &str) {
        self.wait(address, async || {
            let found = self.resolver.lookup(name, late()).await;
            found.is_ok_and(|found| found.iter().any(|found| found.to_string() == address))
        })
        .await;
    }

    async fn wait(&self, what: &str, mut is_there: impl AsyncFnMut() -> bool) {
        let until = late();
        while !is_there().await {
            assert!(Instant::now() < until, "{what}");
            tokio::task::yield_now().await;
        }
    }
}
