//! A real Prometheus 3 scrapes an exporter with plain names and one with Windows' own, in every format, with every way
//! to escape names, at once. What it stored is compared with what the page says, series by series; and how names are
//! escaped with how Prometheus itself escapes them, when it serves what it stored under the full names. Last, a host
//! ends, and so do its series.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use super::prometheus::{percent_encoded, query, start_program};
use crate::Outcome;
use crate::Result;
use crate::http;
use crate::peers::go;
use crate::process::poll;
use crate::scraped::{Labels, Page};
use crate::stage::{self, Stage, Target};
use crate::workspace::Workspace;

const TARGET: &str = "still";
/// Its values stand still, so that all that look at it see the same.
const CLOCK: [&str; 2] = ["--clock", "2026-11-01T12:00:00Z"];
const TIMEOUT: Duration = Duration::from_secs(60);
const SERIES_MIN: usize = 500;

/// What Prometheus calls a format, and a header that asks us for it. Without a version of 1, a format has no escaping.
const FORMATS: [(&str, &str, bool); 5] = [
    ("PrometheusText0.0.4", "text/plain;version=0.0.4", false),
    ("PrometheusText1.0.0", "text/plain;version=1.0.0", true),
    ("OpenMetricsText0.0.1", "application/openmetrics-text;version=0.0.1", false),
    ("OpenMetricsText1.0.0", "application/openmetrics-text;version=1.0.0", true),
    // Not for our own reader: what it has to say is what the text says. Prometheus asks for it without a word on names.
    (PROTOBUF, "text/plain;version=0.0.4", false),
];
const PROTOBUF: &str = "PrometheusProto";
const VERBATIM: &str = "verbatim";
const FULL_NAMES: &str = "allow-utf-8";
const SCHEMES: [&str; 4] = [FULL_NAMES, "underscores", "dots", "values"];
/// For escaped names without a stated scheme.
const SCHEME_OF_OLD: &str = "underscores";

/// One way to scrape.
struct Job {
    name: String,
    exporter: SocketAddr,
    protocol: &'static str,
    scheme: &'static str,
    /// What asks us for the same in text.
    accept: String,
}

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let of_host = Stage::new(workspace)?;
    let password_file = of_host.password_file()?;
    let (host, address) = of_host.simulator(&CLOCK)?;
    let target = Target { name: TARGET, address, logon: stage::Logon::of_stage(&password_file) };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let configuration_of = stage::configuration_of(any, "1s", &[target]);
    let (mut jobs, mut exporters, mut stages) = (Vec::new(), Vec::new(), Vec::new());
    for naming in ["native", VERBATIM] {
        let stage = Stage::new(workspace)?;
        let configuration_of = format!("{configuration_of}normalize: {{naming: {naming}}}\n");
        let (mut exporter, address) = stage.exporter_with(&configuration_of)?;
        stage::page_when_up(&mut exporter, address, TARGET)?;
        jobs.extend(jobs_of(naming, address));
        exporters.push(exporter);
        stages.push(stage);
    }
    let program = Command::new(go::PROMETHEUS.path(workspace, "prometheus"));
    let (mut prometheus, address) = start_program(program, &of_host, &configuration(&jobs))?;
    let compared = compare(&jobs, address);
    let compared = compared.map_err(|error| prometheus.complaint(&error.to_string()))?;
    let histograms = histograms(address)?;
    if histograms == 0 {
        return Err("none of the exporter's own histograms came as a native one".into());
    }
    host.end()?;
    for job in &jobs {
        // Without a mark that they ended, Prometheus would show them for five minutes more.
        poll(&format!("{}: the host's series end", job.name), TIMEOUT, || {
            Ok(stored(address, job)?.is_empty().then_some(()))
        })?;
    }
    for exporter in exporters {
        exporter.end()?;
    }
    prometheus.end()?;
    Ok(Outcome::Ran(format!(
        "{compared} values by {} ways, {histograms} native histograms; the series of a host end with it",
        jobs.len()
    )))
}

fn jobs_of(naming: &str, exporter: SocketAddr) -> Vec<Job> {
    let of_format = |(protocol, accept, escapes): (&'static str, &str, bool)| {
        // Names that need no escaping are the same by every scheme but `dots`.
        let schemes = if escapes && naming == VERBATIM { &SCHEMES[..] } else { &[SCHEME_OF_OLD] };
        let job = |scheme: &&'static str| {
            let accept = if escapes { format!("{accept};escaping={scheme}") } else { accept.to_owned() };
            Job { name: format!("{naming} {protocol} {scheme}"), exporter, protocol, scheme, accept }
        };
        schemes.iter().map(job).collect::<Vec<_>>()
    };
    FORMATS.into_iter().flat_map(of_format).collect()
}

