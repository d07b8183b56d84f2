//! promtool and Prometheus' own Python parser read the page of a real collection, and a page of hostile text.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use super::stage::{self, Stage, Target};
use crate::Result;
use crate::http;
use crate::peers::python;
use crate::report::Outcome;
use crate::workspace::{Workspace, capture};

const CLASSIC: &str = "text/plain;version=0.0.4";
const OPEN_METRICS: &str = "application/openmetrics-text;version=1.0.0";

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let password_file = stage.password_file()?;
    let (_simulator, host) = stage.simulator(&[])?;
    let target =
        Target { name: "sim", address: host, account: stage::ACCOUNT, password_file: &password_file };
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (mut exporter, address) = stage.exporter(any, "2s", &[target])?;
    stage::page_when_up(&mut exporter, address, "sim")?;

    let classic = http::get(address, "/metrics", CLASSIC)?;
    expect_type(&classic, "text/plain")?;
    let open_metrics = http::get(address, "/metrics", OPEN_METRICS)?;
    expect_type(&open_metrics, "application/openmetrics-text")?;
    let (classic_file, open_metrics_file) = (stage.path("classic.txt"), stage.path("openmetrics.txt"));
    fs::write(&classic_file, &classic.body)?;
    fs::write(&open_metrics_file, &open_metrics.body)?;

    promtool(&classic_file)?;
    let samples = parse(workspace, &open_metrics_file, "openmetrics")?;
    parse(workspace, &classic_file, "classic")?;
    Ok(Outcome::Ran(format!("{samples} samples accepted in both formats")))
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
