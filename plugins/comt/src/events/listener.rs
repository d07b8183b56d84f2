//! Where hosts call back: one listener for all targets of the process, opened with the first subscription and kept to the end
//! of the process.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, OnceLock};

use com::dcom::RESOLVER_PORT;
use dcom::callbacks::{AdvertisedAddress, Exporter, Subscriber, SubscriberLimits, Subscribers, UnknownPeers};
use dcom::rpc_server::{Deadlines, TcpListeners};
use plugin_sdk::{Failure, LibrarySettings, Problem, Stage};
use plugin_session::recorder;
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use crate::reasons::EVENT_LISTENER_FAILED;
use crate::tracker::NAMES;

/// The name of the service manager's socket, after `plugin.comt.`.
const SOCKET: &str = "events";
/// Addresses in one list.
const LISTEN_MAX: usize = 16;

/// The settings of the whole plugin: `plugins.settings.comt`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a mapping such as `events: {listen: ['0.0.0.0:135']}`")]
pub(crate) struct LibraryOptions {
    events: ListenerOptions,
}

/// Where hosts call back.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a mapping such as `{listen: ['0.0.0.0:135'], advertise: collector.corp.example.com}`"
)]
pub(crate) struct ListenerOptions {
    pub(crate) listen: Vec<SocketAddr>,
    /// The name or address that hosts get. Without it, that of the interface through which this machine reaches the host.
    pub(crate) advertise: Option<String>,
    /// The port that hosts get. Without it, that of the first listener.
    pub(crate) advertise_port: Option<u16>,
}

impl Default for ListenerOptions {
    fn default() -> Self {
        let everywhere = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), RESOLVER_PORT);
        Self { listen: vec![everywhere], advertise: None, advertise_port: None }
    }
}

static OPTIONS: OnceLock<LibraryOptions> = OnceLock::new();
/// The listener, once it is open.
static LISTENING: Mutex<Option<Arc<Listening>>> = Mutex::const_new(None);

impl LibrarySettings for LibraryOptions {
    fn check(&self) -> Vec<Problem> {
        let ListenerOptions { listen, advertise, advertise_port } = &self.events;
        let mut problems = Vec::new();
        if listen.is_empty() || listen.len() > LISTEN_MAX {
            let message = format!("write from 1 to {LISTEN_MAX} addresses");
            problems.push(Problem::new("/events/listen", message).suggest("0.0.0.0:135"));
        }
        if let Some(Err(error)) =
            advertise.as_ref().map(|host| AdvertisedAddress::new(host.as_str(), RESOLVER_PORT))
        {
            problems.push(Problem::new("/events/advertise", error.to_string()));
        }
        if *advertise_port == Some(0) {
            problems.push(Problem::new("/events/advertise_port", "write a port from 1 to 65535"));
        }
        problems
    }

    fn configure(self) -> Result<(), Vec<Problem>> {
        if *OPTIONS.get_or_init(|| self.clone()) == self {
            return Ok(());
        }
        Err(vec![Problem::new("/events", "the process has other settings of this plugin: restart it")])
    }
}

/// The listener that all targets share.
#[derive(Debug)]
pub(crate) struct Listening {
    subscribers: Subscribers,
    advertise: Option<String>,
    port: u16,
    /// Ends when it is dropped.
    _listeners: TcpListeners,
}

/// The listener of the process, which is opened if it is not yet.
///
/// # Errors
/// If the addresses cannot be listened on. The next call tries again.
pub(crate) async fn shared() -> Result<Arc<Listening>, Failure> {
    let mut shared = LISTENING.lock().await;
    if let Some(listening) = &*shared {
        return Ok(Arc::clone(listening));
    }
    let options = OPTIONS.get().cloned().unwrap_or_default().events;
    let handed = plugin_sdk::listening_socket(SOCKET);
    let handed = handed.map_err(|error| failed(format!("take the socket plugin.comt.{SOCKET}: {error}")))?;
    let listening = match handed {
        Some(socket) => {
            let listener = TcpListener::from_std(socket)
                .map_err(|error| failed(format!("use the socket plugin.comt.{SOCKET}: {error}")))?;
            Listening::new(vec![listener], &options)
        }
        None => Listening::open(&options).await,
    };
    let listening = Arc::new(listening.map_err(failed)?);
    *shared = Some(Arc::clone(&listening));
    drop(shared);
    tracing::info!(port = listening.port, "Listening for COM+ events of hosts");
    Ok(listening)
}

pub(super) fn failed(message: String) -> Failure {
    Failure::new(Stage::Plugin, EVENT_LISTENER_FAILED, message)
}