fn configuration(jobs: &[Job]) -> String {
    let mut text = String::new();
    for Job { name, exporter, protocol, scheme, .. } in jobs {
        let native = *protocol == PROTOBUF;
        let _ = writeln!(
            text,
            "  - {{job_name: '{name}', scrape_protocols: [{protocol}], scrape_interval: 2s, metric_name_escaping_scheme: {scheme}, \
             scrape_native_histograms: {native}, static_configs: [{{targets: ['{exporter}']}}]}}"
        );
    }
    text
}

/// Names with labels, and values.
type Stored = BTreeMap<(String, Labels), f64>;

/// Compares what each job stored with the page; answers how many values were compared.
fn compare(jobs: &[Job], prometheus: SocketAddr) -> Result<usize> {
    let mut compared = 0;
    for job in jobs {
        let found = poll(&format!("{}: series of the host", job.name), TIMEOUT, || {
            let found = stored(prometheus, job)?;
            Ok((!found.is_empty()).then_some(found))
        })?;
        let page = Page::read(&http::get(job.exporter, "/metrics", &job.accept)?.body)?;
        alike(&found, &of_target(&page)).map_err(|error| format!("{}: {error}", job.name))?;
        compared += found.len();
    }
    let full = jobs.iter().find(|job| job.scheme == FULL_NAMES);
    let full = full.ok_or("no job stores full names")?;
    if !stored(prometheus, full)?.keys().any(|(name, _)| name.contains(['%', ' '])) {
        return Err(format!("{}: no name needs escaping", full.name).into());
    }
    for job in jobs.iter().filter(|job| job.protocol == full.protocol && job.exporter == full.exporter) {
        let escaped = served(prometheus, full, job.scheme)?;
        alike(&stored(prometheus, job)?, &escaped)
            .map_err(|error| format!("Prometheus escapes otherwise by `{}`: {error}", job.scheme))?;
    }
    Ok(compared)
}

/// What Prometheus stored of the host by a job.
fn stored(prometheus: SocketAddr, job: &Job) -> Result<Stored> {
    let text = format!("{{job=\"{}\",target=\"{TARGET}\"}}", job.name);
    let mut stored = Stored::new();
    for sample in query(prometheus, &text)? {
        let labels = sample.labels().map(|(name, value)| (name.to_owned(), value.to_owned()));
        insert(&mut stored, String::new(), labels.collect(), sample.value);
    }
    Ok(stored)
}

/// What Prometheus itself serves of what it stored by `job`, with names escaped by `scheme`.
fn served(prometheus: SocketAddr, job: &Job, scheme: &str) -> Result<Stored> {
    let matched = percent_encoded(&format!("{{job=\"{}\",target=\"{TARGET}\"}}", job.name));
    let accept = format!("text/plain;version=1.0.0;escaping={scheme}");
    let answer = http::get(prometheus, &format!("/federate?match[]={matched}"), &accept)?;
    Ok(of_target(&Page::read(&answer.body)?))
}

fn of_target(page: &Page) -> Stored {
    let mut stored = Stored::new();
    for sample in page.samples.iter().filter(|sample| sample.label("target") == TARGET) {
        insert(&mut stored, sample.name.clone(), sample.labels.clone(), sample.value);
    }
    stored
}

/// What Prometheus says of a series by itself is left out, and so are what the exporter says of the target and how far the
/// host's clock, which stands still, is behind.
fn insert(stored: &mut Stored, name: String, mut labels: Labels, value: f64) {
    let name = labels.remove("__name__").unwrap_or(name);
    labels.remove("job");
    labels.remove("instance");
    let plain = name.replace("__", "_").to_lowercase();
    if !plain.contains("perfmon_exporter_") && !plain.contains("skew_seconds") {
        stored.insert((name, labels), value);
    }
}

fn alike(found: &Stored, expected: &Stored) -> Result<()> {
    let missing: Vec<_> = expected.keys().filter(|series| !found.contains_key(*series)).collect();
    let more: Vec<_> = found.keys().filter(|series| !expected.contains_key(*series)).collect();
    if !missing.is_empty() || !more.is_empty() {
        let (missing_count, more_count) = (missing.len(), more.len());
        let (missing, more) = (missing.first(), more.first());
        return Err(format!(
            "{missing_count} series are missing, such as {missing:?}, and {more_count} are not expected, such as {more:?}"
        )
        .into());
    }
    for (series, value) in expected {
        let is = found[series];
        if is.to_bits() != value.to_bits() {
            return Err(format!("{series:?} is {is} instead of {value}").into());
        }
    }
    if found.len() < SERIES_MIN { Err(format!("only {} series", found.len()).into()) } else { Ok(()) }
}

/// How many of the exporter's own histograms came as native ones.
fn histograms(prometheus: SocketAddr) -> Result<usize> {
    let found =
        query(prometheus, "{job='native PrometheusProto underscores',__name__=~'perfmon_exporter_.+'}")?;
    Ok(found.iter().filter(|sample| sample.is_histogram).count())
}
