//! One exporter, one good host and all the bad ones at once: each bad one is down at the right stage for the right
//! reason, and the good one misses no collection.

use std::fmt::Write;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use crate::Outcome;
use crate::Result;
use crate::http;
use crate::process::{Running, free_port, poll};
use crate::stage::Stage;
use crate::workspace::Workspace;

const TIMEOUT: Duration = Duration::from_secs(60);
const GOOD: &str = "good";

/// A bad host: options of the simulated one, and what the exporter must report about it.
struct Bad {
    name: &'static str,
    simulator: &'static [&'static str],
    /// More of its transport.
    transport: &'static str,
    stage: &'static str,
    reasons: &'static [&'static str],
}

const fn bad(
    name: &'static str,
    simulator: &'static [&'static str],
    stage: &'static str,
    reasons: &'static [&'static str],
) -> Bad {
    Bad { name, simulator, transport: "", stage, reasons }
}

const SIMULATED: [Bad; 15] = [
    bad("locked", &["--account-state", "locked"], "auth", &["account_locked"]),
    bad("disabled", &["--account-state", "disabled"], "auth", &["account_disabled"]),
    bad("password-expired", &["--account-state", "password-expired"], "auth", &["password_expired"]),
    bad("not-authorised", &["--not-authorised"], "query", &["access_denied"]),
    bad("smb1-only", &["--dialects", "1"], "smb", &["smb1_only"]),
    Bad {
        transport: ", encryption: required",
        ..bad("no-encryption", &["--smb-encryption", "disabled"], "smb", &["encryption_required"])
    },
    bad(
        "stopped",
        &["--refuse-opens", "1000", "--refusal", "not-found"],
        "pipe",
        &["remote_registry_stopped"],
    ),
    bad("faulting", &["--fault", "6=fault:0x1c000012"], "query", &["server_fault"]),
    bad("wrong-out-size", &["--fault", "6=corrupt:out-size"], "decode", &["malformed_reply"]),
    bad("wrong-total-size", &["--fault", "6=corrupt:total-size"], "decode", &["malformed_reply"]),
    bad("wrong-block-size", &["--fault", "6=corrupt:block-size"], "decode", &["malformed_reply"]),
    bad("garbage", &["--fault", "6=garbage"], "query", &["malformed_reply", "protocol_error"]),
    bad("truncated", &["--fault", "6=truncate"], "query", &["malformed_reply", "connection_reset"]),
    bad("endless", &["--fault", "6=stall"], "query", &["timeout"]),
    bad("dropping", &["--fault", "6=drop"], "query", &["connection_reset"]),
];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let mut simulators = Vec::new();
    let (good, address) = stage.simulator(&[])?;
    simulators.push(good);
    let mut configuration = Configuration::new(&stage)?;
    configuration.add(GOOD, &address.ip().to_string(), address.port(), "");
    for (index, bad) in SIMULATED.iter().enumerate() {
        // An address of its own for each: what one host says of an account of its own is true for that host only.
        let bind = format!("127.0.1.{}", index + 1);
        let (simulator, address) = stage.simulator(&[bad.simulator, &["--bind", &bind]].concat())?;
        simulators.push(simulator);
        configuration.add(bad.name, &address.ip().to_string(), address.port(), bad.transport);
    }
    configuration.add("closed-port", "127.0.2.1", free_port()?, "");
    configuration.add("no-such-host", "no-such-host.invalid", 445, "");
    // Accepts connections, by the kernel's grace, and says nothing.
    let silent = TcpListener::bind(("127.0.2.2", 0))?;
    configuration.add("silent", "127.0.2.2", silent.local_addr()?.port(), "");

    let (mut exporter, address) = stage.exporter_with(&configuration.finish())?;
    for Bad { name, stage, reasons, .. } in &SIMULATED {
        expect(&mut exporter, address, name, stage, reasons)?;
    }
    expect(&mut exporter, address, "closed-port", "tcp", &["connection_refused"])?;
    // Names under `invalid` are never looked up.
    expect(&mut exporter, address, "no-such-host", "dns", &["name_not_found"])?;
    expect(&mut exporter, address, "silent", "smb", &["timeout"])?;

    let page = http::get(address, "/metrics", "text/plain")?.body;
    let of_good = |line: &&str| line.contains(&format!("target=\"{GOOD}\""));
    let failures = page.lines().filter(of_good).filter(|line| line.contains("failures_total")).count();
    let is_up = page.lines().any(|line| line == format!("perfmon_exporter_target_up{{target=\"{GOOD}\"}} 1"));
    if failures > 0 || !is_up {
        return Err(exporter.complaint("the good host noticed the bad ones"));
    }
    let status = exporter.end()?;
    if !status.success() {
        return Err(format!("the exporter ended with {status}").into());
    }
    Ok(Outcome::Ran(format!("{} bad hosts, one good", SIMULATED.len() + 3)))
}

/// Waits until a failure of `target` is counted, and takes no other than the expected one.
fn expect(
    exporter: &mut Running,
    address: SocketAddr,
    target: &str,
    stage: &str,
    reasons: &[&str],
) -> Result<()> {
    let beginning = format!("perfmon_exporter_failures_total{{target=\"{target}\",");
    let found = poll(&format!("{target} is down"), TIMEOUT, || {
        let page = http::get(address, "/metrics", "text/plain")?.body;
        let lines: Vec<String> =
            page.lines().filter(|line| line.starts_with(&beginning)).map(str::to_owned).collect();
        Ok((!lines.is_empty()).then_some(lines))
    });
    let found = found.map_err(|error| exporter.complaint(&error.to_string()))?;
    let is_expected = |line: &String| {
        reasons.iter().any(|reason| line.contains(&format!("stage=\"{stage}\",reason=\"{reason}\"")))
    };
    if found.iter().all(is_expected) {
        Ok(())
    } else {
        let complaint = format!(
            "{target}: {} was expected at {stage}, there is {}",
            reasons.join(" or "),
            found.join(", ")
        );
        Err(exporter.complaint(&complaint))
    }
}

/// The configuration in the making: an identity and a transport for each target, so that none waits for another.
struct Configuration {
    password_file: String,
    identities: String,
    transports: String,
    targets: String,
}

impl Configuration {
    fn new(stage: &Stage<'_>) -> Result<Self> {
        let password_file = stage.password_file()?.display().to_string();
        Ok(Self {
            password_file,
            identities: String::new(),
            transports: String::new(),
            targets: String::new(),
        })
    }

    fn add(&mut self, name: &str, host: &str, port: u16, transport: &str) {
        let file = &self.password_file;
        let _ = writeln!(
            self.identities,
            "  {name}: {{kind: ntlm, domain: '.', username: metrics, password_file: {file}, allow_hosts: [{host}]}}"
        );
        let _ =
            writeln!(self.transports, "  {name}: {{connect_timeout: 2s, smb: {{port: {port}{transport}}}}}");
        let _ = writeln!(
            self.targets,
            "  - {{name: {name}, host: {host}, identity: {name}, transport: {name}, modules: [os], interval: 4s, deadline: 4s}}"
        );
    }

    fn finish(self) -> String {
        let Self { identities, transports, targets, .. } = self;
        format!(
            "web: {{listen: ['127.0.0.1:0']}}\nplugins: {{load: [pcq]}}\n\
             modules: {{os: {{plugin: pcq, countersets: [{{name: Processor Information}}]}}}}\n\
             identities:\n{identities}transports:\n{transports}targets:\n{targets}"
        )
    }
}
