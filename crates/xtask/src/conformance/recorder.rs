//! `cargo xtask compare` finds one word of help and one sample that changed, in each format, and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use regex::Regex;

use crate::Outcome;
use crate::Result;
use crate::compare::{CONFIGURATION, PROGRAMS, World, compare};
use crate::workspace::Workspace;

/// Of a family that each exporter has.
const HELP: &[u8] = b"Whether anything was collected from the target";
/// The threshold of an alert that never fires is one sample and nothing else.
const THRESHOLD: (&str, &str) = ("Low memory, counter: '\\Memory\\Available MBytes', below: 1,", "below: 1,");
const FORMATS: [&str; 6] =
    ["openmetrics", "openmetrics.gzip", "protobuf", "protobuf.gzip", "text", "text.gzip"];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    check(&workspace.program(""))
}

fn check(old: &Path) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let new = folder.path().join("new");
    fs::create_dir(&new)?;
    for program in PROGRAMS {
        symlink(old.join(program), new.join(program))?;
    }
    change_help(&new.join(PROGRAMS[0]))?;
    let (threshold, below) = THRESHOLD;
    let configuration = CONFIGURATION.replace(threshold, &threshold.replace(below, "below: 2,"));
    let simulator = old.join("windows-sim");
    let world = World::new(folder.path(), &simulator)?;
    let kept = folder.path().join("recordings");
    let found = compare(&world, (old, CONFIGURATION), (&new, &configuration), &[], &kept)?;
    let help = Regex::new("perfmon_(exporter_)?target_up .*hether anything was collected")?;
    let sample = Regex::new(
        "^.perfmon_pla_alert_threshold[ {].*Low memory|^.perfmon_pla_alert_threshold +[14]: [12].0$",
    )?;
    let (mut helps, mut samples) = (BTreeSet::new(), BTreeSet::new());
    let mut part = "";
    for line in found.diff.lines() {
        match line.strip_prefix("+++ b/new/") {
            Some(name) => part = name,
            None if line.starts_with("---") || !line.starts_with(['+', '-']) => {}
            None if help.is_match(line) => drop(helps.insert(part)),
            None if sample.is_match(line) => drop(samples.insert(part)),
            None => return Err(format!("{part}: nothing has changed this line: {line}").into()),
        }
    }
    for (what, parts, of_otlp) in [("help", helps, "counters"), ("sample", samples, "alerts")] {
        let pages = FORMATS.iter().map(|format| format!("metrics/{format}"));
        let mut expected = pages.chain([format!("otlp/metrics/{of_otlp}")]);
        if let Some(missing) = expected.find(|part| !parts.contains(part.as_str())) {
            return Err(format!("{missing}: the changed {what} was not found; it was in {parts:?}").into());
        }
    }
    Ok(Outcome::Ran(format!(
        "{} lines of both; the two that were changed are found in each format",
        found.lines
    )))
}

/// Another first letter of the help, in a copy of the program.
fn change_help(program: &Path) -> Result<()> {
    let mut bytes = fs::read(program)?;
    let at =
        bytes.windows(HELP.len()).position(|window| window == HELP).ok_or("the program has no such help")?;
    bytes[at] = b'w';
    let mode = fs::metadata(program)?.permissions();
    fs::remove_file(program)?;
    fs::write(program, bytes)?;
    Ok(fs::set_permissions(program, mode)?)
}
