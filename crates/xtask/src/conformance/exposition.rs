//! promtool, Prometheus' own Python parser and the parsers of its scrapes read the pages of a real collection, in every
//! format, with every way to escape names.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Outcome;
use crate::Result;
use crate::http;
use crate::peers::{go, python};
use crate::process::Running;
use crate::stage::{self, Stage, Target};
use crate::workspace::{Workspace, capture};

/// What is asked for, what comes, and which of the Python parsers reads it.
const FORMS: [(&str, &str, &str); 4] = [
    ("text/plain;version=0.0.4", "text/plain; version=0.0.4", "classic"),
    (
        "application/openmetrics-text;version=0.0.1",
        "application/openmetrics-text; version=0.0.1",
        "openmetrics",
    ),
    ("text/plain;version=1.0.0;escaping=", "text/plain; version=1.0.0", "classic"),
    (OPEN_METRICS, "application/openmetrics-text; version=1.0.0", "openmetrics"),
];
const OPEN_METRICS: &str = "application/openmetrics-text;version=1.0.0;escaping=";
const ESCAPINGS: [&str; 4] = ["allow-utf-8", "underscores", "dots", "values"];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (_running, address) = start(&stage)?;
    let Read { pages, samples, created } = read_every_form(&stage, address)?;
    if created == 0 {
        return Err("no counter says when it began".into());
    }
    Ok(Outcome::Ran(format!("{samples} samples on {pages} pages, {created} `_created` on the last")))
}

/// Starts a host that stands still, so that every form says the same, and an exporter that reads it.
fn start(stage: &Stage<'_>) -> Result<([Running; 2], SocketAddr)> {
    let password_file = stage.password_file()?;
    let (simulator, host) = stage.simulator(&["--clock", "2026-11-01T12:00:00Z"])?;
    let target = Target { name: "sim", address: host, logon: stage::Logon::of_stage(&password_file) };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (mut exporter, address) = stage.exporter(any, "2s", &[target])?;
    stage::page_when_up(&mut exporter, address, "sim")?;
    Ok(([simulator, exporter], address))
}

/// What Prometheus asks for by each of its scrape protocols, and whether the page says when a series began.
const PROTOCOLS: [(&str, bool); 4] = [
    ("text/plain;version=0.0.4", false),
    ("text/plain;version=1.0.0;escaping=allow-utf-8", false),
    ("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8", true),
    (
        "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;\
         escaping=allow-utf-8",
        true,
    ),
];

/// The parsers of Prometheus' scrapes find the same series of a host in every format, with the same starts.
pub(crate) fn by_textparse(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (_running, address) = start(&stage)?;
    let (mut all, mut starts, mut histograms) = (None, None, 0);
    for (accept, with_starts) in PROTOCOLS {
        let parsed = textparse(workspace, address, accept).map_err(|error| format!("{accept}: {error}"))?;
        histograms += parsed.histograms;
        let expected = all.get_or_insert_with(|| parsed.values.clone());
        differ(expected, &parsed.values).map_err(|error| format!("values of {accept}: {error}"))?;
        if with_starts {
            let expected = starts.get_or_insert_with(|| parsed.starts.clone());
            differ(expected, &parsed.starts).map_err(|error| format!("starts of {accept}: {error}"))?;
        } else if let Some(series) = parsed.starts.keys().next() {
            return Err(format!("{accept} has a start of {series}").into());
        }
    }
    let (values, starts) = (all.unwrap_or_default().len(), starts.unwrap_or_default().len());
    if values < 100 || starts < 100 || histograms == 0 {
        return Err(format!("only {values} series, {starts} starts, {histograms} native histograms").into());
    }
    Ok(Outcome::Ran(format!(
        "{values} series of a host alike in {} formats, {starts} starts, {histograms} native histograms",
        PROTOCOLS.len()
    )))
}

/// What the parsers found: series of the host by their text, and native histograms of the exporter.
struct Parsed {
    values: BTreeMap<String, String>,
    starts: BTreeMap<String, String>,
    histograms: usize,
}

fn textparse(workspace: &Workspace, address: SocketAddr, accept: &str) -> Result<Parsed> {
    let program = go::TEXTPARSE.path(workspace, "textparse");
    let printed = capture(Command::new(program).arg(format!("http://{address}/metrics")).arg(accept))?;
    let mut parsed = Parsed { values: BTreeMap::new(), starts: BTreeMap::new(), histograms: 0 };
    for line in printed.lines() {
        let sample: Value = serde_json::from_str(line)?;
        let series = sample["series"].as_str().unwrap_or_default();
        parsed.histograms += usize::from(sample["histogram"] == true);
        // The exporter's own series change between two pages.
        if !series.contains("target=\"sim\"") || series.contains("__name__=\"perfmon_exporter_") {
            continue;
        }
        let value = sample["value"].as_str().unwrap_or_default();
        if parsed.values.insert(series.to_owned(), value.to_owned()).is_some() {
            return Err(format!("{series} is there twice").into());
        }
        if sample["start"] != 0 {
            parsed.starts.insert(series.to_owned(), sample["start"].to_string());
        }
    }
    Ok(parsed)
}

