//! Wine's NDR reads and writes the messages of the COM+ tracker, opnums 4 to 8 of [MS-COMT].
//!
//! widl makes stubs of an IDL file, with which two small programs are built. Wine runs one of them as the server of our
//! client, and the other as a client of our server. Both sides print what they send and what arrives, value by value, and
//! must print the same: then each has read what the other has written. The headers of objects, ORPCTHIS and ORPCTHAT, are
//! parameters in the IDL file, since Wine's own DCOM would read and write them without NDR.
//!
//! It does not judge the PDUs. Wine gives all of them call id 1, and our client takes them for answers of other calls than
//! its own; so the example that is our client corrects them.

mod programs;
mod transcripts;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use self::programs::Programs;
use self::transcripts::Transcripts;
use crate::Outcome;
use crate::Result;
use crate::peers::is_root;
use crate::process::Running;
use crate::workspace::{Workspace, capture};

const START_TIMEOUT: Duration = Duration::from_secs(30);
/// In a network where nothing else listens.
const PORT: &str = "49555";
const CALLS_MIN: [(&str, usize); 5] = [
    ("GetContainerData", 6),
    ("GetComponentDataByContainer", 5),
    ("GetComponentDataByContainerAndCLSID", 3),
    ("IsSupported", 3),
    ("DumpProcess", 6),
];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    if !is_root() {
        let why =
            "Wine's servers listen on every address, and only root may give them a network of their own";
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    let folder = tempfile::tempdir()?;
    let programs = Programs::build(&workspace.root.join("crates/xtask/peers/wine"), folder.path())?;
    let ours = workspace.program("examples/com_plus_tracker");
    let asked = we_ask(&programs, &ours, folder.path()).map_err(|error| format!("Wine's server: {error}"))?;
    let answered =
        wine_asks(&programs, &ours, folder.path()).map_err(|error| format!("Wine's client: {error}"))?;
    Ok(Outcome::Ran(format!("as a server {asked}, as a client {answered}, all alike")))
}

/// Our client calls Wine's server, in a network that has nothing but loopback.
fn we_ask(programs: &Programs, ours: &Path, folder: &Path) -> Result<String> {
    let transcripts = Transcripts::new(folder, "we_ask");
    let mut server = transcripts.of_wine(programs.run_alone("server.exe").arg(PORT));
    let mut server = Running::start("server.exe", &mut server)?;
    server.wait_for("a port of Wine's server", START_TIMEOUT, |line| {
        line.contains("listening").then_some(())
    })?;
    let mut client = Command::new("nsenter");
    client.arg(format!("--net=/proc/{}/ns/net", server.id()));
    client.arg(ours).args(["call", &format!("127.0.0.1:{PORT}")]);
    let ended = capture(&mut transcripts.of_ours(&client));
    judge(ended, server, &transcripts)
}

/// Wine's client calls our server.
fn wine_asks(programs: &Programs, ours: &Path, folder: &Path) -> Result<String> {
    let transcripts = Transcripts::new(folder, "wine_asks");
    let mut server =
        Running::start("com_plus_tracker", &mut transcripts.of_ours(Command::new(ours).arg("serve")))?;
    let port = server.wait_for("a port of our server", START_TIMEOUT, |line| {
        Some(line.strip_prefix("listening on 127.0.0.1:")?.to_owned())
    })?;
    let ended = capture(&mut transcripts.of_wine(programs.run("client.exe").args(["127.0.0.1", &port])));
    judge(ended, server, &transcripts)
}

/// What was compared. Where a call failed, the last lines that were printed may say what was read before it.
fn judge(ended: Result<String>, mut server: Running, transcripts: &Transcripts) -> Result<String> {
    let compared = transcripts.compare(&CALLS_MIN);
    match ended {
        Ok(_) => compared,
        Err(error) => {
            let compared = compared.unwrap_or_else(|difference| difference.to_string());
            Err(server.complaint(&format!("{compared}: {error}")))
        }
    }
}
