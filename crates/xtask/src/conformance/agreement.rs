//! impacket and our own client read one simulated host whose clock stands still, and see the same values.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::samba::{Pipes, Samba};
use crate::Outcome;
use crate::Result;
use crate::peers::python;
use crate::stage::{ACCOUNT, Stage};
use crate::workspace::{Workspace, capture};

const NOW: [&str; 2] = ["--clock", "2026-11-01T12:00:00Z"];
const VALUES_MIN: usize = 500;

/// Countersets with odd things in them on purpose; the simulator's own tests say what a client makes of those.
const ODD: [&str; 1] = ["Oddities"];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (_simulator, host) = stage.simulator(&NOW)?;
    let password = stage.password_file()?;
    let there = Host { address: host, account: ACCOUNT, password: &password };
    let compared = compare(workspace, &there)?;
    Ok(Outcome::Ran(format!("{compared} values alike")))
}

/// The commands against our server behind a real smbd: what `discover` writes is a configuration that
/// `check-config` accepts, and `query` shows values.
pub(crate) fn behind_smbd(workspace: &Workspace) -> Result<Outcome> {
    let samba = Samba::start(Pipes::Ours, "default")?;
    let password = samba.password_file()?;
    let account = Samba::account();
    let _simulator = samba.simulator(workspace, &NOW)?;

    let there = Host { address: samba.address, account: &account, password: &password };
    let discovered = capture(there.ours(workspace, "discover").args(["--counterset", "P*"]))?;
    let stage = Stage::new(workspace)?;
    let file = stage.path("discovered.yaml");
    std::fs::write(&file, &discovered)?;
    let mut check = Command::new(workspace.program("perfmon-exporter"));
    capture(check.arg("check-config").arg(&file))
        .map_err(|error| format!("what discover wrote is no configuration: {error}\n{discovered}"))?;
    if !discovered.contains("Processor Information") || !discovered.contains("% Processor Time") {
        return Err(format!("discover left something out:\n{discovered}").into());
    }
    let compared = compare(workspace, &there)?;
    Ok(Outcome::Ran(format!("a module of {} lines, {compared} values alike", discovered.lines().count())))
}

/// Whom both clients ask.
pub(super) struct Host<'a> {
    pub(super) address: SocketAddr,
    pub(super) account: &'a str,
    pub(super) password: &'a Path,
}

impl Host<'_> {
    /// A command of ours against the host.
    fn ours(&self, workspace: &Workspace, name: &str) -> Command {
        let mut command = Command::new(workspace.program("perfmon-exporter"));
        command.arg(name).args(["--target", &self.address.ip().to_string(), "--username", self.account]);
        command.args(["--port", &self.address.port().to_string()]).arg("--password-file").arg(self.password);
        command
    }

    fn theirs(&self, workspace: &Workspace) -> Command {
        let mut command = Command::new(python(workspace));
        command.arg(workspace.root.join("crates/xtask/peers/impacket_values.py"));
        command.args(["--host", &self.address.ip().to_string(), "--port", &self.address.port().to_string()]);
        command.args(["--account", self.account]).arg("--password-file").arg(self.password);
        command
    }
}

/// Counterset, instance and counter.
type Key = (String, String, u64, u64);

fn compare(workspace: &Workspace, host: &Host<'_>) -> Result<usize> {
    let theirs: Value = serde_json::from_str(&capture(&mut host.theirs(workspace))?)?;
    compare_with(workspace, host, "impacket", &theirs["values"], VALUES_MIN)
}

/// Asks our own client for the values that `peer` found, at least `values_min` of them. Answers how many are alike.
pub(super) fn compare_with(
    workspace: &Workspace,
    host: &Host<'_>,
    peer: &str,
    theirs: &Value,
    values_min: usize,
) -> Result<usize> {
    let theirs = theirs.as_array().ok_or_else(|| format!("{peer} printed no values"))?;
    let theirs: Vec<&Value> = theirs.iter().filter(|value| !is_odd(value)).collect();
    let mut paths: Vec<String> = theirs.iter().filter_map(|value| path_of(value)).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut query = host.ours(workspace, "query");
    let printed = capture(query.args(["--count", "1", "--format", "json"]).args(&paths))?;
    let row: Value = serde_json::from_str(printed.lines().next().ok_or("query printed nothing")?)?;
    let ours = row["values"].as_array().ok_or("query printed no values")?;
    let ours: HashMap<Key, &Value> = ours.iter().filter_map(|value| Some((key_of(value)?, value))).collect();

    let mut alike = 0;
    for their in theirs.iter().filter(|value| value["hidden"] == false) {
        let key = key_of(their).ok_or_else(|| format!("{peer} printed {their}"))?;
        let our = ours.get(&key).ok_or_else(|| format!("our client does not see {their}"))?;
        if our["raw"].as_u64() != their["value"].as_u64() {
            return Err(format!("{peer} sees {their}, our client {our}").into());
        }
        alike += 1;
    }
    if alike < values_min {
        return Err(format!("only {alike} values were compared").into());
    }
    Ok(alike)
}

fn key_of(value: &Value) -> Option<Key> {
    let instance = value["instance"].as_str().unwrap_or_default();
    let number = value["instance_id"].as_u64().unwrap_or_default();
    Some((
        value["counterset"].as_str()?.to_owned(),
        instance.to_owned(),
        number,
        value["counter_id"].as_u64()?,
    ))
}

fn path_of(value: &Value) -> Option<String> {
    let instances = if value["instance"].is_null() { "" } else { "(*)" };
    Some(format!(r"\{}{instances}\*", value["counterset"].as_str()?))
}

fn is_odd(value: &Value) -> bool {
    value["counterset"].as_str().is_some_and(|name| ODD.contains(&name))
}