/// Names the first series in which two pages differ.
fn differ(expected: &BTreeMap<String, String>, found: &BTreeMap<String, String>) -> Result<()> {
    let all = expected.keys().chain(found.keys());
    match all.into_iter().find(|series| expected.get(*series) != found.get(*series)) {
        Some(series) => {
            Err(format!("{series}: {:?} and {:?}", expected.get(series), found.get(series)).into())
        }
        None => Ok(()),
    }
}

/// What was read, all pages together.
pub(super) struct Read {
    pub(super) pages: usize,
    pub(super) samples: usize,
    /// Samples on the last page that say since when a series counts.
    pub(super) created: usize,
}

/// Has others read the pages of an exporter in every form.
pub(super) fn read_every_form(stage: &Stage<'_>, address: SocketAddr) -> Result<Read> {
    let mut read = Read { pages: 0, samples: 0, created: 0 };
    for (form, content_type, parser) in FORMS {
        let escapings = if form.ends_with('=') { &ESCAPINGS[..] } else { &[""] };
        for escaping in escapings {
            let page = http::get(address, "/metrics", &format!("{form}{escaping}"))?;
            expect_type(&page, content_type)?;
            let file = stage.path("page.txt");
            fs::write(&file, &page.body)?;
            read.samples += parse(stage.workspace, &file, parser)
                .map_err(|error| format!("{form}{escaping}: {error}"))?;
            // promtool reads the classic form, and knows no names in quotes.
            if parser == "classic" && *escaping != "allow-utf-8" {
                promtool(&file).map_err(|error| format!("{form}{escaping}: {error}"))?;
            }
            read.created = page.body.lines().filter(|line| is_start(line)).count();
            read.pages += 1;
        }
    }
    Ok(read)
}

/// When a counter began: `NAME_created`, or that name escaped.
fn is_start(line: &str) -> bool {
    line.split(['{', ' ']).next().is_some_and(|name| name.ends_with("_created"))
}

fn expect_type(response: &http::Response, wanted: &str) -> Result<()> {
    let head = response.head.to_ascii_lowercase();
    if response.status == 200 && head.contains(&format!("content-type: {wanted}")) {
        Ok(())
    } else {
        Err(format!("asked for {wanted}, got:\n{}", response.head).into())
    }
}

/// `promtool check metrics` prints its complaints, a line each; none is praise.
fn promtool(page: &Path) -> Result<()> {
    let stdin = Stdio::from(File::open(page)?);
    let output = Command::new("promtool").args(["check", "metrics"]).stdin(stdin).output()?;
    let printed = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let printed = String::from_utf8_lossy(&printed);
    let is_known = |line: &&str| is_about_an_object(line) || is_about_bandwidth(line);
    let complaints: Vec<&str> = printed.lines().filter(|line| !is_known(line)).collect();
    let only_style = output.status.success() || output.status.code() == Some(PROMTOOL_STYLE);
    if only_style && complaints.is_empty() {
        Ok(())
    } else {
        Err(format!("promtool: {}\n{}", output.status, complaints.join("\n")).into())
    }
}

/// promtool wants no name to contain the word counter; an object of the simulated host has it in its own.
fn is_about_an_object(complaint: &str) -> bool {
    complaint.starts_with("perfmon_counter_types_")
        && complaint.ends_with("should not include type 'counter'")
}

/// promtool wants bytes; the bandwidth of a network is given in bits by Windows and by everybody.
fn is_about_bandwidth(complaint: &str) -> bool {
    complaint
        == "perfmon_network_interface_current_bandwidth_bits use base unit \"bytes\" instead of \"bits\""
}

/// The status with which promtool reports questions of style.
const PROMTOOL_STYLE: i32 = 3;

/// Counts the samples that the Python parser reads; a page that it refuses is an error.
fn parse(workspace: &Workspace, page: &Path, format: &str) -> Result<usize> {
    let script = workspace.root.join("crates/xtask/peers/read_page.py");
    let printed = capture(Command::new(python(workspace)).arg(script).arg(format).arg(page))?;
    let samples = printed.trim().parse()?;
    if samples > 100 { Ok(samples) } else { Err(format!("only {samples} samples on the page").into()) }
}
