//! One VictoriaMetrics scrapes an exporter and takes its OTLP. It has the same series from both, with equal values.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use super::prometheus::query;
use crate::Outcome;
use crate::Result;
use crate::peers::go;
use crate::process::{Running, free_port, poll};
use crate::stage::{self, Stage, Target};
use crate::workspace::Workspace;

const TIMEOUT: Duration = Duration::from_secs(60);
const SERIES_MIN: usize = 500;
/// Labels that say by which way a series came.
const OF_WAY: [&str; 3] = ["instance", "job", "target"];
/// The same of OTLP: attributes of the resource and of the scope.
const OF_RESOURCE: [&str; 4] = ["service_", "host_", "os_", "scope_"];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stage = Stage::new(workspace)?;
    let password_file = stage.password_file()?;
    // Its values stand still, so that a scrape and a push say the same.
    let (_simulator, host) = stage.simulator(&["--clock", "2026-11-01T12:00:00Z"])?;
    let target = Target { name: "sim", address: host, logon: stage::Logon::of_stage(&password_file) };
    let database = SocketAddr::from(([127, 0, 0, 1], free_port()?));
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let configuration = stage::configuration_of(any, "1s", &[target])
        + &format!(
            "otlp: [{{name: vm, endpoint: 'http://{database}/opentelemetry', protocol: http, interval: 1s}}]\n"
        );
    let (mut exporter, address) = stage.exporter_with(&configuration)?;
    stage::page_when_up(&mut exporter, address, "sim")?;
    let mut database_program = start(&stage, database, address)?;

    // The exporter's own clock moves on, and only what is pushed says that a target is up.
    let scraped =
        r#"{job="perfmon",target="sim",__name__!~"perfmon_exporter_.+|perfmon_host_clock_skew_seconds"}"#;
    let pushed =
        r#"{service_instance_id="sim",__name__!~"perfmon_target_up|perfmon_host_clock_skew_seconds"}"#;
    let mut seen = (BTreeMap::new(), BTreeMap::new());
    let agreed = poll("both ways say the same", TIMEOUT, || {
        seen = (series(database, scraped)?, series(database, pushed)?);
        Ok((seen.0.len() >= SERIES_MIN && seen.0 == seen.1).then_some(()))
    });
    let (scraped, pushed) = seen;
    if agreed.is_err() {
        let all = scraped.keys().chain(pushed.keys());
        let different = all.into_iter().find(|series| scraped.get(*series) != pushed.get(*series));
        let values = different.map(|series| (scraped.get(series), pushed.get(series)));
        let problem =
            format!("{} series scraped, {} pushed; {different:?} is {values:?}", scraped.len(), pushed.len());
        return Err(database_program.complaint(&problem));
    }
    Ok(Outcome::Ran(format!("{} series have equal values by scrape and by OTLP", scraped.len())))
}

/// Starts the database, which scrapes `exporter` each second.
fn start(stage: &Stage<'_>, listen: SocketAddr, exporter: SocketAddr) -> Result<Running> {
    let scrape = stage.path("scrape.yml");
    let jobs = format!("{{job_name: perfmon, static_configs: [{{targets: ['{exporter}']}}]}}");
    fs::write(&scrape, format!("global: {{scrape_interval: 1s}}\nscrape_configs: [{jobs}]\n"))?;
    let mut command = Command::new(go::VICTORIA_METRICS.path(stage.workspace, "victoria-metrics"));
    command.arg(format!("-storageDataPath={}", stage.path("data").display()));
    command.arg(format!("-promscrape.config={}", scrape.display()));
    command.arg(format!("-httpListenAddr={listen}"));
    // Names as Prometheus has them: with units, and `_total` of sums that only grow.
    command.args(["-opentelemetry.usePrometheusNaming", "-search.latencyOffset=0s", "-retentionPeriod=1y"]);
    let mut database = Running::start("victoria-metrics", &mut command)?;
    let ready = |line: &str| line.contains("started VictoriaMetrics").then_some(());
    database.wait_for("readiness", stage::START_TIMEOUT, ready)?;
    Ok(database)
}

/// Values by name and labels, without the labels of one way.
fn series(database: SocketAddr, selector: &str) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for sample in query(database, selector)? {
        let is_of_way = |label: &str| {
            OF_WAY.contains(&label) || OF_RESOURCE.iter().any(|prefix| label.starts_with(prefix))
        };
        let mut labels: BTreeMap<&str, String> = BTreeMap::new();
        for (name, value) in sample.labels().filter(|(name, _)| !is_of_way(name)) {
            // Of pushed names the database moves each `total` to the end, and adds a unit that it does not know.
            let words =
                value.split('_').filter(|word| name != "__name__" || !["total", "bit"].contains(word));
            labels.insert(name, words.collect::<Vec<_>>().join("_"));
        }
        let series = format!("{labels:?}");
        if found.insert(series.clone(), sample.value.to_string()).is_some() {
            return Err(format!("{selector} has {series} twice").into());
        }
    }
    Ok(found)
}
