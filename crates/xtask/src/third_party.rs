//! Packages of others: licences, sources, bans and advisories, by cargo-deny and the rules of `deny.toml`.

use std::fs;
use std::process::Command;

use crate::Outcome;
use crate::Result;
use crate::peers::{self, Peer};
use crate::workspace::{Workspace, capture, cargo, run};

pub(crate) fn check(workspace: &Workspace) -> Result<Outcome> {
    if let Some(skipped) = peers::missing(workspace, &[Peer::CargoDeny]) {
        return Ok(skipped);
    }
    let today = capture(Command::new("date").args(["-u", "+%F"]))?;
    let ignored = check_ends(&fs::read_to_string(workspace.root.join("deny.toml"))?, today.trim())?;
    let deny = |arguments: &[&str]| {
        let mut deny = Command::new(peers::cargo_deny(workspace));
        deny.current_dir(&workspace.root).args(arguments);
        deny
    };
    // Packages for all systems are looked at; a build has fetched those for this one.
    run(cargo().current_dir(&workspace.root).args(["fetch", "--locked", "--quiet"]))?;
    run(&mut deny(&["--offline", "check", "bans", "licenses", "sources"]))?;
    if capture(&mut deny(&["fetch", "db"])).is_err() {
        let found =
            "bans, licences and sources hold; no advisories: their database cannot be fetched from here";
        return Ok(Outcome::Ran(found.to_owned()));
    }
    run(&mut deny(&["--offline", "check", "advisories"]))?;
    Ok(Outcome::Ran(format!("bans, licences, sources and advisories hold, {ignored} advisories ignored")))
}

/// Each advisory that is ignored says until when: a reason may end without anybody hearing of it.
fn check_ends(rules: &str, today: &str) -> Result<usize> {
    let ignored: Vec<&str> = rules.lines().filter(|line| line.contains("id = \"RUSTSEC-")).collect();
    for line in &ignored {
        let end = line.split_once("reason = \"until ").and_then(|(_, reason)| reason.get(..TODAY_CHARS));
        let line = line.trim();
        let is_date = |end: &str| end.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        match end.filter(|end| is_date(end)) {
            Some(end) if today <= end => {}
            Some(_) => {
                let next = "see whether the package is gone or mended, else give a new day";
                return Err(format!("deny.toml: an ignored advisory has ended; {next}: {line}").into());
            }
            None => {
                let next = "begin its reason with `until 2027-01-31: `, with the day of your choice";
                return Err(format!("deny.toml: an ignored advisory has no end; {next}: {line}").into());
            }
        }
    }
    Ok(ignored.len())
}

const TODAY_CHARS: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ignored_advisory_counts_until_its_day() {
        let rules =
            "ignore = [\n    { id = \"RUSTSEC-2023-0071\", reason = \"until 2027-05-31: no key\" },\n]\n";
        assert_eq!(check_ends(rules, "2027-05-31").expect("the last day"), 1);
        let ended = check_ends(rules, "2027-06-01").expect_err("the day after").to_string();
        assert!(ended.contains("has ended") && ended.contains("RUSTSEC-2023-0071"), "{ended}");
    }

    #[test]
    fn an_ignored_advisory_without_a_day_is_refused() {
        for reason in
            ["", ", reason = \"no key\"", ", reason = \"until later on\"", ", reason = \"until 2027\""]
        {
            let rules = format!("    {{ id = \"RUSTSEC-2023-0071\"{reason} }},\n");
            let refused = check_ends(&rules, "2026-01-01").expect_err(reason).to_string();
            assert!(refused.contains("has no end"), "{refused}");
        }
    }
}
