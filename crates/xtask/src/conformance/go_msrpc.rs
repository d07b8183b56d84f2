//! go-msrpc is the PCQ client of our simulated host: a stack in Go whose NTLM has a MIC and no VERSION, and which sends
//! verification trailers, the right ones and others.

use std::net::SocketAddr;
use std::process::Command;

use serde_json::Value;

use super::agreement::{Host, compare_with};
use crate::Outcome;
use crate::Result;
use crate::peers::go::GOMSRPC;
use crate::stage::{ACCOUNT, Stage};
use crate::workspace::{Workspace, capture};

const COUNTERSETS: [&str; 2] = ["Counter Types", "Processor Information"];
const VALUES_MIN: usize = 200;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    // The clock stands still, so that both clients see the same values.
    let (_simulator, address) = stage.simulator(&["--clock", "2026-11-01T12:00:00Z"])?;
    let printed = ask(&stage, "counters", address, &COUNTERSETS.map(|name| format!("-counterset={name}")))?;
    let host = Host { address, account: ACCOUNT, password: &stage.password_file()? };
    let found = &printed["found"];
    let alike = compare_with(workspace, &host, "go-msrpc", &found["values"], VALUES_MIN)?;
    let (logons, refused, ignored) = (&printed["logons"], &found["refused"], &found["ignored"]);
    Ok(Outcome::Ran(format!(
        "{alike} values alike, {logons} logons, {refused} wrong trailers refused, {ignored} others accepted"
    )))
}

/// What a command of the program prints about the host there.
pub(super) fn ask(stage: &Stage<'_>, command: &str, host: SocketAddr, more: &[String]) -> Result<Value> {
    let mut program = Command::new(GOMSRPC.path(stage.workspace, "gomsrpc"));
    program.arg(command).args(["-address", &host.ip().to_string(), "-port", &host.port().to_string()]);
    program.args(["-account", ACCOUNT]).arg("-password-file").arg(stage.password_file()?);
    Ok(serde_json::from_str(&capture(program.args(more))?)?)
}
