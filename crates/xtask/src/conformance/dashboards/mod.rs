//! A real Prometheus 3 reads exporters in which much is wrong, once with native histograms and once with classic ones,
//! and answers every question of the exporter's dashboard; and it follows the rules, while promtool runs their tests. The
//! dashboards of hosts are asked in [`hosts`], and what dashboards of others read in [`public`].

pub(super) mod hosts;
pub(super) mod panels;
pub(crate) mod public;
mod world;

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use self::panels::{Chosen, Query};
use self::world::World;
use super::prometheus::{percent_encoded, start_program};
use crate::peers::go;
use crate::process::poll;
use crate::stage::Stage;
use crate::workspace::{Workspace, capture};
use crate::{Outcome, Result, http};

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
        choices_are_there(&dashboard, address, &chosen)?;
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
    all_have_numbers(&asked, prometheus, || world.stir())?;
    for query in empty {
        let found = number(query, prometheus, chosen)?;
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

// What a real Prometheus answers to the queries of a dashboard.

const TIMEOUT: Duration = Duration::from_secs(90);

/// Every list that a variable offers has an entry.
fn choices_are_there(dashboard: &Value, prometheus: SocketAddr, chosen: &Chosen<'_>) -> Result<()> {
    for panels::Choices { selector, label } in panels::choices(dashboard) {
        let matched = percent_encoded(&panels::filled(&selector, chosen)?);
        let path = format!("/api/v1/label/{label}/values?match[]={matched}");
        poll(&format!("values of {label} by {selector}"), TIMEOUT, || {
            let answer = ask(prometheus, &path)?;
            Ok(answer["data"].as_array().is_some_and(|values| !values.is_empty()).then_some(()))
        })?;
    }
    Ok(())
}

/// Asks until every query has a number for what was chosen, and does `meanwhile` each time.
fn all_have_numbers(
    queries: &[(&Query, &Chosen<'_>)],
    prometheus: SocketAddr,
    meanwhile: impl Fn() -> Result<()>,
) -> Result<()> {
    let (mut left, mut missing) = (queries.to_vec(), String::new());
    let all = poll("data for every query", TIMEOUT, || {
        meanwhile()?;
        let mut still = Vec::new();
        for (query, chosen) in left.drain(..) {
            if number(query, prometheus, chosen)?.is_none() {
                still.push((query, chosen));
            }
        }
        left = still;
        missing = left.iter().map(|(query, _)| format!("\n{}: {}", query.panel, query.expression)).collect();
        Ok(left.is_empty().then_some(()))
    });
    all.map_err(|error| format!("{error}; empty are:{missing}").into())
}

/// Each column of a table that shows a label shows one that a series has, for one of the choices.
fn columns_are_there(dashboard: &Value, prometheus: SocketAddr, choices: &[&Chosen<'_>]) -> Result<()> {
    for panels::Columns { panel, expressions, labels } in panels::columns(dashboard) {
        let mut found = BTreeSet::new();
        for (expression, chosen) in
            expressions.iter().flat_map(|one| choices.iter().map(move |two| (one, two)))
        {
            for series in series(&panels::filled(expression, chosen)?, prometheus)? {
                found
                    .extend(series["metric"].as_object().into_iter().flatten().map(|(name, _)| name.clone()));
            }
        }
        if let Some(label) = labels.iter().find(|label| !found.contains(*label)) {
            return Err(format!("{panel}: a column shows `{label}`, there are {found:?}").into());
        }
    }
    Ok(())
}

/// The first series of the answer that is a number. Labels that the legend shows and no series has are an error, and so
/// are warnings.
fn number(query: &Query, prometheus: SocketAddr, chosen: &Chosen<'_>) -> Result<Option<Value>> {
    let expression = panels::filled(&query.expression, chosen)?;
    let series = series(&expression, prometheus).map_err(|error| format!("{}: {error}", query.panel))?;
    for one in &series {
        if let Some(label) = query.labels.iter().find(|label| one["metric"][label].is_null()) {
            return Err(
                format!("{}: the legend shows `{label}`, there is {}", query.panel, one["metric"]).into()
            );
        }
    }
    let is_number = |one: &&Value| one["value"][1].as_str().is_some_and(|value| value != "NaN");
    Ok(series.iter().find(is_number).cloned())
}

/// What Prometheus answers, without a warning.
fn series(expression: &str, prometheus: SocketAddr) -> Result<Vec<Value>> {
    let answer = ask(prometheus, &format!("/api/v1/query?query={}", percent_encoded(expression)))?;
    for remark in ["warnings", "infos"] {
        if !answer[remark].is_null() {
            return Err(format!("{expression}: {}", answer[remark]).into());
        }
    }
    Ok(answer["data"]["result"].as_array().ok_or_else(|| format!("{expression}: {answer}"))?.clone())
}

fn ask(prometheus: SocketAddr, path: &str) -> Result<Value> {
    let answer: Value = serde_json::from_str(&http::get(prometheus, path, "application/json")?.body)?;
    if answer["status"] == "success" { Ok(answer) } else { Err(format!("{path}: {answer}").into()) }
}
