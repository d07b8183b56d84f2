//! promtool and Prometheus' own Python parser read the pages of a real collection, in every form that
//! is text, with every way to escape names.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Result;
use crate::http;
use crate::peers::python;
use crate::report::Outcome;
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
    let password_file = stage.password_file()?;
    // It stands still, so that every form says the same.
    let (_simulator, host) = stage.simulator(&["--clock", "2026-11-01T12:00:00Z"])?;
    let target =
        Target { name: "sim", address: host, account: stage::ACCOUNT, password_file: &password_file };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (mut exporter, address) = stage.exporter(any, "2s", &[target])?;
    stage::page_when_up(&mut exporter, address, "sim")?;

    let Read { pages, samples, created } = read_every_form(&stage, address)?;
    if created == 0 {
        return Err("no counter says when it began".into());
    }
    Ok(Outcome::Ran(format!("{samples} samples on {pages} pages, {created} `_created` on the last")))
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
    let complaints: Vec<&str> = printed.lines().filter(|line| !is_about_an_object(line)).collect();
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

/// The status with which promtool reports questions of style.
const PROMTOOL_STYLE: i32 = 3;

/// Counts the samples that the Python parser reads; a page that it refuses is an error.
fn parse(workspace: &Workspace, page: &Path, format: &str) -> Result<usize> {
    let script = workspace.root.join("crates/xtask/peers/read_page.py");
    let printed = capture(Command::new(python(workspace)).arg(script).arg(format).arg(page))?;
    let samples = printed.trim().parse()?;
    if samples > 100 { Ok(samples) } else { Err(format!("only {samples} samples on the page").into()) }
}
