//! Commands for Windows, which cannot run here. The list was written by hand, so it catches misspelt commands, and not
//! those that Windows would refuse.

use crate::Result;

const COMMANDS: &[(&str, &[&str])] = &[
    ("Add-ADGroupMember", &["-Identity", "-Members"]),
    ("Add-LocalGroupMember", &["-Group", "-SID", "-Member"]),
    ("Enable-NetFirewallRule", &["-Name"]),
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
    ("Set-NetFirewallRule", &["-Name", "-RemoteAddress"]),
    ("Set-Service", &["-Name", "-StartupType"]),
    ("Set-SmbServerConfiguration", &["-EnableSMB2Protocol"]),
    ("Start-Service", &["-Name"]),
    ("Unlock-ADAccount", &["-Identity"]),
    ("lodctr.exe", &[]),
    ("sc.exe", &[]),
    ("typeperf", &["-sc"]),
    ("winmgmt.exe", &[]),
];

/// Whether each part of a pipeline is in the list, and its quotes are closed.
pub(super) fn check(command: &str) -> Result<()> {
    if !command.matches('\'').count().is_multiple_of(2) {
        return Err(format!("`{command}`: a quote is not closed").into());
    }
    // What is quoted is no word of PowerShell.
    let words: String = command.split('\'').step_by(2).collect::<Vec<_>>().join("''");
    for part in words.split('|') {
        let mut words = part.split_whitespace();
        let name = words.next().unwrap_or_default();
        let Some((_, parameters)) = COMMANDS.iter().find(|(known, _)| *known == name) else {
            return Err(format!("`{name}` is not in the list of windows.rs").into());
        };
        if let Some(unknown) = words.find(|word| word.starts_with('-') && !parameters.contains(word)) {
            return Err(format!("`{name}` has no `{unknown}` in the list of windows.rs").into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmdlets_and_parameters_are_those_of_the_list() {
        assert!(check("Get-Service -Name 'a -b' | Select-Object Name, Status").is_ok());
        for wrong in ["Get-Servce -Name a", "Get-Service -Nam a", "Get-Service -Name 'a"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }
}
