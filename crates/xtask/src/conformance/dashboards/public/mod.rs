//! Whether dashboards of others find what they read, when the exporter uses windows_exporter's names.
//!
//! Their files are not ours and not here. `reads.json` has the facts: which metrics they read, with which labels, and how. A
//! real Prometheus must have all of them, and none of those that cannot be had. [`files`] asks the queries of the files
//! themselves, where somebody has them.

pub(crate) mod files;

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use serde_json::Value;

use super::{TIMEOUT, ask};
use crate::conformance::prometheus::{percent_encoded, start_program};
use crate::peers::go;
use crate::process::{Running, poll};
use crate::stage::{self, Stage, Target};
use crate::workspace::Workspace;
use crate::{Outcome, Result};

const READS: &str = include_str!("reads.json");

/// What Prometheus calls the hosts, and the one that there is.
const JOB: &str = "windows";
const HOST: &str = "well";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let dashboards = dashboards()?;
    let namings: BTreeSet<&str> = dashboards.iter().filter_map(|one| one["naming"].as_str()).collect();
    let (mut found, mut absent) = (0, 0);
    for naming in namings {
        let stage = Stage::new(workspace)?;
        let mut scraped = Scraped::start(&stage, naming, "")?;
        for dashboard in dashboards.iter().filter(|one| one["naming"] == naming) {
            let name = &dashboard["dashboard"];
            let read = reads(dashboard, scraped.address).and_then(|()| absences(dashboard, scraped.address));
            read.map_err(|error| scraped.prometheus.complaint(&format!("{name}, {naming}: {error}")))?;
            found += list(&dashboard["reads"]).count();
            absent += list(&dashboard["absent"]).count();
        }
    }
    Ok(Outcome::Ran(format!(
        "{found} metrics that {} dashboards read have series; {absent} cannot be had",
        dashboards.len()
    )))
}

fn dashboards() -> Result<Vec<Value>> {
    let facts: Value = serde_json::from_str(READS)?;
    Ok(list(&facts["dashboards"]).cloned().collect())
}

/// Everything that a dashboard reads has series with its labels.
fn reads(dashboard: &Value, prometheus: SocketAddr) -> Result<()> {
    for read in list(&dashboard["reads"]) {
        let labels: Vec<&str> = list(&read["labels"]).filter_map(Value::as_str).collect();
        poll(&read.to_string(), TIMEOUT, || {
            if read["use"] == "values" {
                return has_values(read, &labels, prometheus);
            }
            let series = series(&question(read)?, prometheus)?;
            let lacks = |label: &&&str| series.iter().any(|one| one["metric"][**label].is_null());
            match labels.iter().chain(&["instance"]).find(lacks) {
                Some(label) => Err(format!("no label `{label}`: {}", series[0]["metric"]).into()),
                None => Ok((!series.is_empty()).then_some(())),
            }
        })?;
    }
    Ok(())
}

/// What a variable asks: whether each label has a value.
fn has_values(read: &Value, labels: &[&str], prometheus: SocketAddr) -> Result<Option<()>> {
    let matched = percent_encoded(&selector(read)?);
    for label in labels {
        let answer = ask(prometheus, &format!("/api/v1/label/{label}/values?match[]={matched}"))?;
        if list(&answer["data"]).next().is_none() {
            return Err(format!("no values of `{label}`").into());
        }
    }
    Ok(Some(()))
}

/// A query of ours that reads the metric as the dashboard does.
fn question(read: &Value) -> Result<String> {
    let selector = selector(read)?;
    match read["use"].as_str() {
        Some("instant") => Ok(selector),
        Some("rate") => Ok(format!("rate({selector}[30s])")),
        other => Err(format!("{read}: unknown use {other:?}").into()),
    }
}

fn selector(read: &Value) -> Result<String> {
    let metric = read["metric"].as_str().ok_or("no metric")?;
    let fixed = read["with"].as_object().into_iter().flatten();
    let fixed: String = fixed.map(|(name, value)| format!(", {name}={value}")).collect();
    Ok(format!("{metric}{{job=\"{JOB}\"{fixed}}}"))
}

