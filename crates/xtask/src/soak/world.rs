//! The programs of a soak: an exporter, healthy hosts, faulty hosts, hosts that start and stop, and collectors.

use std::fmt::Write;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use super::collector::Collector;
use crate::Result;
use crate::process::Running;
use crate::stage::{ACCOUNT, Stage};
use crate::workspace::Workspace;

/// Hosts of one simulator, on addresses of their own.
struct Hosts {
    name: &'static str,
    first: Ipv4Addr,
    port: u16,
    count: u32,
    options: &'static [&'static str],
}

/// Short-lived processes come and go on them, and for a third of each minute a counterset is away.
const HEALTHY: &[&str] =
    &["--processors", "4", "--services", "4", "--slots", "6", "--change", "GPU Engine=absent@1m/20s"];
/// Some never answer, some answer late, and all end sessions often.
const FAULTY: &[&str] = &[
    "--processors",
    "4",
    "--services",
    "4",
    "--black-hole",
    "40%",
    "--slow",
    "30%:2s",
    "--session-expires-after",
    "200",
];
/// Each start is followed by one fault after the other.
const COMING_AND_GOING: &[&str] = &[
    "--processors",
    "4",
    "--services",
    "4",
    "--fault",
    "6+1x1=drop",
    "--fault",
    "6+2x1=garbage",
    "--fault",
    "6+3x1=truncate",
    "--fault",
    "6+4x1=corrupt:total-size",
    "--fault",
    "6+5x1=delay:1s",
    "--refuse-opens",
    "1",
];
/// More healthy hosts, which are targets after every second reload only.
const SPARE: u32 = 5;

/// Everything that runs. Dropping it ends it.
pub(super) struct World<'a> {
    // The exporter goes first, so that its targets do not go down for it.
    pub(super) exporter: Running,
    pub(super) address: SocketAddr,
    pub(super) collector: Collector,
    _simulators: Vec<Running>,
    coming_and_going: Option<Running>,
    hosts: [Hosts; 3],
    stage: Stage<'a>,
}

impl<'a> World<'a> {
    pub(super) fn start(workspace: &'a Workspace, targets: u32, interval_s: u32) -> Result<Self> {
        let stage = Stage::new(workspace)?;
        let part = targets.div_ceil(5);
        let hosts = [
            Hosts::new("healthy", Ipv4Addr::new(127, 4, 0, 1), targets, HEALTHY)?,
            Hosts::new("faulty", Ipv4Addr::new(127, 5, 0, 1), part, FAULTY)?,
            Hosts::new("away", Ipv4Addr::new(127, 6, 0, 1), part, COMING_AND_GOING)?,
        ];
        let mut simulators =
            hosts[..2].iter().map(|hosts| hosts.start(&stage)).collect::<Result<Vec<_>>>()?;
        simulators.reverse();
        let coming_and_going = Some(hosts[2].start(&stage)?);
        let collector = Collector::start()?;
        let configuration = configuration(&stage, &hosts, &collector, interval_s, 0)?;
        let (exporter, address) = stage.exporter_with(&configuration)?;
        Ok(Self { exporter, address, collector, _simulators: simulators, coming_and_going, hosts, stage })
    }

    /// The hosts that come and go: goes, or comes.
    pub(super) fn come_or_go(&mut self) -> Result<()> {
        match self.coming_and_going.take() {
            Some(running) => running.end().map(|_status| ()),
            None => {
                self.coming_and_going = Some(self.hosts[2].start(&self.stage)?);
                Ok(())
            }
        }
    }

    /// Writes a configuration with or without the spare hosts.
    pub(super) fn write(&self, interval_s: u32, with_spare: bool) -> Result<()> {
        let spare = if with_spare { SPARE } else { 0 };
        let text = configuration(&self.stage, &self.hosts, &self.collector, interval_s, spare)?;
        Ok(fs::write(self.stage.path("perfmon.yml"), text)?)
    }

    /// Writes an invalid configuration.
    pub(super) fn write_broken(&self) -> Result<()> {
        Ok(fs::write(self.stage.path("perfmon.yml"), "targets: [{host: 127.0.0.1, interval: never}\n")?)
    }
}

impl Hosts {
    fn new(
        name: &'static str,
        first: Ipv4Addr,
        count: u32,
        options: &'static [&'static str],
    ) -> Result<Self> {
        let port = TcpListener::bind((first, 0))?.local_addr()?.port();
        Ok(Self { name, first, port, count, options })
    }

    fn start(&self, stage: &Stage<'_>) -> Result<Running> {
        let (bind, port) = (self.first.to_string(), self.port.to_string());
        let count = (self.count + SPARE).to_string();
        let options = ["--bind", &bind, "--smb-port", &port, "--hosts", &count];
        Ok(stage.simulator(&[&options[..], self.options].concat())?.0)
    }
}

/// How names of healthy targets begin.
pub(super) const HEALTHY_TARGETS: &str = "healthy";

fn configuration(
    stage: &Stage<'_>,
    hosts: &[Hosts],
    collector: &Collector,
    interval_s: u32,
    spare: u32,
) -> Result<String> {
    let password_file = stage.password_file()?.display().to_string();
    let (domain, user) = ACCOUNT.split_once('\\').unwrap_or(("", ACCOUNT));
    let mut transports = String::new();
    let mut targets = String::new();
    for Hosts { name, first, port, count, .. } in hosts {
        let _ = writeln!(transports, "  {name}: {{connect_timeout: 2s, smb: {{port: {port}}}}}");
        let spare = if *name == HEALTHY_TARGETS { spare } else { 0 };
        for index in 0..count + spare {
            let name_of = if index < *count { *name } else { "spare" };
            let host = Ipv4Addr::from_bits(first.to_bits() + index);
            let _ = writeln!(
                targets,
                "  - {{name: {name_of}{index:04}, host: {host}, identity: fleet, transport: {name}, modules: [os]}}"
            );
        }
    }
    let address = collector.address;
    Ok(format!(
        "web: {{listen: ['127.0.0.1:0'], enable_lifecycle: true}}\nplugins: {{load: [pcq]}}\n\
         scrape: {{interval: {interval_s}s}}\n\
         modules: {{os: {{plugin: pcq, countersets: [{{name: Processor Information}}, {{name: Process V2}}, \
         {{name: GPU Engine}}]}}}}\n\
         identities:\n  fleet: {{kind: ntlm, domain: {domain}, username: {user}, \
         password_file: {password_file}, allow_hosts: [127.0.0.0/8]}}\n\
         transports:\n{transports}otlp:\n\
         \x20 - {{name: failing, endpoint: 'http://{address}', protocol: http, interval: {interval_s}s, timeout: 3s, \
         queue_points: 200000}}\n\
         \x20 - {{name: failing-delta, endpoint: 'http://{address}', protocol: http, interval: {interval_s}s, \
         timeout: 3s, temporality: delta, compression: zstd, queue_points: 200000}}\n\
         \x20 - {{name: nobody, endpoint: 'http://127.0.0.1:9', interval: {interval_s}s, queue_points: 100000}}\n\
         targets:\n{targets}"
    ))
}
