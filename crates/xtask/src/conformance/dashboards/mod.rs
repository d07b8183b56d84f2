//! A real Prometheus 3 reads exporters in which much is wrong, once with native histograms and once with classic ones,
//! and answers every question of the exporter's dashboard; and it follows the rules, while promtool runs their tests. The
//! dashboards of hosts are asked in [`hosts`], and what dashboards of others read in [`public`].

mod answers;
pub(super) mod hosts;
pub(super) mod panels;
pub(crate) mod public;
mod world;

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;

use serde_json::Value;

use self::answers::{TIMEOUT, ask};
use self::panels::{Chosen, Query};
use self::world::World;
use super::prometheus::start_program;
use crate::Outcome;
use crate::Result;
use crate::peers::go;
use crate::process::poll;
use crate::stage::Stage;
use crate::workspace::{Workspace, capture};

/// What the variable `job` may choose: what reads native histograms and what reads classic ones, each with the exporter
/// that has certificates.
const JOBS: [&str; 2] = ["perfmon-native|perfmon-secured", "perfmon-classic|perfmon-secured"];

/// What has no number even here, and why.
const EMPTY: [(&str, &str); 3] = [
    ("perfmon_exporter_web_connections_refused_total", "all come from here, and nobody opens hundreds"),
    (
        "perfmon_exporter_web_auth_failures_total",
        "no passwords are asked for, and the panel leaves zeros out",
    ),
    ("perfmon_exporter_otlp_log_records_lost_total", "no plugin has events, and the panel leaves zeros out"),
];
/// A machine with too much to do makes the plugin slow to return, which is counted; otherwise it behaves.
const EMPTY_OR_NOT: &str = "perfmon_exporter_plugin_violations_total";

/// Alerts that what is wrong here has to set off.
const ALERTS: [&str; 9] = [
    "PerfmonTargetDown",
    "PerfmonTargetPartial",
    "PerfmonManyTargetsDown",
    "PerfmonPasswordRefused",
    "PerfmonSeriesLeftOut",
    "PerfmonModuleMatchesNothing",
    "PerfmonTargetFileRefused",
    "PerfmonCollectorAway",
    "PerfmonPointsLost",
];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    names_are_known(workspace)?;
    let promtool = go::PROMETHEUS.path(workspace, "promtool");
    let rules = workspace.root.join("dashboards/rules");
    capture(Command::new(&promtool).current_dir(&rules).args(["check", "rules", "exporter.rules.yaml"]))?;
    capture(Command::new(&promtool).current_dir(&rules).args(["test", "rules", "exporter.rules.test.yaml"]))?;

    let (of_watching, of_secured) = (Stage::new(workspace)?, Stage::new(workspace)?);
    let world = World::start(&of_watching, &of_secured)?;
    let configuration = configuration(workspace, &of_watching, &world)?;
    let program = Command::new(go::PROMETHEUS.path(workspace, "prometheus"));
    let (mut prometheus, address) = start_program(program, &of_watching, &configuration)?;
    let dashboard = panels::read(&workspace.root, panels::EXPORTER)?;
    let queries = panels::queries(&dashboard);
    let mut answered = 0;
    for job in JOBS {
        let chosen = [("$job", job), ("$instance", ".+"), ("$target", ".+"), ("$quantile", "0.99")];
        answers::choices_are_there(&dashboard, address, &chosen)?;
        let found = answered_queries(&queries, &world, address, &chosen);
        answered += found.map_err(|error| prometheus.complaint(&format!("{job}: {error}")))?;
    }
    let alerts = rules_are_followed(address).map_err(|error| prometheus.complaint(&error.to_string()))?;
    Ok(Outcome::Ran(format!(
        "{answered} of {} queries of {} panels have data, each with native and with classic histograms; {alerts} \
         alerts, {} of them set off",
        queries.len() * JOBS.len(),
        panels::panels(&dashboard).count(),
        ALERTS.len()
    )))
}

fn names_are_known(workspace: &Workspace) -> Result<()> {
    for name in [panels::EXPORTER, panels::RULES] {
        let text = fs::read_to_string(workspace.root.join(name))?;
        let unknown = panels::unknown_names(&workspace.root, &text)?;
        if !unknown.is_empty() {
            return Err(format!("{name}: the exporter has no {unknown:?}").into());
        }
    }
    Ok(())
}

