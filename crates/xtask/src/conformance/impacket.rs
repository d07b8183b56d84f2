//! impacket is the PCQ client of our simulated host: our SMB server, our NTLM acceptor, our RPC, all eight opnums. And it is
//! the DCOM client of the host's objects: resolver, activation, references, calls, those of data collector sets among them. It
//! stores a subscription of COM+ events there, too, and follows it to our subscriber as the host does.

use std::net::SocketAddr;
use std::process::Command;

use serde_json::{Value, json};

use crate::Outcome;
use crate::Result;
use crate::peers::python;
use crate::process::Running;
use crate::stage::{ACCOUNT, START_TIMEOUT, Stage};
use crate::workspace::{Workspace, capture};

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (_simulator, host) = stage.simulator(&[])?;
    let script = workspace.root.join("crates/testing/windows-sim/tests/peers/impacket_pcq.py");
    let ask = |more: &[&str]| {
        let mut command = Command::new(python(workspace));
        command.arg(&script).args(["--host", &host.ip().to_string(), "--port", &host.port().to_string()]);
        command.args(["--account", ACCOUNT]).arg("--password-file").arg(stage.password_file()?).args(more);
        capture(&mut command)
    };
    let sealed = ask(&[])?;
    // Below PKT_PRIVACY the protocol forbids an answer: the script succeeds when it is refused.
    ask(&["--level", "integrity"])?;
    Ok(Outcome::Ran(sealed.trim().to_owned()))
}

pub(crate) fn tracker(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let standing = ["--epm-port", "0", "--clock", "2026-11-01T12:00:00Z"];
    let (mut simulator, _) = stage.simulator(&standing)?;
    let resolver = resolver_of(&mut simulator)?;
    let found = capture(&mut at_resolver(&stage, "impacket_dcom.py", resolver)?)?;
    Ok(Outcome::Ran(found.trim().to_owned()))
}

/// What the simulated host comes with, and its thresholds.
const SETS: [&str; 3] = ["Web Server Load", "Low Memory", "Order Service"];
const THRESHOLDS: [&str; 3] = [
    r"\Processor(_Total)\% Processor Time>80",
    r"\Memory\Available MBytes<500",
    r"\Paging File(_Total)\% Usage>90",
];

pub(crate) fn performance_logs(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let standing = ["--epm-port", "0", "--clock", "2026-11-01T12:00:00Z"];
    let (mut simulator, _) = stage.simulator(&standing)?;
    let resolver = resolver_of(&mut simulator)?;
    let found: Value =
        serde_json::from_str(&capture(&mut at_resolver(&stage, "impacket_pla.py", resolver)?)?)?;
    if found["own"] != json!(SETS) || found["thresholds"] != json!(THRESHOLDS) {
        return Err(format!("impacket reads {found}, and there are {SETS:?} with {THRESHOLDS:?}").into());
    }
    let sets = found["sets"].as_array().map_or(0, Vec::len);
    let (collectors, thresholds) = (&found["collectors"], THRESHOLDS.len());
    Ok(Outcome::Ran(format!(
        "{sets} sets, {collectors} collectors, {thresholds} thresholds by methods and as XML; 3 sets started and stopped"
    )))
}

pub(crate) fn events(workspace: &Workspace) -> Result<Outcome> {
    let subscriber = Subscriber::start(workspace)?;
    Ok(Outcome::Ran(subscriber.called(workspace)?))
}

/// Our subscriber of COM+ events, which nobody knows yet.
pub(crate) struct Subscriber {
    pub(super) running: Running,
    pub(crate) port: u16,
    /// Its OBJREF, in hexadecimal digits.
    pub(super) reference: String,
}

impl Subscriber {
    pub(crate) fn start(workspace: &Workspace) -> Result<Self> {
        let mut program = Command::new(workspace.program("examples/subscriber"));
        let mut running = Running::start("subscriber", &mut program)?;
        let ours: SocketAddr = running.wait_for("listening address", START_TIMEOUT, |line| {
            line.strip_prefix("listening on ")?.parse().ok()
        })?;
        let reference = |line: &str| line.strip_prefix("reference ").map(str::to_owned);
        let reference = running.wait_for("reference", START_TIMEOUT, reference)?;
        Ok(Self { running, port: ours.port(), reference })
    }

    /// impacket stores a subscription with it at a simulated host, and calls it; so does the host.
    pub(crate) fn called(mut self, workspace: &Workspace) -> Result<String> {
        let stage = Stage::new(workspace)?;
        let port = self.port.to_string();
        let events = ["--epm-port", "0", "--events-every", "200ms", "--events-port", &port];
        let (mut simulator, _) = stage.simulator(&events)?;
        let resolver = resolver_of(&mut simulator)?;
        let ask = |more: &[&str]| capture(at_resolver(&stage, "impacket_events.py", resolver)?.args(more));
        let stored = ask(&["--reference", &self.reference, "--resolver-port", &port])?;
        let of_host = self.running.wait_for("event of the host", START_TIMEOUT, |line| {
            let components = line.strip_prefix("event of ")?.split_once(" bytes, ")?.1;
            (!components.starts_with("0 ")).then(|| components.to_owned())
        })?;
        ask(&["--remove"])?;
        simulator.end()?;
        self.running.end()?;
        Ok(format!("{}; {of_host} in an event of the host", stored.trim()))
    }
}

/// Where a simulator that was started with `--epm-port` resolves objects.
pub(super) fn resolver_of(simulator: &mut Running) -> Result<SocketAddr> {
    simulator.wait_for("address of the resolver", START_TIMEOUT, |line| {
        line.strip_prefix("resolving objects on ")?.split(',').next()?.parse().ok()
    })
}

/// A script of impacket's, for a host whose object resolver is there.
pub(super) fn at_resolver(stage: &Stage<'_>, script: &str, resolver: SocketAddr) -> Result<Command> {
    let workspace = stage.workspace;
    let mut command = Command::new(python(workspace));
    command.arg(workspace.root.join("crates/testing/windows-sim/tests/peers").join(script));
    command.args(["--host", &resolver.ip().to_string(), "--port", &resolver.port().to_string()]);
    command.args(["--account", ACCOUNT]).arg("--password-file").arg(stage.password_file()?);
    Ok(command)
}
