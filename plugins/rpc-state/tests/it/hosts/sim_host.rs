//! Simulated hosts on loopback: one whose endpoint map a test writes, and the servers that it leads to.

use std::net::{Ipv4Addr, TcpListener as StdListener};
use std::sync::Arc;

use plugin_harness::account;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use windows_sim::model::{Host, HostOptions};
use windows_sim::service::{self, Service};
use windows_sim::{WindowsHost, server};

use super::mapper::{Map, Mapper};

/// A host at an address of loopback.
pub(crate) struct SimHost {
    sim: plugin_harness::SimHost,
    pub(crate) map: Map,
    address: Ipv4Addr,
}

impl std::ops::Deref for SimHost {
    type Target = plugin_harness::SimHost;

    fn deref(&self) -> &Self::Target {
        &self.sim
    }
}

impl SimHost {
    /// With a map that a test writes.
    pub(crate) fn new() -> Self {
        let map = Map::default();
        let others = service::standard().into_iter().filter(|one| one.name() != "epm");
        let services: Vec<_> = others.chain([Arc::new(Mapper(map.clone())) as Arc<dyn Service>]).collect();
        Self::with_services(&services, map, Ipv4Addr::LOCALHOST)
    }

    /// With the map that simulated hosts have.
    pub(crate) fn standard() -> Self {
        Self::standard_on(Ipv4Addr::LOCALHOST)
    }

    pub(crate) fn standard_on(address: Ipv4Addr) -> Self {
        Self::with_services(&service::standard(), Map::default(), address)
    }

    fn with_services(services: &[Arc<dyn Service>], map: Map, address: Ipv4Addr) -> Self {
        let source = Arc::new(Host::new(HostOptions::default()));
        let host = WindowsHost::with_services("web1", source, account(), services);
        Self { sim: plugin_harness::SimHost::dcom(host, address), map, address }
    }

    /// A port that takes connections and never answers.
    pub(crate) fn black_hole(&self) -> u16 {
        let listener = self.runtime().block_on(TcpListener::bind((self.address, 0))).expect("a port");
        let port = listener.local_addr().expect("its number").port();
        let host = Arc::clone(&self.host);
        self.runtime().spawn(server::listen_black_hole(host, listener, server::Limits::default()));
        port
    }

    /// A server of RPC that knows no way to log on.
    pub(crate) fn without_security(&self) -> u16 {
        let listener = self.runtime().block_on(TcpListener::bind((self.address, 0))).expect("a port");
        let port = listener.local_addr().expect("its number").port();
        self.runtime().spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bind = [0; 4096];
                if stream.read(&mut bind).await.is_ok_and(|length| length > 16) {
                    // A bind_nak of the call: authentication_type_not_recognized, and the version 5.0.
                    let mut nak = [5, 0, 13, 3, 16, 0, 0, 0, 21, 0, 0, 0, 0, 0, 0, 0, 8, 0, 1, 5, 0];
                    nak[12..16].copy_from_slice(&bind[12..16]);
                    let _ = stream.write_all(&nak).await;
                }
            }
        });
        port
    }

    /// Another port of the program at `objects`.
    pub(crate) fn another_port(&self) -> u16 {
        let listener = self.runtime().block_on(TcpListener::bind((self.address, 0))).expect("a port");
        let port = listener.local_addr().expect("its number").port();
        let program = (self.address, self.objects);
        self.runtime().spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut server = TcpStream::connect(program).await.expect("it listens");
                tokio::spawn(async move { copy_bidirectional(&mut client, &mut server).await });
            }
        });
        port
    }

    /// Calls of a method of the management interface so far, at all ports.
    pub(crate) fn management_calls(&self, opnum: u16) -> u64 {
        self.host.counts().calls("mgmt", opnum)
    }

    pub(crate) fn change_password(&self) {
        self.change_account(|account| account.password = ssp::Secret::new("another one"));
    }
}

/// A port at which nobody listens.
pub(crate) fn closed_port() -> u16 {
    let listener = StdListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    listener.local_addr().expect("its number").port()
}
