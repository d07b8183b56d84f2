//! A real Prometheus reads an exporter with simulated hosts, some of which are in trouble, and answers every query of
//! the dashboards of one host, of all hosts, of their alerts, and of their counter logs: Prometheus 3 by `/metrics` alone,
//! and Prometheus 2 by `/sd` with a second job for the exporter's own metrics.

use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use super::panels::{self, Chosen, Query};
use super::{TIMEOUT, all_have_numbers, choices_are_there, columns_are_there, series};
use crate::conformance::prometheus::{start_program, start_with};
use crate::peers::go;
use crate::process::{Running, poll};
use crate::stage::{self, ACCOUNT, COUNTERSETS, Stage};
use crate::workspace::Workspace;
use crate::{Outcome, Result};

/// A host that answers.
const WELL: &str = "well";
/// One that answers at first.
const MORTAL: &str = "mortal";
/// One that refuses the registry's keys, so that facts of it are missing.
const CLOSED: &str = "closed";
/// One whose clock is wrong: its time is decades ahead, and so is the time at which it was started.
const AHEAD: &str = "ahead";
/// One that lacks a counterset.
const HALF: &str = "half";
/// One whose alerts are judged.
const JUDGED: &str = "judged";

/// What the host's dashboard shows of a host in trouble only, and which host that is.
const TROUBLE: [(&str, &str); 2] =
    [("perfmon_exporter_failures_total", HALF), ("perfmon_pcq_host_info_missing", CLOSED)];

/// Options of each simulator.
const SIMULATORS: [(&str, &[&str]); 4] = [
    (WELL, &[]),
    (MORTAL, &["--seed", "2"]),
    (CLOSED, &["--seed", "3", "--fault", "winreg/15=status:5"]),
    (AHEAD, &["--seed", "4", "--clock", "2099-01-01T00:00:00Z", "--clock-speed", "1"]),
];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let (_world, exporter) = start(&stage)?;
    let all = of_readme(&fs::read_to_string(workspace.root.join("README.md"))?, exporter)?;
    let program = Command::new(go::PROMETHEUS.path(workspace, "prometheus"));
    let by_metrics = answered(workspace, start_program(program, &stage, &all)?, "perfmon-exporter")?;
    // What `/metrics` has with `metrics_targets: false`.
    let own =
        "metric_relabel_configs: [{source_labels: [__name__], regex: 'perfmon_exporter_.+', action: keep}]";
    let each = format!(
        "  - {{job_name: windows, http_sd_configs: [{{url: 'http://{exporter}/sd', refresh_interval: 1s}}]}}\n\
         \x20 - {{job_name: perfmon, static_configs: [{{targets: ['{exporter}']}}], {own}}}\n"
    );
    let stage = Stage::new(workspace)?;
    let by_discovery = answered(workspace, start_with(&stage, &each)?, ".+")?;
    Ok(Outcome::Ran(format!("queries that have data: {by_metrics}; with /sd: {by_discovery}")))
}

/// The scrape configuration that README shows, for this exporter: who follows it has each host once.
fn of_readme(readme: &str, exporter: SocketAddr) -> Result<String> {
    let block = readme.split("```yaml prometheus.yml\n").nth(1).and_then(|rest| rest.split("```").next());
    let jobs = block.and_then(|block| block.strip_prefix("scrape_configs:\n"));
    let jobs = jobs.ok_or("README has no `scrape_configs` for Prometheus")?;
    Ok(jobs.replace("localhost:9483", &exporter.to_string()))
}

/// Asks a Prometheus every query of the dashboards, with this choice of jobs. Answers how many have data.
fn answered(workspace: &Workspace, prometheus: (Running, SocketAddr), job: &str) -> Result<String> {
    let (mut prometheus, address) = prometheus;
    let checks = [
        (panels::HOST, host as Check),
        (panels::FLEET, fleet),
        (panels::ALERTS, alerts),
        (panels::LOGS, logs),
    ];
    let mut counts = Vec::new();
    for (name, check) in checks {
        let found = check(workspace, address, job);
        let found = found.map_err(|error| prometheus.complaint(&format!("{name}: {error}")))?;
        counts.push(format!("{found} of {name}"));
    }
    Ok(counts.join(", "))
}

