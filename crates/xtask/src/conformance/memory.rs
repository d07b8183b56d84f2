//! One host with 5,000 series: how much memory the exporter holds after collections and scrapes.

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use crate::Outcome;
use crate::Result;
use crate::http;
use crate::process::poll;
use crate::stage::{self, Stage, Target};
use crate::workspace::Workspace;

/// The goal: so much memory at most for that many series.
const RESIDENT_MIB_MAX: f64 = 40.0;
const SERIES_MIN: usize = 5_000;
/// Long-lived processes of the host. Each has 27 counters, several of which are two series.
const PROCESSES: &str = "200";
const COLLECTIONS: f64 = 8.0;
const SCRAPES: usize = 20;
const TIMEOUT: Duration = Duration::from_secs(60);
const FULL_COLLECTIONS: &str = r#"perfmon_exporter_collections_total{target="sim",outcome="full"}"#;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let password_file = stage.password_file()?;
    let (_simulator, host) = stage.simulator(&["--services", PROCESSES])?;
    let target = Target { name: "sim", address: host, logon: stage::Logon::of_stage(&password_file) };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (mut exporter, address) = stage.exporter(any, "1s", &[target])?;
    stage::page_when_up(&mut exporter, address, "sim")?;

    let collected = poll("enough collections", TIMEOUT, || {
        let page = http::get(address, "/metrics", "text/plain")?.body;
        Ok((collections(&page) >= COLLECTIONS).then_some(page))
    });
    let page = collected.map_err(|error| exporter.complaint(&error.to_string()))?;
    let series = page.lines().filter(|line| is_series_of_the_host(line)).count();
    if series < SERIES_MIN {
        return Err(format!("the host has {series} series only").into());
    }
    for format in ["text/plain", "application/openmetrics-text;version=1.0.0"].iter().cycle().take(SCRAPES) {
        http::get(address, "/metrics", format)?;
    }
    let status = fs::read_to_string(format!("/proc/{}/status", exporter.id()))?;
    let (now, most) = (mebibytes(&status, "VmRSS:")?, mebibytes(&status, "VmHWM:")?);
    let found = format!("{series} series; {now:.1} MiB resident, {most:.1} MiB at most");
    if now < RESIDENT_MIB_MAX {
        Ok(Outcome::Ran(found))
    } else {
        Err(format!("{found}; the goal is below {RESIDENT_MIB_MAX} MiB").into())
    }
}

/// How many full collections the exporter's own metrics count.
fn collections(page: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(FULL_COLLECTIONS));
    line.and_then(|value| value.trim().parse().ok()).unwrap_or(0.0)
}

fn is_series_of_the_host(line: &str) -> bool {
    line.contains("{target=\"sim\"") && !line.starts_with("perfmon_exporter_")
}

/// A line of `/proc/PID/status`: `VmRSS:     12345 kB`.
fn mebibytes(status: &str, name: &str) -> Result<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or("the exporter has ended")?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes / 1024.0)
}
