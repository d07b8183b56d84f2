//! The interface to systemd: notifications, watchdog and sockets, each only if the environment requests it.

use std::collections::HashMap;
use std::env;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

use listenfd::ListenFd;
use plugin_abi::ListeningSockets;
use rustix::net::sockopt::socket_acceptconn;
use rustix::time::{ClockId, clock_gettime};
use tracing::{error, info, warn};

use super::reload_counts::ReloadCounts;
use targets::schedule::Schedule;
use targets::{TargetRegistry, count_by_health};

/// What the names of sockets for plugins begin with.
const PLUGIN_PREFIX: &str = "plugin.";
/// A manager that does not read is not waited for any longer.
const SEND_MAX: Duration = Duration::from_secs(1);
/// The status is renewed so often, where it changed.
const STATUS_EVERY: Duration = Duration::from_secs(10);
/// How often the watchdog is notified within its time.
const FEEDS: u32 = 3;

/// Reports the state of the process to the service manager, if there is one.
///
/// By hand, and not by `sd-notify`, which takes an abstract name for a path, connects again for each message and waits without end
/// for a manager that does not read.
#[derive(Clone, Debug)]
pub(super) struct Notifier(Option<Arc<UnixDatagram>>);

impl Notifier {
    pub(super) fn from_environment() -> Self {
        let Some(name) = env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else {
            return Self(None);
        };
        match connect(name.as_encoded_bytes()) {
            Ok(socket) => Self(Some(Arc::new(socket))),
            Err(error) => {
                warn!(socket = ?name, %error, "Service manager not reachable; it is not notified");
                Self(None)
            }
        }
    }

    /// The process is ready: after the start, and after each reload, also a failed one.
    pub(super) fn ready(&self, status: &str) {
        self.notify(&format!("READY=1\nSTATUS={status}"));
    }

    /// The configuration is being read again; [`Notifier::ready`] follows.
    pub(super) fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let now_us = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
        self.notify(&format!("RELOADING=1\nMONOTONIC_USEC={now_us}\nSTATUS=Reading the configuration again"));
    }

    pub(super) fn stopping(&self) {
        self.notify("STOPPING=1\nSTATUS=Ending");
    }

    fn notify(&self, state: &str) {
        let Some(socket) = &self.0 else { return };
        if let Err(error) = socket.send(state.as_bytes()) {
            warn!(%error, state, "Failed to notify the service manager");
        }
    }

    /// Feeds the watchdog as long as the schedule works, and renews the status, until it is dropped.
    pub(super) async fn keep(
        self,
        schedule: Schedule,
        target_registry: Arc<TargetRegistry>,
        reloads: Arc<ReloadCounts>,
    ) {
        if self.0.is_none() {
            return;
        }
        let watchdog = watchdog();
        let period = watchdog.map_or(STATUS_EVERY, |time| (time / FEEDS).min(STATUS_EVERY));
        let mut last = String::new();
        let mut is_stuck = false;
        loop {
            tokio::time::sleep(period).await;
            if watchdog.is_some() {
                let works = tokio::time::timeout(period, schedule.answers()).await == Ok(true);
                if works {
                    self.notify("WATCHDOG=1");
                } else if !is_stuck {
                    error!("Scheduler does not respond; the watchdog gets no keep-alive");
                }
                is_stuck = !works;
            }
            let status = status(&target_registry, &reloads);
            if status != last {
                self.notify(&format!("STATUS={status}"));
                last = status;
            }
        }
    }
}

/// A line for `systemctl status`.
pub(super) fn status(target_registry: &TargetRegistry, reloads: &ReloadCounts) -> String {
    let targets = target_registry.targets();
    let [down, partial, _, up] = count_by_health(targets.iter().map(|target| target.health()))
        .map(|(state, count)| (state.as_str(), count));
    let states = [up, partial, down].map(|(state, count)| format!(", {state} {count}")).concat();
    let refused = if reloads.last_succeeded() {
        ""
    } else {
        "; the configuration in the file is refused, the previous one is in use"
    };
    format!("Targets: {}{states}{refused}", targets.len())
}

fn connect(name: &[u8]) -> io::Result<UnixDatagram> {
    let address = match name {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        [b'/', ..] => SocketAddr::from_pathname(std::path::Path::new(std::ffi::OsStr::from_bytes(name)))?,
        _ => {
            let message = "NOTIFY_SOCKET is neither a path nor an abstract name";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    socket.set_write_timeout(Some(SEND_MAX))?;
    Ok(socket)
}

/// The manager's patience, by `WATCHDOG_USEC`, where `WATCHDOG_PID` means this process.
fn watchdog() -> Option<Duration> {
    let number = |name| env::var(name).ok()?.parse::<u64>().ok();
    let is_ours = env::var_os("WATCHDOG_PID").is_none()
        || number("WATCHDOG_PID") == Some(u64::from(std::process::id()));
    number("WATCHDOG_USEC").filter(|time| is_ours && *time > 0).map(Duration::from_micros)
}

/// Listeners of the service manager.
#[derive(Debug, Default)]
pub(super) struct Handed {
    /// For the web server.
    pub(super) web: Vec<TcpListener>,
    /// For plugins: those whose names begin with `plugin.`.
    pub(super) plugins: PluginSockets,
}

/// Listeners for plugins by `PLUGIN.NAME`.
#[derive(Debug, Default)]
pub(super) struct PluginSockets(HashMap<String, TcpListener>);

impl ListeningSockets for PluginSockets {
    fn socket(&self, plugin: &str, name: &str) -> io::Result<Option<OwnedFd>> {
        // What is cloned is close-on-exec, and does not block as its origin does not.
        let socket = self.0.get(&format!("{plugin}.{name}")).map(TcpListener::try_clone);
        Ok(socket.transpose()?.map(OwnedFd::from))
    }
}

/// The listeners of `LISTEN_FDS`, `LISTEN_PID` and `LISTEN_FDNAMES`; none without these variables.
pub(super) fn listeners() -> io::Result<Handed> {
    // Without it they may be for another process that left the variable in the environment.
    if env::var_os("LISTEN_PID").is_none() {
        return Ok(Handed::default());
    }
    let names = env::var("LISTEN_FDNAMES").unwrap_or_default();
    let names: Vec<&str> = names.split(':').collect();
    let mut handed = ListenFd::from_env();
    let mut listeners = Handed::default();
    for index in 0..handed.len() {
        let of = |error: io::Error| {
            io::Error::new(error.kind(), format!("take socket {index} of the service manager: {error}"))
        };
        let Some(listener) = handed.take_tcp_listener(index).map_err(of)? else { continue };
        if !socket_acceptconn(&listener)? {
            let message = "it does not listen; the socket unit needs `Accept=no`";
            return Err(of(io::Error::new(io::ErrorKind::InvalidInput, message)));
        }
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        match names.get(index).and_then(|name| name.strip_prefix(PLUGIN_PREFIX)) {
            Some(name) => {
                info!(%address, socket = name, "Keeping a socket of the service manager for a plugin");
                listeners.plugins.0.insert(name.to_owned(), listener);
            }
            None => {
                info!(%address, "Listening on a socket of the service manager");
                listeners.web.push(listener);
            }
        }
    }
    Ok(listeners)
}
