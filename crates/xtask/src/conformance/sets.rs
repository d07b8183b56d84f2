//! Python's parser of XML finds in data collector sets as we write them what was in them when we read them.

use std::fs;
use std::process::Command;

use crate::Outcome;
use crate::Result;
use crate::peers::python;
use crate::workspace::{Workspace, capture, cargo, run as run_here};

/// Sets with the shapes of exports: a file, and a folder of some.
const DATA: &str = "crates/interfaces/ms-pla/tests/data";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let data = workspace.root.join(DATA);
    let mut sets = vec![data.join("nightly.xml")];
    for entry in fs::read_dir(data.join("exports"))? {
        sets.push(entry?.path());
    }
    let mut python = Command::new(python(workspace));
    python.arg(workspace.root.join("crates/xtask/peers/same_sets.py"));
    for set in &sets {
        let written = folder.path().join(set.file_name().ok_or("a set has no name")?);
        let mut example = cargo();
        example.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", "ms-pla"]);
        run_here(example.args(["--example", "pla_set", "--"]).arg(set).arg(&written))?;
        python.arg(set).arg(written);
    }
    Ok(Outcome::Ran(capture(&mut python)?.trim().to_owned()))
}
