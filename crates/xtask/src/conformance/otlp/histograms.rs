//! The histograms of a plugin reach readers of others as the plugin means them: promtool and the Python parsers on every
//! page, a real Prometheus 3 by text, OpenMetrics and protobuf, and the OpenTelemetry Collector by both temporalities.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::SocketAddr;
use std::process::Command;

use super::collector::{self, Receiver};
use super::points::{HistogramPoint, Kind};
use super::{Certificates, TIMEOUT, nothing_is_lost};
use crate::conformance::exposition::read_every_form;
use crate::conformance::prometheus::{query, start_program};
use crate::peers::go;
use crate::process::poll;
use crate::stage::{self, Stage};
use crate::workspace::Workspace;
use crate::{Outcome, Result};

/// What the plugin `waits` sends: its family, and what a collection adds to its one histogram.
const FAMILY: &str = "perfmon_zoo_queue_wait_seconds";
const BOUNDS: [f64; 3] = [0.25, 1.0, 10.0];
const COUNTS: [u64; 4] = [1, 2, 0, 1];
const COUNT: u64 = 4;
const SUM: f64 = 12.5;
const START_UNIX_NS: u64 = 1_700_000_000_120_000_000;
const GATE: (&str, &str) = ("gate", "a \"b\" \\c");
const TARGET: &str = "gates";
const RECEIVERS: [(&str, &str, &str); 2] =
    [("grpc", "grpc", ""), ("http-delta", "http", ", temporality: delta")];
const PROTOCOLS: [&str; 4] =
    ["PrometheusText0.0.4", "PrometheusText1.0.0", "OpenMetricsText1.0.0", "PrometheusProto"];
/// Points of one receiver: so many collections at least are seen.
const POINTS_MIN: usize = 3;

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let certificates = Certificates::new(&stage)?;
    let receiver = |(name, protocol, _)| Receiver::new(&stage, name, protocol, false);
    let receivers = RECEIVERS.into_iter().map(receiver).collect::<Result<Vec<_>>>()?;
    let collector = collector::start(&stage, &receivers, &certificates)?;
    let endpoints = receivers.iter().zip(RECEIVERS).map(|(receiver, (_, _, more))| receiver.endpoint(more));
    let folder = stage.plugin("waits")?;
    let (mut exporter, address) = stage.exporter_with(&format!(
        "web: {{listen: ['127.0.0.1:0']}}\nplugins: {{path: '{}', load: [waits]}}\n\
         modules: {{queue: {{plugin: waits}}}}\n\
         targets: [{{name: {TARGET}, host: 127.0.0.1, modules: [queue], interval: 1s}}]\notlp:\n{}",
        folder.display(),
        endpoints.collect::<String>()
    ))?;
    let page = stage::page_when_up(&mut exporter, address, TARGET)?;
    if !page.contains(&format!("{FAMILY}_bucket{{")) {
        return Err(exporter.complaint("there is no histogram of the plugin on the page"));
    }
    let read = read_every_form(&stage, address)?;
    let scraped = is_scraped(&stage, address)?;
    let mut pushed = 0;
    for receiver in &receivers {
        pushed += is_taken(receiver).map_err(|error| format!("{}: {error}", receiver.name()))?;
    }
    nothing_is_lost(address)?;
    exporter.end()?;
    collector.end()?;
    Ok(Outcome::Ran(format!(
        "{} pages read, {scraped} shares of observations stored, {pushed} points taken",
        read.pages
    )))
}

/// A Prometheus 3 stores by each protocol which share of the observations is in which bucket, and their mean.
fn is_scraped(stage: &Stage<'_>, exporter: SocketAddr) -> Result<usize> {
    let mut jobs = String::new();
    for protocol in PROTOCOLS {
        let _ = writeln!(
            jobs,
            "  - {{job_name: '{protocol}', scrape_protocols: [{protocol}], static_configs: [{{targets: ['{exporter}']}}]}}"
        );
    }
    let program = Command::new(go::PROMETHEUS.path(stage.workspace, "prometheus"));
    let (prometheus, address) = start_program(program, stage, &jobs)?;
    let expected: BTreeMap<String, f64> = [("0.25", 0.25), ("1.0", 0.75), ("10.0", 0.75), ("+Inf", 1.0)]
        .map(|(le, share)| (le.to_owned(), share))
        .into();
    let mut compared = 0;
    for protocol in PROTOCOLS {
        let of_job = format!("{{job=\"{protocol}\"}}");
        let shares = format!("{FAMILY}_bucket{of_job} / ignoring(le) group_left {FAMILY}_count{of_job}");
        let found = poll(&format!("{protocol}: buckets"), TIMEOUT, || {
            let found = query(address, &shares)?;
            let share = |sample: &crate::conformance::prometheus::Sample| {
                (sample.label("le").unwrap_or_default().to_owned(), sample.value)
            };
            let found: BTreeMap<String, f64> = found.iter().map(share).collect();
            Ok((!found.is_empty()).then_some(found))
        })?;
        let means = query(address, &format!("{FAMILY}_sum{of_job} / {FAMILY}_count{of_job}"))?;
        let mean = means.first().map(|sample| (sample.value, sample.label(GATE.0).map(str::to_owned)));
        if found != expected || mean != Some((SUM / COUNT as f64, Some(GATE.1.to_owned()))) {
            return Err(format!("{protocol}: {found:?}, and a mean of {mean:?}").into());
        }
        compared += found.len() + 1;
    }
    prometheus.end()?;
    Ok(compared)
}

/// The collector has taken each histogram whole; answers how many.
fn is_taken(receiver: &Receiver) -> Result<usize> {
    let points = poll("histograms", TIMEOUT, || {
        let points = receiver.histograms()?;
        Ok((points.len() >= POINTS_MIN).then_some(points))
    })?;
    let kind = if receiver.is_delta() { Kind::Delta } else { Kind::Cumulative };
    let mut last = 0;
    for point in &points {
        let HistogramPoint { name, unit, counts, bounds, count, sum, labels, .. } = &**point;
        let collections = count / COUNT;
        let is_right = (name.as_str(), unit.as_str()) == (FAMILY, "s")
            && point.kind == kind
            && point.owner.target() == TARGET
            && labels.get(GATE.0).map(String::as_str) == Some(GATE.1)
            && *bounds == BOUNDS
            && *counts == COUNTS.map(|each| each * collections)
            && (sum - SUM * collections as f64).abs() < f64::EPSILON
            && (kind == Kind::Delta || (point.start == START_UNIX_NS && collections >= last));
        if !is_right {
            return Err(format!("this is not what the plugin sent: {point:?}").into());
        }
        last = collections;
    }
    Ok(points.len())
}
