//! The exporter and a simulated host as real programs on loopback, for checks, benchmarks and the demo.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::Result;
use crate::http;
use crate::process::{Running, poll};
use crate::workspace::{Workspace, run};

/// The account of the simulated host. Both are made up.
pub(crate) const ACCOUNT: &str = r"SIM\metrics";
pub(crate) const PASSWORD: &str = "Made-Up-Passw0rd-2";

pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the first collection may take, retries of a starting service included.
pub(crate) const FIRST_COLLECTION_TIMEOUT: Duration = Duration::from_secs(30);

/// A host to watch.
pub(crate) struct Target<'a> {
    pub(crate) name: &'a str,
    pub(crate) address: SocketAddr,
    pub(crate) logon: Logon<'a>,
}

/// How the exporter logs on.
pub(crate) enum Logon<'a> {
    Ntlm { account: &'a str, password_file: &'a Path },
    Kerberos { principal: &'a str, keytab: &'a Path, krb5_conf: PathBuf, service: &'a str },
}

impl<'a> Logon<'a> {
    /// By NTLM as [`ACCOUNT`].
    pub(crate) const fn of_stage(password_file: &'a Path) -> Self {
        Self::Ntlm { account: ACCOUNT, password_file }
    }

    /// The keys of an identity.
    fn keys(&self) -> String {
        match self {
            Self::Ntlm { account, password_file } => {
                let (domain, user) = account.split_once('\\').unwrap_or(("", account));
                let password_file = password_file.display();
                format!("kind: ntlm, domain: {domain}, username: {user}, password_file: {password_file}")
            }
            Self::Kerberos { principal, keytab, krb5_conf, .. } => format!(
                "kind: kerberos, principal: {principal}, keytab_file: {}, krb5_conf: {}",
                keytab.display(),
                krb5_conf.display()
            ),
        }
    }
}

