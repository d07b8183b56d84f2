//! The event system of our simulated host calls a subscriber that is Scapy's server. impacket stores the subscription.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{STANDING, ask, figures, list, script};
use crate::Outcome;
use crate::Result;
use crate::conformance::impacket::{at_resolver, resolver_of};
use crate::process::Running;
use crate::stage::{START_TIMEOUT, Stage};
use crate::workspace::{Workspace, capture};

/// What the simulated host calls its applications and components, by the end of their identifiers.
const NAMES: [(&str, &str); 12] = [
    ("a911ca70-0000-4000-8000-000000000001", "Orders"),
    ("a911ca70-0000-4000-8000-000000000002", "Billing"),
    ("a911ca70-0000-4000-8000-000000000003", "Reports"),
    ("a911ca70-0000-4000-8000-000000000004", "Archive"),
    ("c0990e27-0000-4000-8000-000000000011", "Orders.Cart"),
    ("c0990e27-0000-4000-8000-000000000012", "Orders.Checkout"),
    ("c0990e27-0000-4000-8000-000000000013", "Orders.Audit"),
    ("c0990e27-0000-4000-8000-000000000021", "Billing.Invoice"),
    ("c0990e27-0000-4000-8000-000000000022", "Billing.Ledger"),
    ("c0990e27-0000-4000-8000-000000000031", "Reports.Renderer"),
    ("c0990e27-0000-4000-8000-000000000032", "Reports.Query"),
    ("c0990e27-0000-4000-8000-000000000041", "Archive.Store"),
];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let mut subscriber = Running::start("Scapy's subscriber", &mut script(workspace, "subscriber.py"))?;
    let port = subscriber.wait_for("listening address", START_TIMEOUT, |line| {
        Some(line.strip_prefix("listening on ")?.rsplit_once(':')?.1.to_owned())
    })?;
    let reference = |line: &str| line.strip_prefix("reference ").map(str::to_owned);
    let reference = subscriber.wait_for("reference", START_TIMEOUT, reference)?;

    let mut options = STANDING.to_vec();
    options.extend(["--events-every", "200ms", "--events-port", &port]);
    let (mut simulator, _) = stage.simulator(&options)?;
    let resolver = resolver_of(&mut simulator)?;
    let events = |more: &[&str]| capture(at_resolver(&stage, "impacket_events.py", resolver)?.args(more));
    let stored = events(&["--reference", &reference, "--resolver-port", &port]);
    stored.map_err(|error| subscriber.complaint(&error.to_string()))?;
    // Those of impacket list nothing.
    let processes = subscriber.wait_for("event of the host", START_TIMEOUT, |line| {
        let processes: Value = serde_json::from_str(line.strip_prefix("state ")?).ok()?;
        processes.as_array().is_some_and(|all| !all.is_empty()).then_some(processes)
    })?;
    let compared = compare(&processes, &list(&stage, resolver, &[])?)?;
    let container = &processes[0]["Applications"][0]["ApplInstanceID"];
    let dump =
        ask(&stage, resolver, &["--dump", container.as_str().ok_or("a container has no identifier")?])?;
    events(&["--remove"])?;
    let complaint = subscriber.complaint("calls of the host were wrong");
    if !subscriber.end()?.success() {
        return Err(complaint);
    }
    Ok(Outcome::Ran(format!("{compared} figures in an event and a poll; a dump in {}", dump["file"])))
}

/// What both tell of a component.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    containers: usize,
    instances_pooled: Option<u64>,
    instances_in_call: Option<u64>,
    call_time_ms: Option<u64>,
}

type Key = (String, String);

/// Compares an event with what `comt list` prints. Answers how many figures there are.
fn compare(processes: &Value, listed: &Value) -> Result<usize> {
    let (of_event, of_poll) = (event(processes)?, poll(listed));
    if of_event != of_poll || of_event.is_empty() {
        return Err(format!("an event tells {of_event:#?}, a poll {of_poll:#?}").into());
    }
    Ok(of_event.len() * 3)
}

/// The components of an event, added up by application; their names are those of the simulated host.
fn event(processes: &Value) -> Result<BTreeMap<Key, Figures>> {
    let names: BTreeMap<&str, &str> = NAMES.into_iter().collect();
    let mut found: BTreeMap<Key, Figures> = BTreeMap::new();
    for container in items(processes).flat_map(|process| items(&process["Applications"])) {
        let application = named(container, "ApplicationID", &names)?;
        for component in items(&container["Components"]) {
            let key = (application.clone(), named(component, "CLSID", &names)?);
            let figures = found.entry(key).or_default();
            figures.containers += 1;
            add(&mut figures.instances_pooled, &component["Pooled"]);
            add(&mut figures.instances_in_call, &component["InCall"]);
            figures.call_time_ms = figures.call_time_ms.max(component["CallTime"].as_u64());
            let instances = ["Activated", "Pooled"].map(|name| component[name].as_u64());
            let all = instances.into_iter().collect::<Option<Vec<_>>>().map(|parts| parts.iter().sum());
            if component["Objects"].as_u64() != all {
                return Err(format!(
                    "a component has other objects than active and pooled ones: {component}"
                )
                .into());
            }
        }
    }
    Ok(found)
}

/// The identifier of an application or a component, in small letters and without braces.
fn named(object: &Value, id: &str, names: &BTreeMap<&str, &str>) -> Result<String> {
    let text = object[id].as_str().unwrap_or_default();
    let bare =
        text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default().to_lowercase();
    if names.get(bare.as_str()).is_some_and(|name| object["Name"] == *name) {
        Ok(bare)
    } else {
        Err(format!("{id} {text} has the name {}", object["Name"]).into())
    }
}

fn add(sum: &mut Option<u64>, figure: &Value) {
    if let Some(figure) = figure.as_u64() {
        *sum = Some(sum.unwrap_or_default() + figure);
    }
}

fn poll(listed: &Value) -> BTreeMap<Key, Figures> {
    let mut found = BTreeMap::new();
    for (id, application) in figures::sorted(&listed["applications"], "application_id") {
        let containers = application["containers"].as_u64().and_then(|count| usize::try_from(count).ok());
        for (clsid, component) in figures::sorted(&application["components"], "clsid") {
            let figures = Figures {
                containers: containers.unwrap_or_default(),
                instances_pooled: component["instances_pooled"].as_u64(),
                instances_in_call: component["instances_in_call"].as_u64(),
                call_time_ms: component["call_time_ms"].as_u64(),
            };
            found.insert((id.clone(), clsid), figures);
        }
    }
    found
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