/// Each way to read histograms has a job; rules are followed each second.
fn configuration(workspace: &Workspace, stage: &Stage<'_>, world: &World) -> Result<String> {
    let rules = fs::read_to_string(workspace.root.join(panels::RULES))?;
    let file = stage.path("hasty.rules.yaml");
    fs::write(&file, rules.replace("\n    rules:\n", "\n    interval: 1s\n    rules:\n"))?;
    let World { watching, secured, .. } = world;
    let file = file.display();
    Ok(format!(
        "  - {{job_name: perfmon-native, scrape_protocols: [PrometheusProto], scrape_native_histograms: true, \
         static_configs: [{{targets: ['{watching}']}}]}}\n\
         \x20 - {{job_name: perfmon-classic, scrape_protocols: [PrometheusText1.0.0], \
         static_configs: [{{targets: ['{watching}']}}]}}\n\
         \x20 - {{job_name: perfmon-secured, scheme: https, tls_config: {{insecure_skip_verify: true}}, \
         static_configs: [{{targets: ['{secured}']}}]}}\n\
         rule_files: ['{file}']\n"
    ))
}

/// Asks until every query has a number, but those that can have none, which must have none. Answers how many have one.
fn answered_queries(
    queries: &[Query],
    world: &World,
    prometheus: SocketAddr,
    chosen: &Chosen<'_>,
) -> Result<usize> {
    let names = || EMPTY.iter().map(|(name, _)| *name).chain([EMPTY_OR_NOT]);
    let is_empty = |query: &&Query| names().any(|name| query.expression.contains(name));
    let (empty, full): (Vec<&Query>, Vec<&Query>) = queries.iter().partition(is_empty);
    let asked: Vec<_> = full.iter().map(|query| (*query, chosen)).collect();
    answers::all_have_numbers(&asked, prometheus, || world.stir())?;
    for query in empty {
        let found = answers::number(query, prometheus, chosen)?;
        if let Some(series) = found.filter(|_| !query.expression.contains(EMPTY_OR_NOT)) {
            return Err(format!("{} is not empty: {} is {series}", query.panel, query.expression).into());
        }
    }
    Ok(full.len())
}

/// Each rule was evaluated, has what an alert needs, and those that must be set off are. Answers how many there are.
fn rules_are_followed(prometheus: SocketAddr) -> Result<usize> {
    let path = "/api/v1/rules";
    let rules = || -> Result<Vec<Value>> {
        let answer = ask(prometheus, path)?;
        let groups = answer["data"]["groups"].as_array().cloned().unwrap_or_default();
        Ok(groups.iter().filter_map(|group| group["rules"].as_array().cloned()).flatten().collect())
    };
    poll("rules that are followed, and alerts", TIMEOUT, || {
        let rules = rules()?;
        let names = |wanted: fn(&Value) -> bool| -> BTreeSet<String> {
            rules.iter().filter(|rule| wanted(rule)).map(|rule| rule["name"].to_string()).collect()
        };
        let ill = names(|rule| rule["health"] != "ok");
        let set_off = names(|rule| rule["state"] != "inactive");
        let silent: Vec<_> = ALERTS.iter().filter(|name| !set_off.contains(&format!("\"{name}\""))).collect();
        if !rules.is_empty() && ill.is_empty() && silent.is_empty() {
            return Ok(Some(()));
        }
        Err(format!("not evaluated: {ill:?}; not set off: {silent:?}").into())
    })?;
    let rules = rules()?;
    for rule in &rules {
        let has = |text: &Value| text.as_str().is_some_and(|text| !text.is_empty());
        let says = ["summary", "description"].iter().all(|part| has(&rule["annotations"][part]));
        let is_severe =
            ["critical", "warning"].iter().any(|severity| rule["labels"]["severity"] == *severity);
        if !says || !is_severe || rule["duration"].as_f64().is_none_or(|seconds| seconds <= 0.0) {
            return Err(format!("an alert without severity, `for`, summary or description: {rule}").into());
        }
    }
    Ok(rules.len())
}
