//! Containers in the names of [MS-COMT] 2.2.3 and 2.2.4, and what `comt list` has to print of them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::Result;

/// Enough containers for a list of several fragments.
const CONTAINERS: u64 = 60;

/// Applications with one, two or three containers of up to four components, and no two figures alike but the largest ones.
pub(super) fn invented() -> Value {
    (1..=CONTAINERS).map(container).collect()
}

fn container(number: u64) -> Value {
    let components: Vec<Value> = (0..number % 5).map(|index| component(number, index)).collect();
    let figure = |place: u64| if number == 7 { u32::MAX.into() } else { number * 1000 + place };
    json!({
        "dwLegacyId": number * 3,
        "wszApplicationIdentifier": format!("{{A9110000-0000-4000-8000-{:012X}}}", number * number % 37),
        "dwProcessId": number * 4,
        "cCalls": figure(1),
        "cComponentInstances": figure(2),
        "cComponents": figure(3),
        "cCallsPerSecond": figure(4),
        "components": components,
    })
}

/// The last component of some containers is not tracked.
fn component(number: u64, index: u64) -> Value {
    let figure = |place: u64| match index {
        3 => None,
        // The largest number that does not say "not tracked".
        2 if place == 6 => Some(u64::from(u32::MAX) - 1),
        _ => Some(number * 10_000 + index * 1000 + place),
    };
    json!({
        "clsid": format!("c0990000-0000-4000-8000-{:012x}", index * 7 + 1),
        "cTotalReferences": figure(1),
        "cBoundReferences": figure(2),
        "cPooledInstances": figure(3),
        "cInstancesInCall": figure(4),
        "dwResponseTime": figure(5),
        "cCallsCompleted": figure(6),
        "cCallsFailed": figure(7),
    })
}

/// A component that some of the [invented] containers have.
pub(super) const CLSID: &str = "c0990000-0000-4000-8000-000000000008";

/// Compares `comt list` with what a host has. Answers how many figures there are.
pub(super) fn compare(containers: &Value, listed: &Value) -> Result<usize> {
    compare_applications(&expected(containers), listed)
}

/// Compares `comt list --clsid` with the applications that have the component [`CLSID`].
pub(super) fn compare_one_class(containers: &Value, listed: &Value) -> Result<usize> {
    let mut expected = expected(containers);
    expected.retain(|_, application| {
        let components = application["components"].as_array_mut();
        components.is_some_and(|all| {
            all.retain(|one| one["clsid"] == CLSID);
            !all.is_empty()
        })
    });
    compare_applications(&expected, listed)
}

fn compare_applications(expected: &BTreeMap<String, Value>, listed: &Value) -> Result<usize> {
    if !listed["problem"].is_null() || listed["left_out"] != json!([]) {
        return Err(format!("comt list leaves something out: {listed}").into());
    }
    let found = sorted(&listed["applications"], "application_id");
    let expected_ids: Vec<&String> = expected.keys().collect();
    if expected_ids != found.keys().collect::<Vec<_>>() {
        return Err(format!("the host has {expected_ids:?}, comt list {listed}").into());
    }
    let mut figures = 0;
    for (id, application) in expected {
        if found[id] != *application {
            return Err(format!("the host has {application:#}, comt list {:#}", found[id]).into());
        }
        figures += numbers(application);
    }
    if figures == 0 { Err("the host has no figures".into()) } else { Ok(figures) }
}

/// The applications, by their identifiers.
fn expected(containers: &Value) -> BTreeMap<String, Value> {
    let mut members: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for container in containers.as_array().into_iter().flatten() {
        let id = container["wszApplicationIdentifier"].as_str().unwrap_or_default();
        members.entry(id.trim_matches(['{', '}']).to_lowercase()).or_default().push(container);
    }
    members.into_iter().map(|(id, containers)| (id.clone(), application(&id, &containers))).collect()
}

/// What only events tell is null: `comt list` waited for none.
fn application(id: &str, containers: &[&Value]) -> Value {
    let figures = |name: &'static str| containers.iter().filter_map(move |one| one[name].as_u64());
    let mut members: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for component in containers.iter().filter_map(|one| one["components"].as_array()).flatten() {
        members.entry(component["clsid"].as_str().unwrap_or_default()).or_default().push(component);
    }
    json!({
        "application_id": id,
        "name": null,
        "partition_id": null,
        "container_ids": null,
        "containers": containers.len(),
        "process_ids": figures("dwProcessId").collect::<Vec<_>>(),
        "calls_in_progress": figures("cCalls").sum::<u64>(),
        "calls_per_second": figures("cCallsPerSecond").sum::<u64>(),
        "instances": figures("cComponentInstances").sum::<u64>(),
        "distinct_components": figures("cComponents").max(),
        "components": members.iter().map(|(clsid, one)| added(clsid, one)).collect::<Vec<_>>(),
    })
}

/// A component of several containers; figures that none of them tracks are null.
fn added(clsid: &str, members: &[&Value]) -> Value {
    let tracked = |name: &'static str| members.iter().filter_map(move |one| one[name].as_u64());
    let sum = |name| tracked(name).reduce(|sum, figure| sum + figure);
    json!({
        "clsid": clsid,
        "name": null,
        "instances": null,
        "instances_active": null,
        "references": sum("cTotalReferences"),
        "bound_references": sum("cBoundReferences"),
        "instances_pooled": sum("cPooledInstances"),
        "instances_in_call": sum("cInstancesInCall"),
        "call_time_ms": tracked("dwResponseTime").max(),
        "recent_calls_completed": sum("cCallsCompleted"),
        "recent_calls_failed": sum("cCallsFailed"),
    })
}

/// The objects of a list by one of their texts.
pub(super) fn sorted(list: &Value, key: &str) -> BTreeMap<String, Value> {
    let objects = list.as_array().into_iter().flatten();
    objects.map(|one| (one[key].as_str().unwrap_or_default().to_owned(), one.clone())).collect()
}

fn numbers(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(numbers).sum(),
        Value::Object(members) => members.values().map(numbers).sum(),
        value => usize::from(value.is_number()),
    }
}
