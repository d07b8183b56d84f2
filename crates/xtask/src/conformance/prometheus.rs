//! A real Prometheus scrapes the exporter, and answers a query about what it saw.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::Outcome;
use crate::Result;
use crate::http;
use crate::process::{Running, free_port, poll};
use crate::stage::{self, Stage, Target};
use crate::workspace::Workspace;

const SCRAPE_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let password_file = stage.password_file()?;
    let (_simulator, host) = stage.simulator(&[])?;
    let target = Target { name: "sim", address: host, logon: stage::Logon::of_stage(&password_file) };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (mut exporter, address) = stage.exporter(any, "1s", &[target])?;
    stage::page_when_up(&mut exporter, address, "sim")?;

    let (_prometheus, prometheus) = start(&stage, address)?;
    let up = poll("Prometheus sees the target up", SCRAPE_TIMEOUT, || {
        first_value(prometheus, r#"perfmon_exporter_target_up{target="sim"}"#)
    })?;
    if (up - 1.0).abs() > f64::EPSILON {
        return Err(format!("perfmon_exporter_target_up is {up}").into());
    }
    let scraped = first_value(prometheus, "scrape_samples_scraped")?.ok_or("no scrape_samples_scraped")?;
    let healthy = first_value(prometheus, "up")?.ok_or("no up")?;
    if (healthy - 1.0).abs() > f64::EPSILON {
        return Err("Prometheus could not read the page".into());
    }
    // A counter that the simulated host advances: a rate needs two scrapes with different values.
    let busy = poll("a rate of idle time", SCRAPE_TIMEOUT, || {
        first_value(
            prometheus,
            "sum(rate(perfmon_processor_information_processor_time_inactive_seconds_total[20s])) > 0",
        )
    })?;
    Ok(Outcome::Ran(format!("{scraped} samples a scrape; {busy:.2} processors' worth of idle time")))
}

/// Starts a Prometheus that scrapes `exporter` every second, and answers where it listens.
pub(super) fn start(stage: &Stage<'_>, exporter: SocketAddr) -> Result<(Running, SocketAddr)> {
    let scrape = format!("  - job_name: perfmon\n    static_configs: [{{targets: ['{exporter}']}}]\n");
    start_with(stage, &scrape)
}

/// Starts a Prometheus with these `scrape_configs`, every second, and answers where it listens.
pub(super) fn start_with(stage: &Stage<'_>, scrape_configs: &str) -> Result<(Running, SocketAddr)> {
    start_program(Command::new("prometheus"), stage, scrape_configs)
}

/// The same with this Prometheus.
pub(super) fn start_program(
    mut command: Command,
    stage: &Stage<'_>,
    scrape_configs: &str,
) -> Result<(Running, SocketAddr)> {
    let configuration = stage.path("prometheus.yml");
    fs::write(&configuration, format!("global: {{scrape_interval: 1s}}\nscrape_configs:\n{scrape_configs}"))?;
    let listen = SocketAddr::from(([127, 0, 0, 1], free_port()?));
    command.arg(format!("--config.file={}", configuration.display()));
    command.arg(format!("--storage.tsdb.path={}", stage.path("tsdb").display()));
    command.arg(format!("--web.listen-address={listen}"));
    let mut prometheus = Running::start("prometheus", &mut command)?;
    prometheus.wait_for("readiness", SCRAPE_TIMEOUT, |line| {
        line.contains("Server is ready to receive web requests").then_some(())
    })?;
    Ok((prometheus, listen))
}

/// One series of an answer.
pub(super) struct Sample {
    labels: Value,
    /// Of a native histogram: how many it counted.
    pub(super) value: f64,
    pub(super) is_histogram: bool,
}

impl Sample {
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels[name].as_str()
    }

    /// All of them, the name of the metric too.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        let labels = self.labels.as_object().into_iter().flatten();
        labels.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
    }
}

/// What an instant query answers.
pub(super) fn query(prometheus: SocketAddr, query: &str) -> Result<Vec<Sample>> {
    let path = format!("/api/v1/query?query={}", percent_encoded(query));
    let response = http::get(prometheus, &path, "application/json")?;
    let answer: Value = serde_json::from_str(&response.body)?;
    let series = answer["data"]["result"].as_array();
    let series = series.ok_or_else(|| format!("query {query}: {}", response.body))?;
    let sample = |series: &Value| {
        let (histogram, value) = (&series["histogram"][1]["count"], &series["value"][1]);
        let is_histogram = histogram.is_string();
        let value = if is_histogram { histogram } else { value }.as_str()?.parse().ok()?;
        Some(Sample { labels: series["metric"].clone(), value, is_histogram })
    };
    series
        .iter()
        .map(|series| sample(series).ok_or_else(|| format!("query {query}: {series}").into()))
        .collect()
}

fn first_value(prometheus: SocketAddr, text: &str) -> Result<Option<f64>> {
    Ok(query(prometheus, text)?.first().map(|sample| sample.value))
}

pub(super) fn percent_encoded(text: &str) -> String {
    let encoded = |byte: u8| match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encoded).collect()
}
