//! tshark, given the password, decrypts a capture of our traffic and finds no malformed frame in it: what we
//! send to our simulated host, taken from the wire, with SMB in the clear and with SMB encrypted.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::stage::{self, PASSWORD, Stage, Target};
use crate::Result;
use crate::peers::is_root;
use crate::process::Running;
use crate::report::Outcome;
use crate::workspace::{Workspace, capture};

const START_TIMEOUT: Duration = Duration::from_secs(20);
/// Frames of a session with all its calls; fewer mean that something was not captured.
const FRAMES_MIN: usize = 40;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    if !is_root() {
        return Ok(Outcome::Skipped("only root may capture packets; run the tests as root".to_owned()));
    }
    let clear = judge(workspace, &[])?;
    let encrypted = judge(workspace, &["--require-encryption"])?;
    Ok(Outcome::Ran(format!("{clear}; with SMB encryption {encrypted}")))
}

fn judge(workspace: &Workspace, simulator: &[&str]) -> Result<String> {
    let stage = Stage::new(workspace)?;
    let password_file = stage.password_file()?;
    let (_simulator, host) = stage.simulator(simulator)?;
    let file = stage.path("traffic.pcapng");
    let recorder = record(&file, host.port())?;
    let target =
        Target { name: "sim", address: host, account: stage::ACCOUNT, password_file: &password_file };
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let (mut exporter, address) = stage.exporter(any, "2s", &[target])?;
    stage::page_when_up(&mut exporter, address, "sim")?;
    exporter.end()?;
    recorder.end()?;

    let read = |filter: &str| dissect(&file, host.port(), filter);
    let frames = read("smb2 || dcerpc")?.len();
    if frames < FRAMES_MIN {
        return Err(format!("only {frames} frames of SMB in the capture").into());
    }
    let malformed = read("_ws.malformed || _ws.expert.severity == error")?;
    if !malformed.is_empty() {
        return Err(
            format!("tshark finds fault with {} frames:\n{}", malformed.len(), malformed.join("\n")).into()
        );
    }
    // A sealed request whose stub tshark could decrypt shows an opnum and decrypted bytes.
    let decrypted = read("dcerpc.pkt_type == 2 && dcerpc.decrypted_stub_data")?.len();
    if decrypted == 0 {
        return Err("tshark decrypted no sealed reply".into());
    }
    let encrypted = read("smb2.header.transform")?.len();
    if encrypted == 0 && !simulator.is_empty() {
        return Err("no frame is encrypted although the server requires it".into());
    }
    Ok(format!("{frames} frames, {decrypted} sealed replies decrypted"))
}

/// Starts tshark on the loopback device; it says when it captures.
fn record(file: &Path, port: u16) -> Result<Running> {
    let mut command = Command::new("tshark");
    command.args(["-q", "-i", "lo", "-f", &format!("tcp port {port}"), "-w"]).arg(file);
    let mut recorder = Running::start("tshark", &mut command)?;
    recorder.wait_for("capture", START_TIMEOUT, |line| line.contains("Capturing on").then_some(()))?;
    Ok(recorder)
}

/// The frames that `filter` lets through, a line each.
fn dissect(file: &PathBuf, port: u16, filter: &str) -> Result<Vec<String>> {
    let mut command = Command::new("tshark");
    command.args(["-o", &format!("ntlmssp.nt_password:{PASSWORD}"), "-d", &format!("tcp.port=={port},nbss")]);
    command.arg("-r").arg(file).args(["-Y", filter]);
    Ok(capture(&mut command)?.lines().map(str::to_owned).collect())
}
