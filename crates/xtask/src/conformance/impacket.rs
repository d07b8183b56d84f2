//! impacket is the PCQ client of our simulated host: our SMB server, our NTLM acceptor, our RPC, all eight opnums. And it is
//! the DCOM client of the host's objects: resolver, activation, references, calls. It stores a subscription of COM+ events
//! there, too, and follows it to our subscriber as the host does.

use std::net::SocketAddr;
use std::process::Command;

use crate::Result;
use crate::peers::python;
use crate::process::Running;
use crate::report::Outcome;
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

pub(crate) fn events(workspace: &Workspace) -> Result<Outcome> {
    let mut subscriber =
        Running::start("subscriber", &mut Command::new(workspace.program("examples/subscriber")))?;
    let ours: SocketAddr = subscriber.wait_for("listening address", START_TIMEOUT, |line| {
        line.strip_prefix("listening on ")?.parse().ok()
    })?;
    let reference = subscriber
        .wait_for("reference", START_TIMEOUT, |line| line.strip_prefix("reference ").map(str::to_owned))?;
    let stage = Stage::new(workspace)?;
    let port = ours.port().to_string();
    let events = ["--epm-port", "0", "--events-every", "200ms", "--events-port", &port];
    let (mut simulator, _) = stage.simulator(&events)?;
    let resolver = resolver_of(&mut simulator)?;
    let ask = |more: &[&str]| capture(at_resolver(&stage, "impacket_events.py", resolver)?.args(more));
    let stored = ask(&["--reference", &reference, "--resolver-port", &port])?;
    // The host calls, too, now that it has the subscription.
    let of_host = subscriber.wait_for("event of the host", START_TIMEOUT, |line| {
        let components = line.strip_prefix("event of ")?.split_once(" bytes, ")?.1;
        (!components.starts_with("0 ")).then(|| components.to_owned())
    })?;
    ask(&["--remove"])?;
    Ok(Outcome::Ran(format!("{}; {of_host} in an event of the host", stored.trim())))
}

fn resolver_of(simulator: &mut Running) -> Result<SocketAddr> {
    simulator.wait_for("address of the resolver", START_TIMEOUT, |line| {
        line.strip_prefix("resolving objects on ")?.split(',').next()?.parse().ok()
    })
}

/// A script of impacket's, for a host whose object resolver is there.
fn at_resolver(stage: &Stage<'_>, script: &str, resolver: SocketAddr) -> Result<Command> {
    let workspace = stage.workspace;
    let mut command = Command::new(python(workspace));
    command.arg(workspace.root.join("crates/testing/windows-sim/tests/peers").join(script));
    command.args(["--host", &resolver.ip().to_string(), "--port", &resolver.port().to_string()]);
    command.args(["--account", ACCOUNT]).arg("--password-file").arg(stage.password_file()?);
    Ok(command)
}
