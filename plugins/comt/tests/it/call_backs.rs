//! Where simulated hosts call back.

use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, LazyLock};

use plugin_abi::ListeningSockets;
use plugin_host::{Host, HostOptions, Library};

/// The socket for call-backs, as the service manager would open it: there is one in this process, as in each.
static CALL_BACKS: LazyLock<std::net::TcpListener> = LazyLock::new(|| {
    let socket = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port on loopback");
    socket.set_nonblocking(true).expect("it is a socket");
    socket
});

pub(crate) fn port() -> u16 {
    CALL_BACKS.local_addr().expect("its number").port()
}

/// Hands the socket to the plugin.
#[derive(Debug)]
pub(crate) struct Sockets;

impl ListeningSockets for Sockets {
    fn socket(&self, plugin: &str, name: &str) -> std::io::Result<Option<OwnedFd>> {
        assert_eq!((plugin, name), ("comt", "events"));
        Ok(Some(CALL_BACKS.try_clone()?.into()))
    }
}

/// The first host of the process, which is asked for the socket whichever host an instance is of.
pub(crate) static FIRST: LazyLock<(Host, Library)> = LazyLock::new(|| {
    let host = Host::new(HostOptions { sockets: Arc::new(Sockets), ..HostOptions::default() });
    let library = host.link("comt", plugin_comt::entry).expect("the plugin is linked");
    (host, library)
});
