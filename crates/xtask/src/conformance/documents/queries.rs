//! The queries of the documents: promtool reads them, their metrics exist, and they are right for a host that is new.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use super::blocks::{Block, What};
use super::pages;
use crate::Outcome;
use crate::stage::{self, Stage, Target};
use crate::workspace::{Workspace, capture};
use crate::{Result, http};

const LISTEN: &str = "127.0.0.1:0";

/// Has promtool read each query, each configuration of Prometheus and each file of alerts, and looks for the metrics of queries.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let known = known_names(&stage)?;
    let (mut queries, mut files, mut rules) = (0, 0, 0);
    for block in pages(workspace)?.iter().flat_map(|(_, blocks)| blocks) {
        let checked = match &block.what {
            What::Queries => check_queries(&stage, block, &known).map(|count| queries += count),
            What::File(name) if name == "prometheus.yml" => {
                check_file(&stage, block, "config").map(|()| files += 1)
            }
            What::File(name) if name == "alerts.yml" => {
                check_file(&stage, block, "rules").map(|()| rules += 1)
            }
            _ => Ok(()),
        };
        checked.map_err(|error| format!("{}: {error}", block.place))?;
    }
    Ok(Outcome::Ran(format!(
        "{queries} queries, {files} configurations of Prometheus, {rules} files of rules"
    )))
}

fn check_queries(stage: &Stage<'_>, block: &Block, known: &BTreeSet<String>) -> Result<usize> {
    let mut rules = "groups:\n  - name: documents\n    rules:\n".to_owned();
    let queries: Vec<&str> = block.text.lines().filter(|line| !line.trim().is_empty()).collect();
    for (index, query) in queries.iter().enumerate() {
        let expression = serde_json::to_string(query)?;
        rules += &format!("      - {{record: 'document:{index}', expr: {expression}}}\n");
        for name in names(query) {
            if !known.contains(name) {
                return Err(format!("`{query}`: there is no metric `{name}`").into());
            }
        }
    }
    let file = stage.path("documents.rules.yml");
    fs::write(&file, rules)?;
    capture(Command::new("promtool").args(["check", "rules", "--lint=none"]).arg(file))?;
    check_new_host(stage, &queries)?;
    Ok(queries.len())
}

/// A host whose counters grow evenly has the same rates after its first minute as later.
fn check_new_host(stage: &Stage<'_>, queries: &[&str]) -> Result<()> {
    let rates = || queries.iter().enumerate().filter(|(_, query)| query.contains("rate("));
    if rates().next().is_none() {
        return Ok(());
    }
    let metrics: BTreeSet<&str> = rates().flat_map(|(_, query)| names(query)).collect();
    let mut test =
        "rule_files: [documents.rules.yml]\nevaluation_interval: 15s\ntests:\n  - interval: 15s\n    \
                    input_series:\n"
            .to_owned();
    for metric in metrics {
        // A processor is idle for six of 15 seconds.
        let values =
            if metric.ends_with("_total") || metric.ends_with("_sum") { "0+6x40" } else { "1000+0x40" };
        test += &format!(
            "      - {{series: '{metric}{{target=\"web1\",instance=\"web1\"}}', values: '{values}'}}\n"
        );
    }
    test += "    promql_expr_test:\n";
    for (index, _) in rates() {
        let early = format!("{{__name__=\"document:{index}\"}} offset 8m45s");
        let late = format!("{{__name__=\"document:{index}\"}}");
        test += &format!(
            "      - {{expr: 'sum(abs({late} - ({early})) < bool 0.001 * abs({late}) + 1e-9)', eval_time: 10m, exp_samples: [{{labels: '{{}}', value: 1}}]}}\n"
        );
    }
    let file = stage.path("documents.test.yml");
    fs::write(&file, test)?;
    let tested = capture(Command::new("promtool").args(["test", "rules"]).arg(file));
    tested.map(drop).map_err(|error| format!("not right for a new host, or without a value: {error}").into())
}

fn check_file(stage: &Stage<'_>, block: &Block, what: &str) -> Result<()> {
    let file = stage.path(&format!("{what}.yml"));
    fs::write(&file, &block.text)?;
    capture(Command::new("promtool").args(["check", what]).arg(file)).map(drop)
}

/// The words of a query that are names of our metrics.
fn names(query: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    query
        .split(move |c| !is_part(c))
        .filter(|word| word.starts_with("perfmon_") || word.starts_with("process_"))
}

/// Names of all series of a simulated host and of the exporter itself, those that appear only in trouble included.
fn known_names(stage: &Stage<'_>) -> Result<BTreeSet<String>> {
    let password_file = stage.password_file()?;
    let (_simulator, host) = stage.simulator(&[])?;
    let target = Target { name: "documents", address: host, logon: stage::Logon::of_stage(&password_file) };
    let listen: SocketAddr = LISTEN.parse()?;
    let (mut exporter, address) = stage.exporter(listen, "5s", &[target])?;
    stage::page_when_up(&mut exporter, address, "documents")?;
    let page = http::get(address, "/metrics", "text/plain;version=0.0.4")?.body;
    let mut known: BTreeSet<String> = page
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| Some(line.split(['{', ' ']).next()?.to_owned()))
        .collect();
    let table = fs::read_to_string(stage.workspace.root.join("exporter/METRICS.md"))?;
    let of_table = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    known.extend(of_table.map(str::to_owned));
    Ok(known)
}
