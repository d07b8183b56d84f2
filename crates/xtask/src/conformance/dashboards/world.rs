//! Exporters of which everything can be seen: good hosts and dead ones, limits that are reached, rules that drop, a wrong
//! password, a collector that is there and one that is not, target files good and bad, and TLS.

use std::fs;
use std::net::{SocketAddr, TcpStream};

use rcgen::generate_simple_self_signed;

use crate::Result;
use crate::http;
use crate::process::{Running, free_port};
use crate::soak::collector::Collector;
use crate::stage::{self, ACCOUNT, Stage};

/// A target that answers.
const WELL: &str = "well";
/// One that answers at first.
const MORTAL: &str = "mortal";

/// Everything that runs. Dropping it ends it.
pub(super) struct World {
    _simulator: Running,
    _watching: Running,
    _secured: Running,
    _collector: Collector,
    /// The exporter that has targets.
    pub(super) watching: SocketAddr,
    /// One that serves TLS and has none.
    pub(super) secured: SocketAddr,
}

impl World {
    /// Starts all of it, each exporter on a stage of its own, and ends a host once it was up.
    pub(super) fn start(watching: &Stage<'_>, secured: &Stage<'_>) -> Result<Self> {
        let (simulator, host) = watching.simulator(&[])?;
        let (mortal, mortal_host) = watching.simulator(&[])?;
        let collector = Collector::start()?;
        write_target_files(watching)?;
        fs::write(watching.path("wrong"), "Made-Up-And-Wrong-4")?;
        let configuration = configuration(watching, [host, mortal_host], collector.address)?;
        let (mut running, address) = watching.exporter_with(&configuration)?;
        for target in [WELL, MORTAL] {
            stage::page_when_up(&mut running, address, target)?;
        }
        mortal.end()?;
        let (secured_running, secured_address) = secured_exporter(secured)?;
        Ok(Self {
            _simulator: simulator,
            _watching: running,
            _secured: secured_running,
            _collector: collector,
            watching: address,
            secured: secured_address,
        })
    }

    /// Does what makes counters move that stand still otherwise: a probe, a request that is refused, a handshake that is.
    pub(super) fn stir(&self) -> Result<()> {
        http::get(self.watching, &format!("/probe?target={WELL}"), "text/plain")?;
        let refused = http::get(self.watching, &format!("/{}", "x".repeat(URI_BYTES)), "text/plain")?;
        if refused.status != 414 {
            return Err(format!("a long URI was answered {}", refused.status).into());
        }
        // Goes away before the handshake ends.
        drop(TcpStream::connect(self.secured)?);
        Ok(())
    }
}

/// Longer than the server reads.
const URI_BYTES: usize = 20_000;

/// One that is good, and one that names a target that there is already.
fn write_target_files(stage: &Stage<'_>) -> Result<()> {
    let labels = "labels: {__param_module: os, __param_identity: sim}";
    fs::write(stage.path("good.targets.yml"), format!("- {{targets: ['127.0.0.1'], {labels}}}\n"))?;
    fs::write(stage.path("taken.targets.yml"), format!("- {{targets: [{WELL}], {labels}}}\n"))?;
    Ok(())
}

fn configuration(stage: &Stage<'_>, hosts: [SocketAddr; 2], collector: SocketAddr) -> Result<String> {
    let (domain, user) = ACCOUNT.split_once('\\').unwrap_or(("", ACCOUNT));
    let (password_file, wrong) = (stage.password_file()?, stage.path("wrong"));
    let (password_file, wrong) = (password_file.display(), wrong.display());
    let [port, mortal] = hosts.map(|host| host.port());
    let (closed, nobody) = (free_port()?, free_port()?);
    Ok(format!(
        "web: {{listen: ['127.0.0.1:0']}}
plugins: {{load: [pcq]}}
scrape: {{interval: 1s}}
identities:
  sim: {{kind: ntlm, domain: {domain}, username: {user}, password_file: {password_file}, allow_hosts: [127.0.0.0/8]}}
  wrong: {{kind: ntlm, domain: {domain}, username: nobody, password_file: {wrong}, allow_hosts: [127.0.0.0/8]}}
transports:
  default: {{smb: {{port: {port}}}}}
  mortal: {{smb: {{port: {mortal}}}}}
  closed: {{smb: {{port: {closed}}}}}
modules:
  os: {{plugin: pcq, countersets: [{{name: Processor Information}}, {{name: Process V2}}]}}
  nothing: {{plugin: pcq, countersets: [{{name: Processor Information, instances: {{include: [nobody]}}}}]}}
  unknown: {{plugin: pcq, countersets: [{{name: No Such Counterset}}]}}
target_defaults: {{identity: sim, modules: [os]}}
targets:
  - {{name: {WELL}, host: 127.0.0.1}}
  - {{name: limited, host: 127.0.0.1, max_series: 50, normalize: {{drop: ['perfmon_process_v2_.*']}}}}
  - {{name: empty, host: 127.0.0.1, modules: [nothing]}}
  - {{name: half, host: 127.0.0.1, modules: [os, unknown]}}
  - {{name: dead, host: 127.0.0.1, transport: closed}}
  - {{name: {MORTAL}, host: 127.0.0.1, transport: mortal}}
  - {{name: refused, host: 127.0.0.1, identity: wrong}}
target_files: ['*.targets.yml']
otlp:
  - {{name: here, endpoint: 'http://{collector}', protocol: http, interval: 1s, traces: {{one_in: 1}}}}
  - {{name: away, endpoint: 'http://127.0.0.1:{nobody}', interval: 1s, timeout: 1s, queue_points: 2000,
     queue_records: 2, traces: {{one_in: 1}}}}
"
    ))
}

fn secured_exporter(stage: &Stage<'_>) -> Result<(Running, SocketAddr)> {
    let own = generate_simple_self_signed(vec!["127.0.0.1".to_owned()])?;
    fs::write(stage.path("web.crt"), own.cert.pem())?;
    fs::write(stage.path("web.key"), own.signing_key.serialize_pem())?;
    fs::write(stage.path("web.yml"), "tls_server_config: {cert_file: web.crt, key_file: web.key}\n")?;
    stage.exporter_with("web: {listen: ['127.0.0.1:0'], config_file: web.yml}\n")
}
