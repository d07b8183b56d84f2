//! go-msrpc is a client of performance logs and alerts of our simulated host. It lists data collector sets by an enumerator,
//! reads them by the methods of their objects and as XML, and starts and stops one.

use super::go_msrpc::ask;
use super::impacket::resolver_of;
use crate::Result;
use crate::report::Outcome;
use crate::stage::Stage;
use crate::workspace::Workspace;

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
