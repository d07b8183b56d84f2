//! Our PCQ server comes after a real smbd as `\PIPE\winreg`, and the exporter polls it: the whole main job
//! over an SMB server, its signing, its encryption and its pipes, that we did not write.

use std::net::SocketAddr;

use super::samba::{Pipes, Samba};
use crate::Outcome;
use crate::Result;
use crate::stage::{self, Logon, Stage, Target};
use crate::workspace::Workspace;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut found = Vec::new();
    for encryption in ["off", "default", "required"] {
        let series = poll_through(workspace, encryption)
            .map_err(|error| format!("smbd with encryption {encryption}: {error}"))?;
        found.push(format!("{series} series with encryption {encryption}"));
    }
    Ok(Outcome::Ran(found.join(", ")))
}

fn poll_through(workspace: &Workspace, encryption: &str) -> Result<usize> {
    let samba = Samba::start(Pipes::Ours, encryption)?;
    let stage = Stage::new(workspace)?;
    let password_file = samba.password_file()?;
    let account = Samba::account();
    let _simulator = samba.simulator(workspace, &[])?;

    let target = Target {
        name: "behind-smbd",
        address: samba.address,
        logon: Logon::Ntlm { account: &account, password_file: &password_file },
    };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (mut exporter, address) = stage.exporter(any, "2s", &[target])?;
    let page = stage::page_when_up(&mut exporter, address, "behind-smbd")?;
    let series = page.lines().filter(|line| is_counter_of_target(line)).count();
    let ended = exporter.end()?;
    if !ended.success() {
        return Err(format!("the exporter ended with {ended}").into());
    }
    if series > 100 { Ok(series) } else { Err(format!("only {series} series on the page:\n{page}").into()) }
}

fn is_counter_of_target(line: &str) -> bool {
    line.starts_with("perfmon_")
        && !line.starts_with("perfmon_exporter_")
        && line.contains("target=\"behind-smbd\"")
}
