//! Scapy and our COM+: its RPC server is a tracker for our client, and a subscriber for our simulated host; its DCOM client
//! reads our tracker. Its figures and those of `comt list` are compared one by one.

mod events;
mod figures;

use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use serde_json::{Value, json};

use super::impacket::resolver_of;
use crate::Outcome;
use crate::Result;
use crate::peers::scapy;
use crate::process::Running;
use crate::stage::{ACCOUNT, START_TIMEOUT, Stage};
use crate::workspace::{Workspace, capture};

pub(crate) use self::events::run as events;

/// A host whose clock stands still, so that two clients see the same figures.
const STANDING: [&str; 4] = ["--epm-port", "0", "--clock", "2026-11-01T12:00:00Z"];

/// The properties of an activation, as Scapy calls them, in the order of [MS-DCOM] <74>.
const PROPERTIES: [&str; 6] = [
    "SpecialPropertiesData",
    "InstantiationInfoData",
    "ActivationContextInfoData",
    "SecurityInfoData",
    "LocationInfoData",
    "ScmRequestInfoData",
];

/// Our client reads a tracker that is Scapy's server, and Scapy reads what our client sends.
pub(crate) fn tracker(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let containers = figures::invented();
    let file = stage.path("containers.json");
    fs::write(&file, containers.to_string())?;
    let mut command = with_account(&stage, "tracker.py")?;
    command.args(["--clients", "2"]).arg("--containers").arg(file);
    let mut host = Running::start("Scapy's tracker", &mut command)?;
    let resolver = host.wait_for("address of the resolver", START_TIMEOUT, |line| {
        line.strip_prefix("resolving objects on ")?.parse().ok()
    })?;
    let listed = list(&stage, resolver, &[]).map_err(|error| host.complaint(&error.to_string()))?;
    let one_class = list(&stage, resolver, &["--clsid", figures::CLSID]);
    let one_class = one_class.map_err(|error| host.complaint(&error.to_string()))?;
    let report = host.wait_for("report", START_TIMEOUT, |line| {
        serde_json::from_str::<Value>(line.strip_prefix("report ")?).ok()
    })?;
    let status = host.end()?;
    if !status.success() {
        return Err(format!("Scapy's tracker ended with {status}: {}", report["problems"]).into());
    }
    let of_all = figures::compare(&containers, &listed)?;
    let of_one = figures::compare_one_class(&containers, &one_class)?;
    let calls = &report["calls"];
    let number = containers.as_array().map_or(0, Vec::len);
    let of_both = ["RemoteCreateInstance", "GetContainerData", "RemRelease"];
    let of_each = ["GetComponentDataByContainer", "GetComponentDataByContainerAndCLSID"];
    if report["properties"] != json!(PROPERTIES)
        || of_both.iter().any(|name| calls[name] != 2)
        || of_each.iter().any(|name| calls[name] != number)
    {
        return Err(format!("our client sent something else: {report}").into());
    }
    let properties = PROPERTIES.len();
    Ok(Outcome::Ran(format!("{of_all} and {of_one} figures, {number} containers, {properties} properties")))
}

/// Scapy's client reads our tracker, and so does ours.
pub(crate) fn client(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (mut simulator, _) = stage.simulator(&STANDING)?;
    let resolver = resolver_of(&mut simulator)?;
    let found = ask(&stage, resolver, &[])?;
    let compared = figures::compare(&found["containers"], &list(&stage, resolver, &[])?)?;
    Ok(Outcome::Ran(format!("{compared} figures of two clients")))
}

/// What Scapy's client finds at a host.
fn ask(stage: &Stage<'_>, resolver: SocketAddr, more: &[&str]) -> Result<Value> {
    let mut command = with_account(stage, "client.py")?;
    command.args(["--host", &resolver.ip().to_string(), "--port", &resolver.port().to_string()]);
    Ok(serde_json::from_str(&capture(command.args(more))?)?)
}

/// What `comt list` prints about a host.
fn list(stage: &Stage<'_>, resolver: SocketAddr, more: &[&str]) -> Result<Value> {
    let mut command = Command::new(stage.workspace.program("perfmon-exporter"));
    command.args(["comt", "list", "--format", "json", "--username", ACCOUNT]);
    command.arg("--password-file").arg(stage.password_file()?);
    command.args(["--target", &resolver.ip().to_string(), "--port", &resolver.port().to_string()]);
    Ok(serde_json::from_str(&capture(command.args(more))?)?)
}

fn with_account(stage: &Stage<'_>, name: &str) -> Result<Command> {
    let mut command = script(stage.workspace, name);
    command.args(["--account", ACCOUNT]).arg("--password-file").arg(stage.password_file()?);
    Ok(command)
}

/// A script for Scapy. They share modules, of which no compiled copies are left beside them.
fn script(workspace: &Workspace, name: &str) -> Command {
    let mut command = Command::new(scapy(workspace));
    command.arg("-B").arg(workspace.root.join("crates/xtask/peers/scapy").join(name));
    command
}
