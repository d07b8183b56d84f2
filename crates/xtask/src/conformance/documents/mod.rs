//! README.md and `docs/`: every command runs, on a machine that stands for those of the documents, and every file is
//! one that the programs take. `docs/developing.md` says how a block says what is done with it.

mod blocks;
mod fixture;
mod queries;
mod scene;

use std::fs;

pub(crate) use self::queries::run as queries;

use self::blocks::{Block, What};
use self::fixture::HostPorts;
use self::scene::{Counts, Scene};
use crate::process::free_port;
use crate::stage::Stage;
use crate::workspace::Workspace;
use crate::{Outcome, Result};

const README: &str = "README.md";

/// The pages and their blocks, README.md first.
fn pages(workspace: &Workspace) -> Result<Vec<(String, Vec<Block>)>> {
    let mut names = vec![README.to_owned()];
    for entry in fs::read_dir(workspace.root.join("docs"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.ends_with(".md") {
            names.push(format!("docs/{name}"));
        }
    }
    names[1..].sort();
    let read = |name: String| {
        let text = fs::read_to_string(workspace.root.join(&name))?;
        let blocks = blocks::read(&name, &text)?;
        Ok((name, blocks))
    };
    names.into_iter().map(read).collect()
}

/// Runs the commands of each page in a folder of its own.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let pages = pages(workspace)?;
    let is_configuration = |block: &&Block| block.what == What::File("perfmon.yml".to_owned());
    let first = pages[0].1.iter().find(is_configuration);
    let first = first.ok_or("README.md has no block `yaml perfmon.yml`")?;

    let hosts = Stage::new(workspace)?;
    let ports = HostPorts { smb: free_port()?, dcom: free_port()? };
    let (smb, dcom) = (ports.smb.to_string(), ports.dcom.to_string());
    let hosts_and_account = ["--hosts", fixture::HOSTS_COUNT, "--account", fixture::ACCOUNT];
    let more = [&["--smb-port", &smb, "--epm-port", &dcom][..], &hosts_and_account].concat();
    let (_simulator, _) = hosts.simulator(&more)?;

    let mut all = Counts::default();
    for (name, blocks) in &pages {
        // A reader of README.md begins with nothing, one of another page with what README.md made.
        let configuration = if name == README { "" } else { first.text.as_str() };
        let mut scene = Scene::new(workspace, ports, configuration)?;
        blocks.iter().try_for_each(|block| scene.play(block))?;
        scene.end()?;
        let Counts { commands, files, windows, read_only } = scene.counts;
        all.commands += commands;
        all.files += files;
        all.windows += windows;
        all.read_only += read_only;
    }
    Ok(Outcome::Ran(format!(
        "{} pages: {} commands run, {} files checked; only looked at: {} for Windows, {} for developers and real hosts",
        pages.len(),
        all.commands,
        all.files,
        all.windows,
        all.read_only
    )))
}

// Commands for Windows, which cannot run here. The list was written by hand, so it catches misspelt commands, and not
// those that Windows would refuse.

const COMMANDS: &[(&str, &[&str])] = &[
    ("Add-ADGroupMember", &["-Identity", "-Members"]),
    ("Add-LocalGroupMember", &["-Group", "-SID", "-Member"]),
    ("Enable-NetFirewallRule", &["-Name"]),
    ("Get-ADComputer", &["-Properties"]),
    ("Get-ADUser", &["-Properties"]),
    ("Get-NetFirewallRule", &["-Name"]),
    ("Get-Service", &["-Name"]),
    (
        "New-NetFirewallRule",
        &[
            "-DisplayName",
            "-Direction",
            "-Protocol",
            "-LocalPort",
            "-Program",
            "-Service",
            "-RemoteAddress",
            "-Action",
        ],
    ),
    ("New-ItemProperty", &["-Path", "-Name", "-PropertyType", "-Value", "-Force"]),
    ("Select-Object", &[]),
    ("Set-ADUser", &["-KerberosEncryptionType"]),
    ("Set-NetFirewallRule", &["-Name", "-RemoteAddress"]),
    ("Set-Service", &["-Name", "-StartupType"]),
    ("Set-SmbServerConfiguration", &["-EnableSMB2Protocol"]),
    ("Start-Service", &["-Name"]),
    ("Unlock-ADAccount", &["-Identity"]),
    ("ktpass", &[]),
    ("lodctr.exe", &[]),
    ("sc.exe", &[]),
    ("setspn", &["-Q", "-X"]),
    ("typeperf", &["-sc"]),
    ("winmgmt.exe", &[]),
];

/// Whether each part of a pipeline is in the list, and its quotes are closed.
fn check_powershell(command: &str) -> Result<()> {
    if !command.matches('\'').count().is_multiple_of(2) {
        return Err(format!("`{command}`: a quote is not closed").into());
    }
    // What is quoted is no word of PowerShell.
    let words: String = command.split('\'').step_by(2).collect::<Vec<_>>().join("''");
    for part in words.split('|') {
        let mut words = part.split_whitespace();
        let name = words.next().unwrap_or_default();
        let Some((_, parameters)) = COMMANDS.iter().find(|(known, _)| *known == name) else {
            return Err(format!("`{name}` is not in `COMMANDS` of conformance/documents/mod.rs").into());
        };
        if let Some(unknown) = words.find(|word| word.starts_with('-') && !parameters.contains(word)) {
            return Err(
                format!("`{name}` has no `{unknown}` in `COMMANDS` of conformance/documents/mod.rs").into()
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmdlets_and_parameters_are_those_of_the_list() {
        assert!(check_powershell("Get-Service -Name 'a -b' | Select-Object Name, Status").is_ok());
        for wrong in ["Get-Servce -Name a", "Get-Service -Nam a", "Get-Service -Name 'a"] {
            assert!(check_powershell(wrong).is_err(), "{wrong}");
        }
    }
}
