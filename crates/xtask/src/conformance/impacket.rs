//! impacket is the PCQ client of our simulated host: our SMB server, our NTLM acceptor, our RPC, all eight opnums. And it is
//! the DCOM client of the host's objects: resolver, activation, references, calls.

use std::net::SocketAddr;
use std::process::Command;

use crate::Result;
use crate::peers::python;
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
    let resolver: SocketAddr = simulator.wait_for("address of the resolver", START_TIMEOUT, |line| {
        line.strip_prefix("resolving objects on ")?.split(',').next()?.parse().ok()
    })?;
    let script = workspace.root.join("crates/testing/windows-sim/tests/peers/impacket_dcom.py");
    let mut command = Command::new(python(workspace));
    command.arg(&script).args(["--host", &resolver.ip().to_string()]);
    command.args(["--port", &resolver.port().to_string(), "--account", ACCOUNT]);
    command.arg("--password-file").arg(stage.password_file()?);
    Ok(Outcome::Ran(capture(&mut command)?.trim().to_owned()))
}
