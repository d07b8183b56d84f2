//! A real Prometheus scrapes the exporter, and answers a query about what it saw.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::samba::free_port;
use super::stage::{self, Stage, Target};
use crate::Result;
use crate::http;
use crate::process::{Running, poll};
use crate::report::Outcome;
use crate::workspace::Workspace;

const SCRAPE_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let password_file = stage.password_file()?;
    let (_simulator, host) = stage.simulator(&[])?;
    let target =
        Target { name: "sim", address: host, account: stage::ACCOUNT, password_file: &password_file };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (mut exporter, address) = stage.exporter(any, "1s", &[target])?;
    stage::page_when_up(&mut exporter, address, "sim")?;

    let (_prometheus, prometheus) = start(&stage, address)?;
    let up = poll("Prometheus sees the target up", SCRAPE_TIMEOUT, || {
        first_value(prometheus, "perfmon_exporter_target_up%7Btarget%3D%22sim%22%7D")
    })?;
    if up != "1" {
        return Err(format!("perfmon_exporter_target_up is {up}").into());
    }
    let scraped = first_value(prometheus, "scrape_samples_scraped")?.ok_or("no scrape_samples_scraped")?;
    let healthy = first_value(prometheus, "up")?.ok_or("no up")?;
    if healthy != "1" {
        return Err("Prometheus could not read the page".into());
    }
    // A counter that the simulated host advances: a rate needs two scrapes with different values.
    let busy = poll("a rate of idle time", SCRAPE_TIMEOUT, || {
        first_value(
            prometheus,
            "sum(rate(perfmon_processor_information_processor_time_inactive_seconds_total%5B20s%5D))%20%3E%200",
        )
    })?;
    Ok(Outcome::Ran(format!("{scraped} samples a scrape; {busy} processors' worth of idle time")))
}

fn start(stage: &Stage<'_>, exporter: SocketAddr) -> Result<(Running, SocketAddr)> {
    let configuration = stage.path("prometheus.yml");
    fs::write(
        &configuration,
        format!(
            "global: {{scrape_interval: 1s}}\nscrape_configs:\n  - job_name: perfmon\n    \
             static_configs: [{{targets: ['{exporter}']}}]\n"
        ),
    )?;
    let listen = SocketAddr::from(([127, 0, 0, 1], free_port()?));
    let mut command = Command::new("prometheus");
    command.arg(format!("--config.file={}", configuration.display()));
    command.arg(format!("--storage.tsdb.path={}", stage.path("tsdb").display()));
    command.arg(format!("--web.listen-address={listen}"));
    let mut prometheus = Running::start("prometheus", &mut command)?;
    prometheus.wait_for("readiness", SCRAPE_TIMEOUT, |line| {
        line.contains("Server is ready to receive web requests").then_some(())
    })?;
    Ok((prometheus, listen))
}

/// The first value that an instant query answers.
fn first_value(prometheus: SocketAddr, query: &str) -> Result<Option<String>> {
    let response = http::get(prometheus, &format!("/api/v1/query?query={query}"), "application/json")?;
    let answer: Value = serde_json::from_str(&response.body)?;
    if answer["status"] != "success" {
        return Err(format!("query {query}: {}", response.body).into());
    }
    Ok(answer["data"]["result"][0]["value"][1].as_str().map(str::to_owned))
}
