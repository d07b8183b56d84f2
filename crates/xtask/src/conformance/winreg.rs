//! Our client against Samba's own remote registry: SMB 3.1.1 with and without encryption, NTLM and SPNEGO,
//! sealed calls, requests and replies of many fragments, every value of its performance data; and how fast, beside impacket in the same run.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::samba::{Pipes, Samba, USER};
use crate::Outcome;
use crate::Result;
use crate::peers::python;
use crate::workspace::{Workspace, capture};

/// Enough that the reply takes several fragments.
const INSTANCES: u32 = 900;
const FRAGMENT_BYTES_MAX: u64 = 5840;
const ROUNDS_MIN: usize = 5;
const ROUNDS_MAX: usize = 15;
const CALLS: &str = "3000";
const CALLS_OF_IMPACKET: &str = "300";
/// How many times impacket's rate ours must be at least. It is about twenty times: one commit on one machine has shown 17.5
/// and 27.4, since Samba, which both wait for, shares the processors with them.
const TIMES_MIN: f64 = 15.0;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut probes = 0;
    for server_encryption in ["default", "required", "off"] {
        let samba = Samba::start(Pipes::Samba, server_encryption)?;
        fill(workspace, &samba)?;
        let password_file = samba.password_file()?;
        let own: &[&str] =
            if server_encryption == "off" { &["disabled", "preferred"] } else { &["preferred", "required"] };
        for encryption in own {
            for mechanism in ["ntlm", "spnego"] {
                let found = probe(workspace, &samba, &password_file, encryption, mechanism, "1")?;
                expect(&found, server_encryption, encryption)?;
                probes += 1;
            }
        }
        if server_encryption == "off" {
            refuses(workspace, &samba, &password_file)?;
        }
    }
    let speed = race(workspace)?;
    Ok(Outcome::Ran(format!("{probes} combinations; {speed}")))
}

fn probe(
    workspace: &Workspace,
    samba: &Samba,
    password_file: &Path,
    encryption: &str,
    mechanism: &str,
    calls: &str,
) -> Result<Value> {
    let printed = capture(&mut command(workspace, samba, password_file, encryption, mechanism, calls))?;
    Ok(serde_json::from_str(&printed)?)
}

fn command(
    workspace: &Workspace,
    samba: &Samba,
    password_file: &Path,
    encryption: &str,
    mechanism: &str,
    calls: &str,
) -> Command {
    let mut command = Command::new(workspace.program("examples/winreg_probe"));
    command.args(["--server", &samba.address.to_string(), "--user", USER, "--json", "--calls", calls]);
    command.arg("--password-file").arg(password_file);
    command.args(["--encryption", encryption, "--mechanism", mechanism]);
    command
}

/// What must have been negotiated, and that the reply was longer than a fragment.
fn expect(found: &Value, server_encryption: &str, encryption: &str) -> Result<()> {
    let must_encrypt = server_encryption == "required" || encryption == "required";
    let must_not = server_encryption == "off" || encryption == "disabled";
    let encrypted = found["encrypted"].as_bool();
    let holds = found["dialect"].as_str().is_some_and(|dialect| dialect.contains("3.1.1"))
        && !(must_encrypt && encrypted != Some(true))
        && !(must_not && encrypted != Some(false))
        && found["performance_bytes"].as_u64() > Some(4 * FRAGMENT_BYTES_MAX);
    if holds && found["objects"] == objects() {
        Ok(())
    } else {
        Err(format!("server {server_encryption}, client {encryption}: {found}").into())
    }
}

/// Gives Samba [`objects`] to serve.
pub(super) fn fill(workspace: &Workspace, samba: &Samba) -> Result<()> {
    let script = workspace.root.join("crates/xtask/peers/fill_perfmon.py");
    let mut python = Command::new("/usr/bin/python3");
    capture(python.arg(script).arg(samba.state()).arg(INSTANCES.to_string())).map(drop)
}

/// What Samba was filled with: one object, whose instances have their numbers as values.
pub(super) fn objects() -> Value {
    let values: Vec<Value> =
        (0..INSTANCES).map(|number| json!([format!("instance {number}"), number])).collect();
    json!([{"name": "Compared Object", "counter": "Compared Counter", "values": values}])
}

/// A server without encryption is refused where it is required.
fn refuses(workspace: &Workspace, samba: &Samba, password_file: &Path) -> Result<()> {
    let output = command(workspace, samba, password_file, "required", "spnego", "1").output()?;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() && complaint.contains("encrypt") {
        Ok(())
    } else {
        Err(format!("encryption is required and the server has none, yet: {}\n{complaint}", output.status)
            .into())
    }
}

/// Rounds of both, one after the other; the best of each counts, since other programs only ever take time away. Ends
/// with the round that reaches the ratio, but not before [`ROUNDS_MIN`].
fn race(workspace: &Workspace) -> Result<String> {
    let samba = Samba::start(Pipes::Samba, "default")?;
    let password_file = samba.password_file()?;
    let (host, port) = (samba.address.ip().to_string(), samba.address.port().to_string());
    let (mut ours, mut theirs) = (0.0_f64, 0.0_f64);
    for round in 1..=ROUNDS_MAX {
        if round > ROUNDS_MIN && ours >= TIMES_MIN * theirs {
            break;
        }
        let mut command = command(workspace, &samba, &password_file, "preferred", "spnego", CALLS);
        let found: Value = serde_json::from_str(&capture(command.args(["--performance-bytes-max", "0"]))?)?;
        ours = ours.max(found["calls_per_second"].as_f64().ok_or("no rate")?);
        let mut impacket = Command::new(python(workspace));
        impacket.arg(workspace.root.join("crates/xtask/peers/winreg_rate.py")).args([&host, &port, USER]);
        theirs = theirs.max(capture(impacket.arg(&password_file).arg(CALLS_OF_IMPACKET))?.trim().parse()?);
    }
    let times = ours / theirs;
    let figures = format!("{ours:.0} sealed calls a second, impacket {theirs:.0}: {times:.1} times");
    if times >= TIMES_MIN { Ok(figures) } else { Err(format!("{figures}, {TIMES_MIN} are wanted").into()) }
}
