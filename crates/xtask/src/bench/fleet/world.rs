//! The programs of one run: simulated hosts on loopback addresses, and the exporter that polls them.

use std::collections::HashMap;
use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Instant;

use rustix::net::{self, AddressFamily, SocketFlags, SocketType};

use super::Fleet;
use crate::Result;
use crate::process::Running;
use crate::stage::{ACCOUNT, Stage};
use crate::workspace::Workspace;

/// How a host behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Healthy,
    /// Answers each query after three seconds.
    Slow,
    /// Never answers: every second one accepts the connection, the others do not.
    Dark,
}

impl Kind {
    /// What its hosts' names begin with, and the first of their addresses.
    const fn range(self) -> (&'static str, Ipv4Addr) {
        match self {
            Self::Healthy => ("host", Ipv4Addr::new(127, 1, 0, 1)),
            Self::Slow => ("slow", Ipv4Addr::new(127, 2, 0, 1)),
            Self::Dark => ("dark", Ipv4Addr::new(127, 3, 0, 1)),
        }
    }
}

/// Everything that runs. Dropping it ends it.
pub(super) struct World<'a> {
    // The exporter goes first, so that its targets do not go down for it.
    pub(super) exporter: Running,
    pub(super) simulators: Vec<Running>,
    pub(super) address: SocketAddr,
    /// What each target's place among the figures is.
    pub(super) places: HashMap<String, usize>,
    pub(super) kinds: Vec<Kind>,
    /// When the exporter was started.
    pub(super) begun: Instant,
    _dark: Vec<Dark>,
    _stage: Stage<'a>,
}

impl<'a> World<'a> {
    /// Starts all of it.
    pub(super) fn start(workspace: &'a Workspace, fleet: Fleet) -> Result<Self> {
        let stage = Stage::new(workspace)?;
        let port = free_port()?;
        let mut simulators = Vec::new();
        for (kind, more) in [(Kind::Healthy, &[][..]), (Kind::Slow, &["--fault", "6=delay:3s"])] {
            let count = fleet.count(kind);
            if count > 0 {
                simulators.push(simulator(&stage, kind, count, port, more)?);
            }
        }
        let dark = (0..fleet.count(Kind::Dark)).map(|index| Dark::new(index, port));
        let dark = dark.collect::<std::io::Result<Vec<_>>>()?;
        let password_file = stage.password_file()?.display().to_string();
        let configuration = configuration(fleet, port, &password_file);
        let begun = Instant::now();
        let (exporter, address) = stage.exporter_with(&configuration)?;
        let named = hosts(fleet).enumerate();
        let places = named.map(|(place, (kind, index))| (name(kind, index), place)).collect();
        let kinds = hosts(fleet).map(|(kind, _)| kind).collect();
        Ok(Self { exporter, simulators, address, places, kinds, begun, _dark: dark, _stage: stage })
    }

    /// Ends the programs in order.
    pub(super) fn end(self) -> Result<()> {
        self.exporter.end()?;
        self.simulators.into_iter().try_for_each(|simulator| simulator.end().map(|_| ()))
    }
}

/// A host of [`Kind::Dark`].
struct Dark {
    listener: OwnedFd,
    _queued: Option<TcpStream>,
}

impl Dark {
    /// No program accepts connections here. The kernel completes as many as the queue holds, and one more; of those that
    /// come then it drops the first packet, as a firewall does.
    fn new(index: u32, port: u16) -> std::io::Result<Self> {
        let address = SocketAddr::from((address(Kind::Dark, index), port));
        let listener = net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        net::bind(&listener, &address)?;
        let is_deaf = index.is_multiple_of(2);
        net::listen(&listener, if is_deaf { 0 } else { 128 })?;
        let queued = is_deaf.then(|| TcpStream::connect(address)).transpose()?;
        Ok(Self { listener, _queued: queued })
    }
}

