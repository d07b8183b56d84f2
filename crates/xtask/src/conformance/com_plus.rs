//! impacket reads what our crates of the COM+ event system and of OLE Automation write, and they read what impacket writes.
//! No program of ours runs: both sides are structures.

use std::fs;
use std::process::Command;

use crate::Result;
use crate::peers::python;
use crate::report::Outcome;
use crate::workspace::{Workspace, capture, cargo};

pub(crate) fn by_impacket(workspace: &Workspace) -> Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let [ours, theirs, recoded] = ["ours", "theirs", "recoded"].map(|name| folder.path().join(name));
    let impacket = || {
        let mut command = Command::new(python(workspace));
        command.arg(workspace.root.join("crates/xtask/peers/impacket_com_plus.py"));
        command
    };
    fs::write(&ours, example(workspace, None)?)?;
    fs::write(&theirs, capture(impacket().arg("write"))?)?;
    let file = theirs.to_str().ok_or("the temporary folder has no name in UTF-8")?;
    fs::write(&recoded, example(workspace, Some(file))?)?;
    let compared = capture(impacket().arg("check").args([&ours, &theirs, &recoded]))?;
    Ok(Outcome::Ran(compared.trim().to_owned()))
}

/// What the example prints; with a file of stubs, those as the crates write them.
fn example(workspace: &Workspace, file: Option<&str>) -> Result<String> {
    let mut example = cargo();
    example.current_dir(&workspace.root).args(["run", "--quiet", "--locked", "-p", "com"]);
    capture(example.args(["--example", "com_plus_stubs", "--"]).args(file))
}
