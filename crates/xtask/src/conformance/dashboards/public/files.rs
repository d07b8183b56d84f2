//! `cargo xtask public-dashboards FOLDER`: asks every query of dashboards that others made, and prints which have series.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;

use super::{HOST, JOB, Scraped, list, read, series};
use crate::Result;
use crate::peers::{Peer, missing};
use crate::stage::Stage;
use crate::workspace::Workspace;

/// Whose dashboards, and how metrics are named.
#[derive(Args)]
pub(crate) struct Options {
    /// A folder with dashboards as Grafana saves them; files of JSON with `groups` are rules for Prometheus
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// How metrics are named
    #[arg(long, value_name = "PROFILE", default_value = "windows_exporter@0.31")]
    naming: String,
}

/// How long rates and rules may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A query of a panel or of a variable.
struct Asked {
    place: String,
    expression: String,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let workspace = Workspace::load()?;
    if missing(&workspace, &[Peer::Prometheus3]).is_some() {
        return Err("there is no Prometheus 3; `cargo xtask test --peers=install` builds one".into());
    }
    let (mut dashboards, mut rules) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(&options.folder)? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "json") {
            let content = read(&file)?;
            if content["groups"].is_array() { &mut rules } else { &mut dashboards }.push((file, content));
        }
    }
    if dashboards.is_empty() {
        return Err(format!("no dashboard in {}: files must end in .json", options.folder.display()).into());
    }
    dashboards.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    workspace.build_programs()?;
    let stage = Stage::new(&workspace)?;
    let scraped = Scraped::start(&stage, &options.naming, &rule_files(&stage, rules)?)?;
    let (mut with, mut without) = (0, 0);
    for (file, dashboard) in &dashboards {
        println!("\n{}, `{}`", name(file), dashboard["title"].as_str().unwrap_or_default());
        let (answered, empty) = report(dashboard, &scraped)?;
        with += answered;
        without += empty;
    }
    println!("\n{}: {with} queries have series, {without} have none", options.naming);
    Ok(())
}

/// Rules that are followed each second, and where Prometheus finds them.
fn rule_files(stage: &Stage<'_>, rules: Vec<(PathBuf, Value)>) -> Result<String> {
    let mut files = Vec::new();
    for (file, mut content) in rules {
        for group in content["groups"].as_array_mut().into_iter().flatten() {
            group["interval"] = "1s".into();
        }
        let copy = stage.path(&name(&file));
        fs::write(&copy, content.to_string())?;
        files.push(format!("'{}'", copy.display()));
    }
    Ok(if files.is_empty() { String::new() } else { format!("rule_files: [{}]\n", files.join(", ")) })
}

fn name(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Prints what each query finds. Answers how many have series, and how many have none.
fn report(dashboard: &Value, scraped: &Scraped) -> Result<(usize, usize)> {
    let begun = Instant::now();
    let (mut with, mut without) = (0, 0);
    for asked in questions(dashboard) {
        let expression = filled(&asked.expression, dashboard);
        let found = loop {
            let found = series(&expression, scraped.address).map(|series| series.len());
            if !matches!(found, Ok(0)) || begun.elapsed() > PATIENCE {
                break found;
            }
            std::thread::sleep(Duration::from_millis(500));
        };
        match found {
            Ok(0) => {
                println!("  none   {}: {expression}", asked.place);
                for metric in metrics(&expression) {
                    if series(metric, scraped.address)?.is_empty() {
                        println!("         there is no {metric}");
                    }
                }
                without += 1;
            }
            Ok(count) => {
                println!("  {count:<6} {}: {expression}", asked.place);
                with += 1;
            }
            Err(error) => {
                println!("  error  {}: {expression}: {error}", asked.place);
                without += 1;
            }
        }
    }
    Ok((with, without))
}

/// All queries: those of variables that list a label's values, and those of panels, of rows that are closed too.
fn questions(dashboard: &Value) -> Vec<Asked> {
    let mut questions = Vec::new();
    for variable in list(&dashboard["templating"]["list"]) {
        let query = variable["query"]["query"].as_str().or_else(|| variable["query"].as_str());
        let values = query.and_then(|query| query.strip_prefix("label_values(")?.strip_suffix(')'));
        if let Some((selector, label)) = values.and_then(|inner| inner.rsplit_once(',')) {
            let expression = format!("count by ({}) ({})", label.trim(), selector.trim());
            let place = format!("variable {}", variable["name"].as_str().unwrap_or_default());
            questions.push(Asked { place, expression });
        }
    }
    let rows = list(&dashboard["rows"]).chain(list(&dashboard["panels"]));
    for panel in rows.flat_map(|panel| std::iter::once(panel).chain(list(&panel["panels"]))) {
        for target in list(&panel["targets"]) {
            if let Some(expression) = target["expr"].as_str() {
                let expression = expression.split_whitespace().collect::<Vec<_>>().join(" ");
                let place = panel["title"].as_str().unwrap_or_default().to_owned();
                questions.push(Asked { place, expression });
            }
        }
    }
    questions
}

/// The expression with the job and the host chosen, and everything of the other lists. Series have no label `cluster`.
fn filled(expression: &str, dashboard: &Value) -> String {
    let mut variables: Vec<(&str, &str)> =
        vec![("__rate_interval", "30s"), ("__interval", "30s"), ("__range", "30s")];
    for variable in list(&dashboard["templating"]["list"]) {
        match variable["name"].as_str() {
            Some("job") => variables.push(("job", JOB)),
            Some("instance") => variables.push(("instance", HOST)),
            Some("cluster") => variables.push(("cluster", "")),
            Some(name) => variables.push((name, ".+")),
            None => {}
        }
    }
    // A name may begin with another one.
    variables.sort_unstable_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    variables.iter().fold(expression.to_owned(), |text, (name, value)| {
        text.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value)
    })
}

/// Names of windows_exporter's metrics in an expression.
fn metrics(expression: &str) -> impl Iterator<Item = &str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
    expression
        .split(move |letter| !is_part(letter))
        .filter(|word| word.starts_with("windows_") || word.contains(":windows_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_of_variables_and_of_panels_in_closed_rows_are_asked() {
        let dashboard = serde_json::json!({
            "templating": {"list": [
                {"name": "job", "query": "label_values(windows_os_info{}, job)"},
                {"name": "instance", "query": {"query": "label_values(windows_os_info{job=~\"$job\"},instance)"}},
                {"name": "cluster", "query": "a"},
            ]},
            "panels": [{"title": "row", "panels": [{"title": "in it", "targets": [
                {"expr": "rate(a{job=~\"$job\",\n cluster=\"${cluster}\"}[$__rate_interval])"},
            ]}]}],
        });
        let asked = questions(&dashboard).into_iter();
        let asked: Vec<_> = asked.map(|one| filled(&one.expression, &dashboard)).collect();
        assert_eq!(
            asked,
            [
                "count by (job) (windows_os_info{})",
                "count by (instance) (windows_os_info{job=~\"windows\"})",
                "rate(a{job=~\"windows\", cluster=\"\"}[30s])",
            ]
        );
    }
}
