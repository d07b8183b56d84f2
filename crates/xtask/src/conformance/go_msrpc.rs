//! go-msrpc is the PCQ client of our simulated host: a stack in Go whose NTLM has a MIC and no VERSION, and which sends
//! verification trailers, the right ones and others.

use std::process::Command;

use serde_json::Value;

use super::agreement::{Host, compare_with};
use crate::Result;
use crate::peers::go::GOMSRPC;
use crate::report::Outcome;
use crate::stage::{ACCOUNT, Stage};
use crate::workspace::{Workspace, capture};

const COUNTERSETS: [&str; 2] = ["Counter Types", "Processor Information"];
const VALUES_MIN: usize = 200;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    // The clock stands still, so that both clients see the same values.
    let (_simulator, address) = stage.simulator(&["--clock", "2026-11-01T12:00:00Z"])?;
    let password = stage.password_file()?;
    let mut command = Command::new(GOMSRPC.path(workspace, "gomsrpc"));
    command.args(["-address", &address.ip().to_string(), "-port", &address.port().to_string()]);
    command.args(["-account", ACCOUNT]).arg("-password-file").arg(&password);
    let printed = capture(command.args(COUNTERSETS.map(|name| format!("-counterset={name}"))))?;
    let found: Value = serde_json::from_str(&printed)?;
    let host = Host { address, account: ACCOUNT, password: &password };
    let alike = compare_with(workspace, &host, "go-msrpc", &found["values"], VALUES_MIN)?;
    let (logons, refused, ignored) = (&found["logons"], &found["refused"], &found["ignored"]);
    Ok(Outcome::Ran(format!(
        "{alike} values alike, {logons} logons, {refused} wrong trailers refused, {ignored} others accepted"
    )))
}
