//! A push of a million points to the OpenTelemetry Collector: processor time of the side that sends and of the one that
//! takes and forgets.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::Usage;
use crate::process::{Running, free_port};
use crate::workspace::{Workspace, capture, cargo, run};
use crate::{Result, peers};

const POINTS: u32 = 1_000_000;
const START_TIMEOUT: Duration = Duration::from_secs(30);

/// The row of the table; none, and said, where there is no Go to build the collector with.
pub(super) fn measure(workspace: &Workspace) -> Result<Option<Value>> {
    let Some(program) = peers::otelcol(workspace)? else {
        println!("skipped: the push to the OpenTelemetry Collector, since Go is not on this machine");
        return Ok(None);
    };
    let example = ["build", "--release", "--locked", "-p", "perfmon-exporter", "--example", "otlp"];
    run(cargo().current_dir(&workspace.root).args(example))?;
    let folder = tempfile::Builder::new().prefix("perfmon-").tempdir()?;
    let port = free_port()?;
    let collector = start(&program, folder.path(), port)?;
    let before = Usage::of(collector.id())?;
    let mut sender = Command::new(workspace.target.join("release/examples/otlp"));
    let endpoint = format!("http://127.0.0.1:{port}");
    let printed = capture(sender.args([&endpoint, "grpc", "gzip", &POINTS.to_string()]))?;
    let theirs = Usage::of(collector.id())?.since(before).cpu_s;
    collector.end()?;
    let mut pushes = Vec::new();
    for line in printed.lines() {
        pushes.push(serde_json::from_str(line)?);
    }
    row(&pushes, theirs).map(Some)
}

/// The mean of the pushes, both with labels that have yet to be rendered.
fn row(pushes: &[Value], theirs: f64) -> Result<Value> {
    let arrived = pushes.iter().all(|push| push["points"] == POINTS);
    if pushes.is_empty() || !arrived {
        return Err(format!("not all of {POINTS} points were taken: {pushes:?}").into());
    }
    let count = f64::from(u32::try_from(pushes.len())?);
    let ours: f64 = pushes.iter().filter_map(|push| push["cpu_seconds"].as_f64()).sum();
    Ok(json!({
        "name": "push in gzip",
        "unit": "s",
        "ours": ours / count,
        "peers": {"otelcol": theirs / count},
        "note": format!("{POINTS} points by gRPC, gzip level 1, labels rendered again; processor time of each process"),
    }))
}

/// A collector that takes and forgets.
fn start(program: &Path, folder: &Path, port: u16) -> Result<Running> {
    let file = folder.join("otelcol.yaml");
    let text = format!(
        "receivers: {{otlp: {{protocols: {{grpc: {{endpoint: '127.0.0.1:{port}'}}}}}}}}\n\
         exporters: {{nop: {{}}}}\n\
         service: {{pipelines: {{metrics: {{receivers: [otlp], exporters: [nop]}}}}}}\n"
    );
    fs::write(&file, text)?;
    let mut collector = Running::start("otelcol", Command::new(program).arg("--config").arg(&file))?;
    collector
        .wait_for("readiness", START_TIMEOUT, |line| line.contains("Everything is ready").then_some(()))?;
    Ok(collector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_that_lost_points_is_no_figure() {
        let push = |points: u32| json!({"points": points, "cpu_seconds": 0.5});
        let row = row(&[push(POINTS), push(POINTS)], 4.0).unwrap();
        assert_eq!((row["ours"].as_f64(), row["peers"]["otelcol"].as_f64()), (Some(0.5), Some(2.0)));
        assert!(super::row(&[push(POINTS), push(POINTS - 1)], 4.0).is_err());
        assert!(super::row(&[], 4.0).is_err());
    }
}
