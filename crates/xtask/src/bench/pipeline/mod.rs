//! A million series on their way through the exporter, beside memcpy and peers: others' programs for the same purpose.
//!
//! The races themselves are benchmarks of the exporter (`exporter/benches/`), for they measure its parts alone, in
//! processor time of one thread; this runs them, with Go's client library as one more contestant where Go is
//! installed, then a push over loopback to the OpenTelemetry Collector, and holds the figures against the goals.

mod goals;
mod push;

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use serde_json::Value;

use self::goals::GoalResult;
use crate::Result;
use crate::workspace::{Workspace, capture, cargo};

/// Where the figures go.
#[derive(Args)]
pub(crate) struct Options {
    /// Writes the figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// How many rounds each race has: fewer for a quick look
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Fails if a goal is missed
    #[arg(long)]
    check: bool,
}

/// Benchmarks of the exporter, in the order of the table.
const BENCHMARKS: [&str; 3] = ["exposition", "otlp", "ingest"];

pub(crate) fn run(options: &Options) -> Result<()> {
    let workspace = Workspace::load()?;
    let client_golang = build_client_golang(&workspace)?;
    let mut rows = Vec::new();
    for name in BENCHMARKS {
        rows.extend(race(&workspace, name, options.rounds, client_golang.as_deref())?);
    }
    rows.extend(push::measure(&workspace)?);
    let results = goals::check(&rows);
    println!();
    goals::print(&rows, &results);
    if let Some(file) = &options.json {
        std::fs::write(file, format!("{:#}\n", Value::from(rows)))?;
    }
    let missed: Vec<String> = results.iter().filter(|one| one.is_missed()).map(GoalResult::title).collect();
    if missed.is_empty() {
        println!("\nno goal is missed");
    } else {
        println!("\ngoals missed: {}", missed.join(", "));
    }
    if options.check && !missed.is_empty() { Err("goals are missed".into()) } else { Ok(()) }
}

/// Runs one benchmark and answers its rows.
fn race(workspace: &Workspace, name: &str, rounds: u32, client_golang: Option<&Path>) -> Result<Vec<Value>> {
    let folder = tempfile::Builder::new().prefix("perfmon-").tempdir()?;
    let file = folder.path().join("rows.json");
    let mut command = cargo();
    command.current_dir(&workspace.root).args([
        "bench",
        "--locked",
        "-p",
        "perfmon-exporter",
        "--bench",
        name,
    ]);
    command.args(["--", "--rounds", &rounds.to_string(), "--json"]).arg(&file);
    if let Some(program) = client_golang.filter(|_| name == "exposition") {
        command.arg("--client-golang").arg(program);
    }
    let status = command.status()?;
    // A benchmark that fails because a goal is missed has written its figures.
    let written =
        std::fs::read(&file).map_err(|_missing| format!("the benchmark {name} ended with {status}"))?;
    match serde_json::from_slice(&written)? {
        Value::Array(rows) => Ok(rows),
        other => Err(format!("the benchmark {name} wrote {other}").into()),
    }
}

/// Builds the peer in Go, outside of the repository; prints why and answers `None` where there is no Go.
fn build_client_golang(workspace: &Workspace) -> Result<Option<PathBuf>> {
    if let Err(error) = capture(Command::new("go").arg("version")) {
        println!("skipped: client_golang, since Go is not on this machine ({error}); get it from go.dev/dl");
        return Ok(None);
    }
    let program = workspace.peers().join("client_golang");
    std::fs::create_dir_all(workspace.peers())?;
    let mut command = Command::new("go");
    command.current_dir(workspace.root.join("crates/xtask/peers/client_golang"));
    command.args(["build", "-mod=readonly", "-o"]).arg(&program).arg(".");
    if let Err(error) = capture(&mut command) {
        println!("skipped: client_golang, since it cannot be built: {error}");
        return Ok(None);
    }
    Ok(Some(program))
}