/// What has a reason not to be there is not there.
fn absences(dashboard: &Value, prometheus: SocketAddr) -> Result<()> {
    for absent in list(&dashboard["absent"]) {
        let metric = absent["metric"].as_str().ok_or("no metric")?;
        if let Some(one) = series(metric, prometheus)?.first() {
            return Err(format!("{} is there; it should not be: {}", one["metric"], absent["reason"]).into());
        }
    }
    Ok(())
}

/// An exporter with a simulated host, probed by a Prometheus, which calls the host its `instance`.
struct Scraped {
    prometheus: Running,
    address: SocketAddr,
    _others: (Running, Running),
}

impl Scraped {
    /// Starts all of it, with what `more` adds to the configuration of Prometheus, and waits for the first rates.
    fn start(stage: &Stage<'_>, naming: &str, more: &str) -> Result<Self> {
        let password_file = stage.password_file()?;
        let (simulator, host) = stage.simulator(&[])?;
        let target = Target { name: HOST, address: host, logon: stage::Logon::of_stage(&password_file) };
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let configuration = stage::configuration_of(any, "1s", &[target]);
        let (mut exporter, exporter_address) =
            stage.exporter_with(&format!("{configuration}normalize: {{naming: {naming}}}\n"))?;
        stage::page_when_up(&mut exporter, exporter_address, HOST)?;
        let scrape = format!(
            "  - job_name: {JOB}\n    http_sd_configs: [{{url: 'http://{exporter_address}/sd', \
             refresh_interval: 1s}}]\n{more}"
        );
        let program = Command::new(go::PROMETHEUS.path(stage.workspace, "prometheus"));
        let (mut prometheus, address) = start_program(program, stage, &scrape)?;
        let rates = format!("rate(windows_cpu_time_total{{job=\"{JOB}\"}}[30s]) > 0");
        let begun = poll(&rates, TIMEOUT, || Ok(series(&rates, address)?.pop()));
        begun.map_err(|error| prometheus.complaint(&error.to_string()))?;
        Ok(Self { prometheus, address, _others: (exporter, simulator) })
    }
}

/// What Prometheus answers. Its remarks on names that are not those of counters are no concern of ours here.
fn series(expression: &str, prometheus: SocketAddr) -> Result<Vec<Value>> {
    let answer = ask(prometheus, &format!("/api/v1/query?query={}", percent_encoded(expression)))?;
    Ok(list(&answer["data"]["result"]).cloned().collect())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Reads a file of JSON.
fn read(file: &std::path::Path) -> Result<Value> {
    let text = fs::read_to_string(file)?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_public_dashboards_read_has_an_entry_in_a_profile() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../exporter/config/profiles");
        let base = fs::read_to_string(format!("{root}/windows_exporter_0.31.yaml")).unwrap();
        for dashboard in dashboards().unwrap() {
            let naming = dashboard["naming"].as_str().unwrap().replace('@', "_");
            let own = fs::read_to_string(format!("{root}/{naming}.yaml")).unwrap();
            for read in list(&dashboard["reads"]) {
                let metric = read["metric"].as_str().unwrap();
                let is_in_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
                let mut names =
                    base.split(|char| !is_in_name(char)).chain(own.split(|char| !is_in_name(char)));
                assert!(names.any(|name| name == metric), "{naming}: {metric}");
            }
            assert!(list(&dashboard["absent"]).all(|absent| absent["reason"].is_string()));
        }
    }

    #[test]
    fn a_query_reads_a_metric_as_the_dashboard_does() {
        let read = |text: &str| question(&serde_json::from_str(text).unwrap());
        let idle = read(r#"{"metric": "a_total", "use": "rate", "with": {"mode": "idle"}}"#);
        assert_eq!(idle.unwrap(), r#"rate(a_total{job="windows", mode="idle"}[30s])"#);
        assert_eq!(read(r#"{"metric": "b", "use": "instant"}"#).unwrap(), r#"b{job="windows"}"#);
        assert!(read(r#"{"metric": "b", "use": "seldom"}"#).is_err());
    }
}