impl Listening {
    /// Listens on the addresses of the options.
    ///
    /// # Errors
    /// With the address that is not free or not allowed.
    pub(crate) async fn open(options: &ListenerOptions) -> Result<Self, String> {
        let mut listeners = Vec::with_capacity(options.listen.len());
        for address in &options.listen {
            let listener = TcpListener::bind(address).await;
            listeners.push(listener.map_err(|error| format!("listen on {address}: {error}"))?);
        }
        Self::new(listeners, options)
    }

    fn new(listeners: Vec<TcpListener>, options: &ListenerOptions) -> Result<Self, String> {
        let of = |error: io::Error| format!("listen for call-backs: {error}");
        let own = listeners.first().map(TcpListener::local_addr).transpose().map_err(of)?;
        let port = options.advertise_port.or(own.map(|address| address.port())).unwrap_or(RESOLVER_PORT);
        let exporter = Exporter::new(Subscribers::INTERFACES);
        let observers = Arc::new(recorder(NAMES));
        let server =
            exporter.server_observed(dcom::rpc_server::Limits::default(), Deadlines::default(), observers);
        let subscribers = Subscribers::new(exporter, SubscriberLimits::default());
        let listeners = TcpListeners::start(&server, listeners).map_err(of)?;
        Ok(Self { subscribers, advertise: options.advertise.clone(), port, _listeners: listeners })
    }

    /// Where a host with this address calls back.
    ///
    /// # Errors
    /// If this machine has no address towards the host, or a wrong one is configured.
    pub(crate) fn advertised(&self, host: IpAddr) -> Result<AdvertisedAddress, String> {
        let advertised = match &self.advertise {
            Some(name) => name.clone(),
            None => own_address_towards(host)
                .map_err(|error| {
                    format!("find this machine's address towards {host}: {error}; set `advertise`")
                })?
                .to_string(),
        };
        AdvertisedAddress::new(advertised, self.port).map_err(|error| error.to_string())
    }

    /// A subscriber that is called from these addresses.
    ///
    /// # Errors
    /// If the system has no random numbers for its identifiers.
    pub(crate) fn subscribe(
        &self,
        addresses: Vec<IpAddr>,
        advertised: AdvertisedAddress,
    ) -> Result<Subscriber, String> {
        self.subscribers.subscribe(addresses, advertised).map_err(|error| error.to_string())
    }

    /// Connections from addresses that are no target's.
    pub(crate) fn unknown_peers(&self) -> UnknownPeers {
        self.subscribers.unknown_peers()
    }

    /// Name or address, and port, as hosts get them.
    pub(crate) fn place(&self, advertised: &AdvertisedAddress) -> String {
        format!("{} (ports {RESOLVER_PORT} and {})", advertised.host(), self.port)
    }
}

/// The address of the interface through which a host is reached. Nothing is sent.
fn own_address_towards(host: IpAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match host {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect((host, RESOLVER_PORT))?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(settings: &str) -> LibraryOptions {
        plugin_sdk::parse_settings(settings).unwrap()
    }

    #[test]
    fn hosts_are_told_what_is_configured_or_the_way_that_leads_to_them() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let plain = options(r#"{"events": {"listen": ["127.0.0.1:0"]}}"#).events;
            let listening = Listening::open(&plain).await.unwrap();
            let advertised = listening.advertised("127.0.0.1".parse().unwrap()).unwrap();
            assert_eq!((advertised.host(), listening.port == 0), ("127.0.0.1", false));
            let named = ListenerOptions {
                advertise: Some("collector.example".to_owned()),
                advertise_port: Some(2135),
                ..plain
            };
            let listening = Listening::open(&named).await.unwrap();
            let advertised = listening.advertised("127.0.0.1".parse().unwrap()).unwrap();
            assert_eq!(listening.place(&advertised), "collector.example (ports 135 and 2135)");
        });
    }

    #[test]
    fn a_port_that_is_taken_is_named() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let options = options(&format!(r#"{{"events": {{"listen": ["{address}"]}}}}"#)).events;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let error = runtime.block_on(Listening::open(&options)).unwrap_err();
        assert!(error.starts_with(&format!("listen on {address}: ")), "{error}");
        drop(taken);
        runtime.block_on(Listening::open(&options)).unwrap();
    }

    #[test]
    fn settings_that_are_wrong_are_told_by_their_place() {
        assert_eq!(options("{}").check(), []);
        for (settings, place) in [
            (r#"{"listen": []}"#, "/events/listen"),
            (r#"{"advertise": "[::1]"}"#, "/events/advertise"),
            (r#"{"advertise_port": 0}"#, "/events/advertise_port"),
        ] {
            let problems = options(&format!(r#"{{"events": {settings}}}"#)).check();
            assert_eq!(problems.iter().map(|it| it.pointer.as_str()).collect::<Vec<_>>(), [place]);
        }
        let refused = plugin_sdk::parse_settings::<LibraryOptions>(r#"{"events": {"listen": ["135"]}}"#);
        assert_eq!(refused.unwrap_err().pointer, "/events/listen/0");
    }
}