impl Drop for Dark {
    /// Ends the listener by itself: a child that is being started may have its descriptor a moment longer.
    fn drop(&mut self) {
        let _ = net::shutdown(&self.listener, net::Shutdown::Both);
    }
}

fn hosts(fleet: Fleet) -> impl Iterator<Item = (Kind, u32)> {
    let kinds = [Kind::Healthy, Kind::Slow, Kind::Dark].into_iter();
    kinds.flat_map(move |kind| (0..fleet.count(kind)).map(move |index| (kind, index)))
}

fn name(kind: Kind, index: u32) -> String {
    format!("{}{index:05}", kind.range().0)
}

fn address(kind: Kind, index: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(kind.range().1.to_bits() + index)
}

fn simulator(stage: &Stage<'_>, kind: Kind, count: u32, port: u16, more: &[&str]) -> Result<Running> {
    let (bind, count, port) = (address(kind, 0).to_string(), count.to_string(), port.to_string());
    let options = ["--bind", &bind, "--smb-port", &port, "--hosts", &count];
    Ok(stage.simulator(&[&options[..], &HOST, more].concat())?.0)
}

const HOST: [&str; 6] = ["--processors", "4", "--services", "4", "--slots", "0"];
/// About 500 series, of countersets and classic objects and of facts of the host: what dashboards of hosts read, and four
/// processes.
const MODULE: &str = "{plugin: pcq, host_info: true, countersets: [{name: Processor Information}, {name: Memory}, \
    {name: LogicalDisk}, {name: PhysicalDisk}, {name: Network Interface}, {name: System}, {name: Paging File}, \
    {name: TCPv4}, {name: Process V2, instances: {include: [{wildcard: 'svchost*'}, {wildcard: 'sqlservr*'}]}}]}";

fn configuration(fleet: Fleet, port: u16, password_file: &str) -> String {
    let (domain, user) = ACCOUNT.split_once('\\').unwrap_or(("", ACCOUNT));
    let interval = fleet.interval_s;
    let mut text = format!(
        "web: {{listen: ['127.0.0.1:0'], metrics_targets: false}}\n\
         plugins: {{load: [pcq]}}\n\
         scrape: {{interval: {interval}s}}\n\
         modules: {{os: {MODULE}}}\n\
         identities:\n  fleet: {{kind: ntlm, domain: {domain}, username: {user}, \
         password_file: {password_file}, allow_hosts: [127.0.0.0/8]}}\n\
         transports: {{fleet: {{smb: {{port: {port}}}}}}}\n\
         targets:\n"
    );
    for (kind, index) in hosts(fleet) {
        let (name, host) = (name(kind, index), address(kind, index));
        let entry =
            format!("{{name: {name}, host: {host}, identity: fleet, transport: fleet, modules: [os]}}");
        let _ = writeln!(text, "  - {entry}");
    }
    text
}

/// A port that nothing listens on and that no outgoing connection is given.
fn free_port() -> Result<u16> {
    let is_free = |port: &u16| {
        let kinds = [Kind::Healthy, Kind::Slow, Kind::Dark];
        kinds.iter().all(|kind| TcpListener::bind((address(*kind, 0), *port)).is_ok())
    };
    PORTS.step_by(7).find(is_free).ok_or_else(|| "no free port".into())
}

/// Below those that Linux takes for outgoing connections.
const PORTS: std::ops::Range<u16> = 20_450..30_000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_dark_host_either_drops_connections_or_takes_them_in_silence() {
        let port = free_port().unwrap();
        let hosts = [Dark::new(0, port).unwrap(), Dark::new(1, port).unwrap()];
        let connect = |index| {
            let address = SocketAddr::from((address(Kind::Dark, index), port));
            TcpStream::connect_timeout(&address, Duration::from_millis(200)).map_err(|error| error.kind())
        };
        assert_eq!(connect(0).err(), Some(std::io::ErrorKind::TimedOut));
        assert!(connect(1).is_ok());
        drop(hosts);
        assert_eq!(connect(1).err(), Some(std::io::ErrorKind::ConnectionRefused));
    }
}