/// Answers how many queries have data.
type Check = fn(&Workspace, SocketAddr, &str) -> Result<usize>;

/// Every query has data for a host that is well, or for the one that has the trouble.
fn host(workspace: &Workspace, prometheus: SocketAddr, job: &str) -> Result<usize> {
    let dashboard = panels::read(&workspace.root, panels::HOST)?;
    let chosen = |target| [("$job", job), ("$target", target), ("$top", "5")];
    let (well, half, closed) = (chosen(WELL), chosen(HALF), chosen(CLOSED));
    choices_are_there(&dashboard, prometheus, &well)?;
    let queries = panels::queries(&dashboard);
    let target = |query: &Query| {
        let of_trouble = TROUBLE.iter().find(|(name, _)| query.expression.contains(name));
        of_trouble.map_or(&well, |(_, target)| if *target == HALF { &half } else { &closed })
    };
    let asked: Vec<(&Query, &Chosen<'_>)> =
        queries.iter().map(|query| (query, target(query).as_slice())).collect();
    all_have_numbers(&asked, prometheus, || Ok(()))?;
    columns_are_there(&dashboard, prometheus, &[&well, &half, &closed])?;
    Ok(queries.len())
}

/// Every query has data with thresholds that a simulated host reaches.
fn fleet(workspace: &Workspace, prometheus: SocketAddr, job: &str) -> Result<usize> {
    let dashboard = panels::read(&workspace.root, panels::FLEET)?;
    let chosen = [("$job", job), ("$target", ".+"), ("$top", "5"), ("$full", "0.1"), ("$memory", "0.99")];
    choices_are_there(&dashboard, prometheus, &chosen)?;
    let queries = panels::queries(&dashboard);
    let asked: Vec<(&Query, &Chosen<'_>)> = queries.iter().map(|query| (query, chosen.as_slice())).collect();
    all_have_numbers(&asked, prometheus, || Ok(()))?;
    columns_are_there(&dashboard, prometheus, &[&chosen])?;
    for (state, hosts) in [("up", 4.0), ("partial", 1.0), ("down", 1.0)] {
        let shown = format!("sum(perfmon_exporter_target_state{{state='{state}'}}) == {hosts}");
        poll(&shown, TIMEOUT, || Ok(series(&shown, prometheus)?.pop()))?;
    }
    Ok(queries.len())
}

/// Every query has data for alerts of which some fire at all times, some wait, and some have no value.
fn alerts(workspace: &Workspace, prometheus: SocketAddr, job: &str) -> Result<usize> {
    let dashboard = panels::read(&workspace.root, panels::ALERTS)?;
    let any = [("$job", job), ("$target", ".+"), ("$set", ".+"), ("$alert", ".+"), ("$chart", "Busy")];
    choices_are_there(&dashboard, prometheus, &any)?;
    let queries = panels::queries(&dashboard);
    let asked: Vec<(&Query, &Chosen<'_>)> = queries.iter().map(|query| (query, any.as_slice())).collect();
    all_have_numbers(&asked, prometheus, || Ok(()))?;
    columns_are_there(&dashboard, prometheus, &[&any])?;
    Ok(queries.len())
}

/// Every query has data for a set that logs, and one that starts by a schedule.
fn logs(workspace: &Workspace, prometheus: SocketAddr, job: &str) -> Result<usize> {
    let dashboard = panels::read(&workspace.root, panels::LOGS)?;
    let any = [("$job", job), ("$target", ".+"), ("$set", ".+"), ("$__range", "1h")];
    choices_are_there(&dashboard, prometheus, &any)?;
    let queries = panels::queries(&dashboard);
    let asked: Vec<(&Query, &Chosen<'_>)> = queries.iter().map(|query| (query, any.as_slice())).collect();
    all_have_numbers(&asked, prometheus, || Ok(()))?;
    columns_are_there(&dashboard, prometheus, &[&any])?;
    Ok(queries.len())
}

/// A set as a host exports it, whose alert starts a task.
const EXPORTED: &str = r"<DataCollectorSet><Name>Nightly</Name><AlertDataCollector><Name>Short</Name>
<SampleInterval>1</SampleInterval><Alert>\Memory\Available MBytes&lt;1000000</Alert><Task>Tell</Task>
</AlertDataCollector></DataCollectorSet>";

/// Starts hosts and an exporter, and ends one host once it was up. Answers what runs, and where the exporter listens.
fn start(stage: &Stage<'_>) -> Result<(Vec<Running>, SocketAddr)> {
    let mut hosts = Vec::new();
    for (name, options) in SIMULATORS {
        let (running, address) = stage.simulator(options)?;
        hosts.push((name, running, address));
    }
    let addresses: Vec<_> = hosts.iter().map(|(name, _, address)| (*name, *address)).collect();
    let (mut exporter, address) = stage.exporter_with(&configuration(stage, &addresses)?)?;
    for (name, _) in addresses.into_iter().chain([(HALF, address), (JUDGED, address)]) {
        stage::page_when_up(&mut exporter, address, name)?;
    }
    let mut world = vec![exporter];
    for (name, running, _) in hosts {
        if name == MORTAL {
            running.end()?;
        } else {
            world.push(running);
        }
    }
    Ok((world, address))
}

fn configuration(stage: &Stage<'_>, hosts: &[(&str, SocketAddr)]) -> Result<String> {
    let (domain, user) = ACCOUNT.split_once('\\').unwrap_or(("", ACCOUNT));
    let password_file = stage.password_file()?;
    let password_file = password_file.display();
    let countersets: Vec<String> = COUNTERSETS.iter().map(|name| format!("{{name: {name}}}")).collect();
    let countersets = countersets.join(", ");
    let (mut transports, mut targets) = (String::new(), String::new());
    for (name, address) in hosts {
        transports += &format!("  {name}: {{smb: {{port: {}}}}}\n", address.port());
        targets += &format!("  - {{name: {name}, host: 127.0.0.1, transport: {name}}}\n");
    }
    let exported = stage.path("nightly.xml");
    fs::write(&exported, EXPORTED)?;
    let exported = exported.display();
    let files = stage.path("files");
    let files = files.display();
    Ok(format!(
        r"web: {{listen: ['127.0.0.1:0']}}
plugins: {{load: [pcq, pla]}}
scrape: {{interval: 1s}}
storage: {{directory: {files}}}
identities:
  sim: {{kind: ntlm, domain: {domain}, username: {user}, password_file: {password_file}, allow_hosts: [127.0.0.1]}}
transports:
{transports}modules:
  all: {{plugin: pcq, host_info: true, countersets: [{countersets}]}}
  unknown: {{plugin: pcq, countersets: [{{name: No Such Counterset}}]}}
  alerts:
    plugin: pla
    sets:
      - name: Day
        alerts:
          - {{name: Busy, counter: '\Processor Information(*)\% Processor Time', above: 0.01, sample_interval: 1s}}
          - {{name: Later, counter: '\Memory\Available MBytes', below: 1000000, for: 10h, sample_interval: 1s}}
          - {{name: Gone, counter: '\Processor Information(9,9)\% Processor Time', above: 1, sample_interval: 1s}}
      - file: {exported}
  logs:
    plugin: pla
    sets:
      - {{name: Always, counters: ['\Processor Information(*)\% Processor Time'], sample_interval: 1s, log_format: csv}}
      - {{name: Nightly, counters: ['\Memory\Available MBytes'], schedules: [{{at: '22:00'}}], log_format: csv}}
target_defaults: {{identity: sim, modules: [all]}}
targets:
{targets}  - {{name: {HALF}, host: 127.0.0.1, transport: {WELL}, modules: [all, unknown]}}
  - {{name: {JUDGED}, host: 127.0.0.1, transport: {WELL}, modules: [alerts, logs]}}
"
    ))
}