/// A folder with what the programs need, gone when this goes.
pub(crate) struct Stage<'a> {
    pub(crate) workspace: &'a Workspace,
    folder: TempDir,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Result<Self> {
        Ok(Self { workspace, folder: tempfile::Builder::new().prefix("perfmon-").tempdir()? })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where programs keep the state of their RPC calls.
    pub(crate) fn rpc_state(&self) -> PathBuf {
        self.path("rpc-state")
    }

    /// The file with [`PASSWORD`].
    pub(crate) fn password_file(&self) -> Result<PathBuf> {
        let path = self.path("password");
        // A program that was started before may be about to read it: it is written once.
        if !path.exists() {
            fs::write(&path, format!("{PASSWORD}\n"))?;
        }
        Ok(path)
    }

    /// Builds a plugin of the exporter's tests into a folder, which this answers.
    pub(crate) fn plugin(&self, name: &str) -> Result<PathBuf> {
        let folder = self.path("plugins");
        fs::create_dir(&folder)?;
        let root = &self.workspace.root;
        let mut compiler = Command::new("cc");
        compiler.args(["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror"]);
        compiler.args(["-shared", "-fPIC", "-fvisibility=hidden"]);
        for headers in ["plugin-api/abi/include", "plugin-api/examples/zoo"] {
            compiler.arg("-I").arg(root.join(headers));
        }
        compiler.arg("-o").arg(folder.join(format!("libplugin_{name}.so")));
        run(compiler.arg(root.join("exporter/tests/it/plugins").join(format!("{name}.c"))))?;
        Ok(folder)
    }

    /// Starts windows-sim on a free port and answers where it listens.
    pub(crate) fn simulator(&self, more: &[&str]) -> Result<(Running, SocketAddr)> {
        let mut command = Command::new(self.workspace.program("windows-sim"));
        for (option, value) in [("--smb-port", "0"), ("--bind", "127.0.0.1"), ("--seed", "1")] {
            if !more.contains(&option) {
                command.args([option, value]);
            }
        }
        if !more.contains(&"--account") {
            command.args(["--account", ACCOUNT]);
        }
        command.arg("--password-file").arg(self.password_file()?).args(more);
        let mut running = Running::start("windows-sim", &mut command)?;
        let address = running.wait_for("listening address", START_TIMEOUT, |line| {
            line.strip_prefix("listening on ")?.split_whitespace().next()?.parse().ok()
        })?;
        Ok((running, address))
    }

    /// Starts windows-sim with COM+ applications, too, and answers where it listens: for SMB, and for its object resolver. It
    /// calls subscribers of its events at a port each second, and keeps the state of its calls in [`Stage::rpc_state`].
    pub(crate) fn simulator_with_com_plus(
        &self,
        events: u16,
        more: &[&str],
    ) -> Result<(Running, SocketAddr, SocketAddr)> {
        let events = events.to_string();
        let state = self.rpc_state().display().to_string();
        let com_plus = ["--epm-port", "0", "--events-every", "1s", "--events-port", events.as_str()];
        let (mut running, address) =
            self.simulator(&[&com_plus[..], &["--rpc-state", &state], more].concat())?;
        let resolver = running.wait_for("address of the object resolver", START_TIMEOUT, |line| {
            line.strip_prefix("resolving objects on ")?.split(',').next()?.parse().ok()
        })?;
        Ok((running, address, resolver))
    }

    /// Starts the exporter on `listen` for `targets` and answers where it listens.
    pub(crate) fn exporter(
        &self,
        listen: SocketAddr,
        interval: &str,
        targets: &[Target<'_>],
    ) -> Result<(Running, SocketAddr)> {
        self.exporter_with(&configuration_of(listen, interval, targets))
    }

    /// Starts the exporter with this configuration and answers where it listens.
    pub(crate) fn exporter_with(&self, configuration: &str) -> Result<(Running, SocketAddr)> {
        self.exporter_by(Command::new(self.workspace.program("perfmon-exporter")), configuration)
    }

    /// The same by a command of the caller's.
    pub(crate) fn exporter_by(
        &self,
        mut command: Command,
        configuration: &str,
    ) -> Result<(Running, SocketAddr)> {
        let file = self.path("perfmon.yml");
        fs::write(&file, configuration)?;
        let mut running = Running::start("perfmon-exporter", command.arg("--config").arg(file))?;
        let address = running.wait_for("listening address", START_TIMEOUT, address_in_log)?;
        Ok((running, address))
    }
}

/// Waits until the page says that `target` is up, and answers the page.
pub(crate) fn page_when_up(exporter: &mut Running, address: SocketAddr, target: &str) -> Result<String> {
    let up = format!("perfmon_exporter_target_up{{target=\"{target}\"}} 1");
    let page = poll(&format!("{target} is up"), FIRST_COLLECTION_TIMEOUT, || {
        let page = http::get(address, "/metrics", "text/plain;version=0.0.4")?.body;
        Ok(page.lines().any(|line| line == up).then_some(page))
    });
    page.map_err(|error| exporter.complaint(&error.to_string()))
}

/// What a simulated host offers: classic objects first, which people look for first.
pub(crate) const COUNTERSETS: [&str; 20] = [
    "Memory",
    "LogicalDisk",
    "PhysicalDisk",
    "Network Interface",
    "System",
    "Paging File",
    "TCPv4",
    "TCPv6",
    "UDPv4",
    "UDPv6",
    "Windows Time Service",
    "Processor Information",
    "Thermal Zone Information",
    "FileSystem Disk Activity",
    "GPU Engine",
    "GPU Adapter Memory",
    "GPU Process Memory",
    "Process V2",
    "HTTP Service",
    "Counter Types",
];

/// The configuration that [`Stage::exporter`] writes. Callers append what else they need.
pub(crate) fn configuration_of(listen: SocketAddr, interval: &str, targets: &[Target<'_>]) -> String {
    configuration(listen, interval, targets, None)
}

/// Ports of the COM+ applications of targets, and the exporter's own state.
#[derive(Clone, Copy)]
pub(crate) struct ComPlus<'a> {
    /// Of the targets' object resolvers.
    pub(crate) resolver: u16,
    /// Where they call back.
    pub(crate) events: u16,
    /// Where the exporter keeps the state of its RPC calls, and reads it.
    pub(crate) state: &'a Path,
    /// Where counter logs are.
    pub(crate) files: &'a Path,
}

/// The same with the COM+ applications of the targets, which are polled and tell events, with [`alerts`], counter logs, and with the
/// exporter's own RPC calls.
pub(crate) fn configuration_of_demo(
    listen: SocketAddr,
    interval: &str,
    targets: &[Target<'_>],
    ports: ComPlus<'_>,
) -> String {
    configuration(listen, interval, targets, Some(ports))
}

fn configuration(
    listen: SocketAddr,
    interval: &str,
    targets: &[Target<'_>],
    com_plus: Option<ComPlus<'_>>,
) -> String {
    let (plugins, module, modules) = match com_plus {
        Some(_) => (
            "pcq, comt, rpc_state, pla",
            "  complus: {plugin: comt, mode: both}\n".to_owned() + &alerts(interval) + &logs(interval),
            "all, complus, alerts, logs",
        ),
        None => ("pcq", String::new(), "all"),
    };
    let own = com_plus.map(|ComPlus { state, .. }| OwnState::new(state, interval)).unwrap_or_default();
    let settings = com_plus.map(|ComPlus { events, .. }| {
        format!(", settings: {{comt: {{events: {{listen: [\"127.0.0.1:{events}\"]}}}}}}")
    });
    let settings = settings.unwrap_or_default();
    let dcom = com_plus.map(|ports| format!(", dcom: {{port: {}}}", ports.resolver)).unwrap_or_default();
    let countersets: Vec<String> = COUNTERSETS.iter().map(|name| format!("{{name: {name}}}")).collect();
    let mut text = format!(
        "web: {{listen: [\"{listen}\"]}}\nplugins: {{load: [{plugins}]{settings}}}\n\
         modules:\n  all: {{plugin: pcq, host_info: true, countersets: [{}]}}\n{module}{}",
        countersets.join(", "),
        own.module
    );
    let (mut identities, mut transports, mut entries) = (String::new(), String::new(), String::new());
    for Target { name, address, logon } in targets {
        let (host, port) = (address.ip(), address.port());
        let service = match logon {
            Logon::Ntlm { .. } => String::new(),
            Logon::Kerberos { service, .. } => format!(", service_principal: {service}"),
        };
        identities += &format!("  {name}: {{{}, allow_hosts: [{host}]}}\n", logon.keys());
        transports += &format!(
            "  {name}: {{connect_timeout: 3s, smb: {{encryption: preferred, port: {port}}}{dcom}}}\n"
        );
        entries += &format!(
            "  - {{name: {name}, host: {host}, identity: {name}{service}, transport: {name}, modules: [{modules}], \
             interval: {interval}}}\n"
        );
    }
    let OwnState { target, section, .. } = own;
    let files = com_plus.map(|ComPlus { files, .. }| {
        format!("storage: {{directory: '{}', downloads: true}}\n", files.display())
    });
    let section = section + &files.unwrap_or_default();
    text +=
        &format!("{section}identities:\n{identities}transports:\n{transports}targets:\n{entries}{target}");
    text
}

/// A module `alerts` with a set of two alerts of a simulated host: a processor of it is busy for the first half of each 55
/// seconds, and its memory is never short.
pub(crate) fn alerts(interval: &str) -> String {
    format!(
        r"  alerts:
    plugin: pla
    sets:
      - name: Demonstration
        alerts:
          - {{name: Busy processor, counter: '\Processor Information(0,0)\% Processor Time', above: 40, sample_interval: {interval}}}
          - {{name: Low memory, counter: '\Memory\Available MBytes', below: 100, sample_interval: {interval}}}
"
    )
}

/// A module `logs` with two sets that always log counters of a simulated host to CSV files: one begins a file each hour, the
/// other each minute, so that its first report is soon there.
pub(crate) fn logs(interval: &str) -> String {
    let set = |name: &str, every: &str, folders: u32| {
        format!(
            r"      - name: {name}
        counters: ['\Processor Information(*)\% Processor Time', '\Memory\Available MBytes', '\LogicalDisk(*)\% Free Space']
        sample_interval: {interval}
        log_format: csv
        segment: {{every: {every}}}
        keep: {{folders: {folders}}}
"
        )
    };
    let (hourly, by_minute) = (set("Each hour", "1h", 24), set("Each minute", "1m", 60));
    format!("  logs:\n    plugin: pla\n    sets:\n{hourly}{by_minute}")
}

/// The parts of a configuration about the state of the exporter's own RPC calls.
#[derive(Default)]
struct OwnState {
    module: String,
    target: String,
    section: String,
}

impl OwnState {
    fn new(directory: &Path, interval: &str) -> Self {
        let directory = directory.display();
        Self {
            module: format!("  rpc: {{plugin: rpc_state, directories: ['{directory}']}}\n"),
            target: format!("  - {{name: self, host: localhost, modules: [rpc], interval: {interval}}}\n"),
            section: format!("rpc_state: {{directory: '{directory}'}}\n"),
        }
    }
}

/// The address in the exporter's own log line about its listener.
pub(crate) fn address_in_log(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("Listening")?;
    let (_, address) = rest.split_once("address=")?;
    address.split_whitespace().next()?.trim_matches('"').parse().ok()
}
