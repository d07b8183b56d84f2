//! impacket and our own client read the registry of one simulated host whose clock stands still: the tables of names,
//! performance data and keys. They find the same, value by value.

use std::process::Command;

use serde_json::Value;

use crate::Outcome;
use crate::Result;
use crate::peers::python;
use crate::stage::{ACCOUNT, Stage};
use crate::workspace::{Workspace, capture, cargo};

const NOW: [&str; 2] = ["--clock", "2026-11-01T12:00:00Z"];
const OBJECTS: &str = "2 4 86 230 232 234 236 238 260 262 330 510 546 582 638 658 700 1530 1532 1850";
const KEYS: [&str; 6] = [
    r"SOFTWARE\Microsoft\Windows NT\CurrentVersion",
    r"SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib",
    r"SYSTEM\CurrentControlSet\Control\TimeZoneInformation",
    r"SYSTEM\CurrentControlSet\Services\Spooler",
    r"HARDWARE\DESCRIPTION\System\CentralProcessor\0",
    r"HARDWARE\RESOURCEMAP\System Resources\Physical Memory",
];
const VALUES_MIN: usize = 500;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (_simulator, host) = stage.simulator(&NOW)?;
    let password = stage.password_file()?;
    let keys = KEYS.iter().flat_map(|key| ["--key", key]);

    let mut theirs = Command::new(python(workspace));
    theirs.arg(workspace.root.join("crates/xtask/peers/impacket_performance_data.py"));
    theirs.args(["--host", &host.ip().to_string(), "--port", &host.port().to_string(), "--account", ACCOUNT]);
    theirs.args(["--objects", OBJECTS]).arg("--password-file").arg(&password).args(keys.clone());
    let theirs: Value = serde_json::from_str(&capture(&mut theirs)?)?;

    let mut ours = cargo();
    ours.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", "windows-sim"]);
    ours.args(["--example", "performance_data", "--", "--server", &host.to_string(), "--user", ACCOUNT]);
    ours.args(["--objects", OBJECTS]).arg("--password-file").arg(&password).args(keys);
    let ours: Value = serde_json::from_str(&capture(&mut ours)?)?;

    if let Some(difference) = difference("", &theirs, &ours) {
        return Err(difference.into());
    }
    let (values, names) =
        (count(&theirs["objects"]), theirs["names"].as_object().map_or(0, serde_json::Map::len));
    if values < VALUES_MIN || names < VALUES_MIN / 2 {
        return Err(format!("impacket found {values} values and {names} names only").into());
    }
    Ok(Outcome::Ran(format!("{values} values, {names} names and {} keys alike", KEYS.len())))
}

/// Where both differ first.
fn difference(path: &str, theirs: &Value, ours: &Value) -> Option<String> {
    match (theirs, ours) {
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            a.iter().find_map(|(name, value)| difference(&format!("{path}/{name}"), value, &b[name]))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(index, (a, b))| difference(&format!("{path}/{index}"), a, b))
        }
        _ => (theirs != ours).then(|| format!("{path}: impacket has {theirs}, our decoder {ours}")),
    }
}

/// The values of all instances of these objects.
fn count(objects: &Value) -> usize {
    let all = |value: &Value, field: &str| value[field].as_array().cloned().unwrap_or_default();
    let objects = objects.as_array().into_iter().flatten();
    objects.flat_map(|object| all(object, "instances")).map(|instance| all(&instance, "values").len()).sum()
}
