//! pandas, pyarrow and DuckDB read logs of counters as they were written.

use std::process::Command;

use crate::Outcome;
use crate::Result;
use crate::peers::pandas;
use crate::workspace::{Workspace, capture, cargo};

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let mut example = cargo();
    example.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", "counter-log"]);
    capture(example.args(["--example", "invented_log", "--"]).arg(folder.path()))?;
    let mut python = Command::new(pandas(workspace));
    python.arg(workspace.root.join("crates/xtask/peers/read_logs.py")).arg(folder.path());
    Ok(Outcome::Ran(capture(&mut python)?.trim().to_owned()))
}
