//! The registry of a simulated host with more countersets than PCQ lists: impacket and Samba's own client, with code
//! that knows nothing of ours, enumerate its keys, and find as many.

use std::process::Command;

use serde_json::Value;

use crate::Outcome;
use crate::Result;
use crate::peers::python;
use crate::stage::{ACCOUNT, Stage};
use crate::workspace::{Workspace, capture};

const COUNTERSETS: &str = "300";
/// PCQ lists 256 at most.
const FOUND_MIN: &str = "257";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (_simulator, host) = stage.simulator(&["--countersets", COUNTERSETS])?;
    let (address, port) = (host.ip().to_string(), host.port().to_string());
    let password_file = stage.password_file()?;

    let mut impacket = Command::new(python(workspace));
    impacket.arg(workspace.root.join("crates/testing/windows-sim/tests/peers/impacket_rrp.py"));
    impacket.args(["--host", &address, "--port", &port, "--account", ACCOUNT, "--at-least", FOUND_MIN]);
    let found: Value = serde_json::from_str(&capture(impacket.arg("--password-file").arg(&password_file))?)?;

    // Debian's interpreter: Samba's bindings are for that one.
    let mut samba = Command::new("/usr/bin/python3");
    samba.arg(workspace.root.join("crates/xtask/peers/samba_registry.py"));
    samba.args([&address, &port, ACCOUNT]).arg(&password_file).arg(FOUND_MIN);
    let by_samba: u64 = capture(&mut samba)?.trim().parse()?;
    if found["countersets"].as_u64() == Some(by_samba) {
        Ok(Outcome::Ran(format!("{by_samba} countersets of {} providers", found["providers"])))
    } else {
        Err(format!("impacket found {found}, Samba's client {by_samba} countersets").into())
    }
}
