//! go-msrpc is a client of the COM+ objects of our simulated host: resolver, activation, references, the tracker, process
//! dumps, and the event system. Its references are its own, one of them to our subscriber, which the host then calls.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::Command;

use serde_json::Value;

use super::go_msrpc::ask;
use super::impacket::{Subscriber, resolver_of};
use crate::Outcome;
use crate::Result;
use crate::stage::{ACCOUNT, START_TIMEOUT, Stage};
use crate::workspace::{Workspace, capture};

/// The simulated host has four applications with eight components.
const FIGURES_MIN: usize = 4 * 5 + 8 * 7;
/// A subscription has 17 properties, which are read twice.
const PROPERTIES: u64 = 2 * 17;

/// What `comt list` has of an application, and of a component, from events only.
const APPLICATION_BY_EVENT: [&str; 3] = ["name", "partition_id", "container_ids"];
const COMPONENT_BY_EVENT: [&str; 3] = ["name", "instances", "instances_active"];

/// In a list of the tracker: a figure that is not tracked.
const UNTRACKED: u64 = 0xffff_ffff;

const NOW: &str = "2026-11-01T12:00:00Z";
const DUMPED_AT: &str = "2026_11_01_12_00_00";
/// Where the host writes dumps by itself, and where go-msrpc has them written.
const DUMP_DIRECTORIES: [&str; 2] = [r"C:\Windows\System32\com\dmp", r"D:\dumps"];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut subscriber = Subscriber::start(workspace)?;
    let stage = Stage::new(workspace)?;
    let port = subscriber.port.to_string();
    let options = ["--epm-port", "0", "--clock", NOW, "--events-every", "200ms", "--events-port", &port];
    let (mut simulator, _) = stage.simulator(&options)?;
    let resolver = resolver_of(&mut simulator)?;

    let printed = ask(&stage, "objects", resolver, &["-reference".to_owned(), subscriber.reference.clone()])?;
    let found = &printed["found"];
    let alike = compare(&figures_of_containers(&found["tracker"])?, &our_figures(&stage, resolver)?)?;
    let (properties, count) = (&found["events"]["properties"], &found["events"]["count"]);
    if *properties != PROPERTIES || *count != 1 {
        return Err(format!("{count} subscriptions are stored with {properties} properties in all").into());
    }

    let (container, application) = subscriber.running.wait_for("container", START_TIMEOUT, container_in)?;
    let dumped = ask(&stage, "objects", resolver, &["-container".to_owned(), format!("{{{container}}}")])?;
    let file = format!("{{{}}}-{DUMPED_AT}", application.to_uppercase());
    let expected = DUMP_DIRECTORIES.map(|directory| format!(r"{directory}\{file}"));
    if dumped["found"]["dumps"] != Value::from(expected.as_slice()) {
        return Err(format!("dumps are {dumped} instead of {expected:?}").into());
    }
    let logons = &printed["logons"];
    Ok(Outcome::Ran(format!("{alike} figures alike, {properties} properties, 2 dumps, {logons} logons")))
}

/// The container and the application of a line of the subscriber.
fn container_in(line: &str) -> Option<(String, String)> {
    let (container, application) = line.strip_prefix("container ")?.split_once(" of ")?;
    Some((container.to_owned(), application.to_owned()))
}

/// By application, component and name; a figure that is not tracked has no value. Those of an application have no component.
type Figures = BTreeMap<(String, String, String), Option<u64>>;

/// What our own client lists.
fn our_figures(stage: &Stage<'_>, resolver: SocketAddr) -> Result<Figures> {
    let mut command = Command::new(stage.workspace.program("perfmon-exporter"));
    command.args(["comt", "list", "--target", &resolver.ip().to_string(), "--format", "json"]);
    command.args(["--port", &resolver.port().to_string(), "--username", ACCOUNT]);
    let listed: Value =
        serde_json::from_str(&capture(command.arg("--password-file").arg(stage.password_file()?))?)?;
    let mut figures = Figures::new();
    for application in rows(&listed["applications"])? {
        let id = text(&application["application_id"])?;
        for (name, value) in numbers(&polled(application, &APPLICATION_BY_EVENT)?) {
            figures.insert((id.clone(), String::new(), name.clone()), value.as_u64());
        }
        for component in rows(&application["components"])? {
            let clsid = text(&component["clsid"])?;
            for (name, value) in numbers(&polled(component, &COMPONENT_BY_EVENT)?) {
                figures.insert((id.clone(), clsid.clone(), name.clone()), value.as_u64());
            }
        }
    }
    Ok(figures)
}

/// An entry of `comt list` without what only events tell, which is null: it waited for none.
fn polled(entry: &Value, by_event: &[&str]) -> Result<Value> {
    let mut entry = entry.as_object().ok_or_else(|| format!("no entry: {entry}"))?.clone();
    for &name in by_event {
        match entry.remove(name) {
            Some(Value::Null) => {}
            other => return Err(format!("a poll tells {name}: {other:?}").into()),
        }
    }
    Ok(entry.into())
}

/// The figures of containers, added up to those of applications.
fn figures_of_containers(containers: &Value) -> Result<Figures> {
    let mut figures = Figures::new();
    for container in rows(containers)? {
        let id = text(&container["application_id"])?.trim_matches(['{', '}']).to_lowercase();
        let mut add = |component: &str, name: &str, value: u64| {
            let sum = figures.entry((id.clone(), component.to_owned(), name.to_owned())).or_default();
            let is_greatest = matches!(name, "distinct_components" | "call_time_ms");
            if value != UNTRACKED {
                let known = sum.unwrap_or_default();
                *sum = Some(if is_greatest { known.max(value) } else { known + value });
            }
        };
        add("", "containers", 1);
        for name in ["calls_in_progress", "calls_per_second", "instances", "distinct_components"] {
            add("", name, number(&container[name])?);
        }
        for component in rows(&container["components"])? {
            let clsid = text(&component["clsid"])?;
            for (name, value) in numbers(component) {
                add(&clsid, name, number(value)?);
            }
        }
    }
    Ok(figures)
}

/// How many figures are alike, where all are.
fn compare(theirs: &Figures, ours: &Figures) -> Result<usize> {
    for key in theirs.keys().chain(ours.keys()) {
        let (their, our) = (theirs.get(key), ours.get(key));
        if their != our {
            return Err(format!("{key:?}: go-msrpc reads {their:?}, our client {our:?}").into());
        }
    }
    if theirs.len() < FIGURES_MIN {
        return Err(format!("only {} figures were compared", theirs.len()).into());
    }
    Ok(theirs.len())
}

fn rows(value: &Value) -> Result<&Vec<Value>> {
    value.as_array().ok_or_else(|| format!("no list: {value}").into())
}

/// The figures of an entry, which are numbers, or null where they are not tracked.
fn numbers(entry: &Value) -> impl Iterator<Item = (&String, &Value)> {
    entry.as_object().into_iter().flatten().filter(|(_, value)| value.is_number() || value.is_null())
}

fn text(value: &Value) -> Result<String> {
    Ok(value.as_str().ok_or_else(|| format!("no text: {value}"))?.to_owned())
}

fn number(value: &Value) -> Result<u64> {
    value.as_u64().ok_or_else(|| format!("no number: {value}").into())
}
