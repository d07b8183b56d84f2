//! go-msrpc is a client of performance logs and alerts of our simulated host. It lists data collector sets by an enumerator,
//! reads them by the methods of their objects and as XML, and starts and stops one. And it reads a request and a reply of each
//! of the 300 methods as our declarations write them; a test of ms-pla reads those that it writes.

use std::fs;
use std::process::Command;

use super::go_msrpc::ask;
use super::impacket::resolver_of;
use crate::Outcome;
use crate::Result;
use crate::peers::go::GOMSRPC;
use crate::stage::Stage;
use crate::workspace::{Workspace, capture, cargo};

/// The simulated host's own sets that clients make, and the one of a file.
const SETS: [&str; 4] = ["Web Server Load", "Low Memory", "Order Service", "Nightly"];
/// Counters and thresholds of all of them.
const PATHS_MIN: usize = 2 + 1 + 2 + 2 + 2;
const NOW: &str = "2026-11-01T12:00:00Z";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let file = workspace.root.join("crates/interfaces/ms-pla/tests/data/nightly.xml");
    let file = file.to_str().ok_or("the path of a file is no UTF-8")?;
    // go-msrpc reads one pointer before an array, and writes enumerations of two bytes.
    let choices = ["--pla-arrays", "single", "--pla-enums", "two"];
    let options = [&["--epm-port", "0", "--clock", NOW, "--pla-set", file][..], &choices].concat();
    let (mut simulator, _) = stage.simulator(&options)?;
    let resolver = resolver_of(&mut simulator)?;
    let printed = ask(&stage, "performance-logs", resolver, &["-set".to_owned(), "Nightly".to_owned()])?;
    let sets = printed["found"]["sets"].as_array().ok_or("no sets are listed")?;
    let names: Vec<_> = sets.iter().filter_map(|set| set["name"].as_str()).collect();
    if names != SETS {
        return Err(format!("the sets are {names:?} instead of {SETS:?}").into());
    }
    let collectors: Vec<_> = sets.iter().filter_map(|set| set["collectors"].as_array()).flatten().collect();
    let paths: usize = collectors.iter().filter_map(|one| one["paths"].as_array()).map(Vec::len).sum();
    if paths < PATHS_MIN {
        return Err(format!("the collectors have {paths} counters and thresholds: {collectors:?}").into());
    }
    let kinds = collectors.iter().map(|one| one["kind"].as_u64()).collect::<std::collections::BTreeSet<_>>();
    if kinds.len() != 5 || printed["found"]["sets"][0]["schedules"] != 2 {
        return Err(format!("there are collectors of the kinds {kinds:?}, in {sets:?}").into());
    }
    let logons = &printed["logons"];
    let (sets, collectors) = (sets.len(), collectors.len());
    Ok(Outcome::Ran(format!(
        "{sets} sets with {collectors} collectors alike by methods and as XML, {paths} paths, {logons} logons"
    )))
}

/// What the test of ms-pla reads.
const THEIRS: &str = "crates/interfaces/ms-pla/tests/data/go_msrpc_all.txt";

pub(crate) fn stubs(workspace: &Workspace) -> Result<Outcome> {
    let gomsrpc = || {
        let mut program = Command::new(GOMSRPC.path(workspace, "gomsrpc"));
        program.arg("pla-stubs");
        program
    };
    let file = fs::read_to_string(workspace.root.join(THEIRS))?;
    let written = capture(&mut gomsrpc())?;
    alike(&format!("{THEIRS}, and what go-msrpc writes"), &lines(&file), &lines(&written))?;
    let folder = tempfile::tempdir()?;
    let ours = folder.path().join("ours");
    fs::write(&ours, example(workspace, &[])?)?;
    let read = capture(gomsrpc().arg(&ours))?;
    let meant = example(workspace, &["values"])?;
    alike("what we mean, and what go-msrpc reads", &lines(&meant), &lines(&read))?;
    let (theirs, ours) = (lines(&written).len(), lines(&read).len());
    Ok(Outcome::Ran(format!(
        "{theirs} stubs of go-msrpc are those of the test, {ours} of ours have the same values there"
    )))
}

/// What the example prints.
fn example(workspace: &Workspace, arguments: &[&str]) -> Result<String> {
    let mut example = cargo();
    example.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", "ms-pla"]);
    capture(example.args(["--example", "pla_stubs", "--"]).args(arguments))
}

fn lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines.sort_unstable();
    lines
}

fn alike(which: &str, one: &[&str], other: &[&str]) -> Result<()> {
    let differing = one.iter().zip(other).find(|(one, other)| one != other);
    if let Some((one, other)) = differing {
        return Err(format!("{which} differ: `{one}` and `{other}`").into());
    }
    let (one, other) = (one.len(), other.len());
    if one == other && one > 0 { Ok(()) } else { Err(format!("{which} have {one} and {other} lines").into()) }
}
