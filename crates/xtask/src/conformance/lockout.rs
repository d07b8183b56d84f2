//! Fifty hosts, one identity, a wrong password: the hosts' own account counts one attempt. When the file with the
//! password is corrected, all of them come up without anything being restarted.

use std::fmt::Write;
use std::fs;
use std::time::Duration;

use serde_json::Value;

use crate::Outcome;
use crate::Result;
use crate::http;
use crate::process::{free_port, poll};
use crate::stage::{PASSWORD, Stage};
use crate::workspace::Workspace;

const HOSTS: usize = 50;
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (statistics, secret) = (stage.path("statistics.json"), stage.path("secret"));
    let port = free_port()?;
    let (hosts, port_text, file) = (HOSTS.to_string(), port.to_string(), statistics.display().to_string());
    let more = ["--hosts", &hosts, "--smb-port", &port_text, "--stats-file", &file];
    let (_simulator, _first) = stage.simulator(&more)?;
    fs::write(&secret, "Made-Up-And-Wrong-3")?;
    let (mut exporter, address) = stage.exporter_with(&configuration(port, &secret.display().to_string()))?;

    let page = || Ok::<_, Box<dyn std::error::Error>>(http::get(address, "/metrics", "text/plain")?.body);
    // Twice asked for, so that a second round of attempts would have been seen.
    let refused = |page: &str| count(page, "perfmon_exporter_failures_total{", |value| value >= 2.0);
    let withheld = poll("all targets are down twice", TIMEOUT, || {
        let page = page()?;
        Ok((refused(&page) >= HOSTS).then_some(page))
    });
    let page_down = withheld.map_err(|error| exporter.complaint(&error.to_string()))?;
    let attempts: Value = serde_json::from_slice(&fs::read(&statistics)?)?;
    let attempts = &attempts["accounts"][r"sim\metrics"];
    if attempts["refused"] != 1 || attempts["accepted"] != 0 {
        return Err(format!("one attempt was expected, the hosts count {attempts}").into());
    }
    if !page_down.contains("perfmon_exporter_credential") {
        return Err("the state of the guard is no metric".into());
    }

    fs::write(&secret, PASSWORD)?;
    let risen = poll("all targets are up", TIMEOUT, || {
        Ok((count(&page()?, "perfmon_exporter_target_up{", |value| value >= 1.0) == HOSTS).then_some(()))
    });
    risen.map_err(|error| exporter.complaint(&error.to_string()))?;
    Ok(Outcome::Ran(format!("{HOSTS} targets, one attempt; all up after the password was corrected")))
}

fn configuration(port: u16, secret: &str) -> String {
    let mut text = format!(
        "web: {{listen: ['127.0.0.1:0']}}\nplugins: {{load: [pcq]}}\nscrape: {{interval: 1s}}\n\
         identities:\n  one: {{kind: ntlm, domain: SIM, username: metrics, password_file: {secret}, \
         allow_hosts: [127.0.0.0/8]}}\n\
         transports: {{default: {{smb: {{port: {port}}}}}}}\n\
         modules: {{os: {{plugin: pcq, countersets: [{{name: Processor Information}}]}}}}\ntargets:\n"
    );
    for number in 1..=HOSTS {
        let _ = writeln!(text, "  - {{host: 127.0.0.{number}, identity: one, modules: [os]}}");
    }
    text
}

/// How many series that begin so have such a value.
fn count(page: &str, beginning: &str, wanted: impl Fn(f64) -> bool) -> usize {
    let values =
        page.lines().filter(|line| line.starts_with(beginning)).filter_map(|line| line.rsplit(' ').next());
    values.filter_map(|value| value.parse().ok()).filter(|value| wanted(*value)).count()
}
