//! Alerts of data collector sets as alerting rules of Prometheus: promtool reads what `pla to-rules` makes, and the rules fire at
//! the samples at which `pla-engine` triggers, for every type of counter. The files of expected results are written by a test
//! of plugins/pla; here the program makes the rules, of counters that `discover` finds at a simulated host.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::Result;
use crate::peers::go;
use crate::stage::{self, Stage};
use crate::workspace::{Workspace, capture};

const DATA: &str = "plugins/pla/tests/data/to_rules";
/// The set with a threshold for each type.
const SET: &str = "counter_types";

/// By the promtool of Debian.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    judge(workspace, Path::new("promtool"))
}

/// By that of Prometheus 3, whose ranges do not contain their beginning.
pub(crate) fn by_prometheus3(workspace: &Workspace) -> Result<Outcome> {
    judge(workspace, &go::PROMETHEUS.path(workspace, "promtool"))
}

fn judge(workspace: &Workspace, promtool: &Path) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let data = workspace.root.join(DATA);
    let promtool = |what: &str, file: &str| {
        let mut command = Command::new(promtool);
        command.current_dir(stage.path("")).args([what, "rules", file]);
        capture(&mut command)
    };
    let rules = rules(workspace, &stage, &data.join(format!("{SET}.xml")))?;
    fs::write(stage.path(&format!("{SET}.rules.yaml")), &rules)?;
    for file in [format!("{SET}.test.yaml"), "nightly.rules.yaml".to_owned()] {
        fs::copy(data.join(&file), stage.path(&file))?;
    }
    promtool("check", &format!("{SET}.rules.yaml"))?;
    promtool("check", "nightly.rules.yaml")?;
    promtool("test", &format!("{SET}.test.yaml"))?;
    let made = |line: &&str| line.trim_start().starts_with("- alert:");
    Ok(Outcome::Ran(format!("{} alerts fire when they should", rules.lines().filter(made).count())))
}

/// What the program makes of a set, at a simulated host.
fn rules(workspace: &Workspace, stage: &Stage<'_>, set: &Path) -> Result<String> {
    let (_simulator, host) = stage.simulator(&[])?;
    let program = workspace.program("perfmon-exporter");
    let mut discover = Command::new(&program);
    discover.args(["discover", "--format", "json", "--counterset", "Counter Types"]);
    discover.args(["--target", &host.ip().to_string(), "--port", &host.port().to_string()]);
    discover.args(["--username", stage::ACCOUNT]).arg("--password-file").arg(stage.password_file()?);
    let discovered = stage.path("web1.json");
    fs::write(&discovered, capture(&mut discover)?)?;
    let mut to_rules = Command::new(program);
    capture(to_rules.args(["pla", "to-rules"]).arg("--discovered").arg(discovered).arg(set))
}
