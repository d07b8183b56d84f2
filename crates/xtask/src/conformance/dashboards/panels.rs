//! The dashboard as its file says, and the texts beside it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Result;

pub(super) const DASHBOARD: &str = "dashboards/exporter.json";
pub(super) const RULES: &str = "dashboards/rules/exporter.rules.yaml";
const METRICS: &str = "exporter/METRICS.md";

/// One question of a panel.
pub(super) struct Query {
    /// The panel's title, for complaints.
    pub(super) panel: String,
    /// With variables.
    pub(super) expression: String,
    /// Labels that its legend shows.
    pub(super) labels: Vec<String>,
}

/// What is asked to fill the list of a variable.
pub(super) struct Choices {
    pub(super) selector: String,
    pub(super) label: String,
}

/// The file as it is.
pub(in crate::conformance) fn read(root: &Path) -> Result<Value> {
    let text = fs::read_to_string(root.join(DASHBOARD))?;
    serde_json::from_str(&text).map_err(|error| format!("{DASHBOARD}: {error}").into())
}

/// All panels but the rows' titles.
pub(in crate::conformance) fn panels(dashboard: &Value) -> impl Iterator<Item = &Value> {
    dashboard["panels"].as_array().into_iter().flatten().filter(|panel| panel["type"] != "row")
}

/// The questions of all panels.
pub(super) fn queries(dashboard: &Value) -> Vec<Query> {
    let of_panel = |panel: &Value| {
        let title = text(&panel["title"]);
        let targets = panel["targets"].as_array().cloned().unwrap_or_default();
        let query = move |target: Value| Query {
            panel: title.clone(),
            expression: text(&target["expr"]),
            labels: labels(&text(&target["legendFormat"])),
        };
        targets.into_iter().map(query).collect::<Vec<_>>()
    };
    panels(dashboard).flat_map(of_panel).collect()
}

/// The questions of all variables that are lists of a label's values.
pub(super) fn choices(dashboard: &Value) -> Vec<Choices> {
    let variables = dashboard["templating"]["list"].as_array().into_iter().flatten();
    let asked = variables.filter_map(|variable| variable["query"]["query"].as_str());
    let choices = asked.filter_map(|query| {
        let (selector, label) = query.strip_prefix("label_values(")?.strip_suffix(')')?.rsplit_once(", ")?;
        Some(Choices { selector: selector.to_owned(), label: label.to_owned() })
    });
    choices.collect()
}

/// The expression as Grafana would send it with everything chosen of the jobs that match `job`.
pub(super) fn filled(expression: &str, job: &str) -> Result<String> {
    let variables = [
        ("$job", job),
        ("$instance", ".+"),
        ("$target", ".+"),
        ("$quantile", "0.99"),
        ("$__rate_interval", "30s"),
    ];
    let filled =
        variables.iter().fold(expression.to_owned(), |text, (variable, value)| text.replace(variable, value));
    if filled.contains('$') { Err(format!("unknown variable: {filled}").into()) } else { Ok(filled) }
}

/// Names of metrics that `text` mentions and the exporter does not have.
pub(super) fn unknown_names(root: &Path, text: &str) -> Result<BTreeSet<String>> {
    let table = fs::read_to_string(root.join(METRICS))?;
    let mut known = BTreeSet::new();
    for row in table.lines().filter_map(|line| line.strip_prefix("| `")) {
        let (name, rest) = row.split_once('`').ok_or("a row without a name")?;
        known.insert(name.to_owned());
        if rest.starts_with(" | histogram |") {
            known.extend(["_bucket", "_sum", "_count"].map(|suffix| format!("{name}{suffix}")));
        }
    }
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let mentioned = words.filter(|word| word.starts_with("perfmon_") || word.starts_with("process_"));
    Ok(mentioned.filter(|word| !known.contains(*word)).map(str::to_owned).collect())
}

/// What stands between `{{` and `}}`.
fn labels(legend: &str) -> Vec<String> {
    let parts = legend.split("{{").skip(1);
    parts.filter_map(|part| Some(part.split_once("}}")?.0.trim().to_owned())).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How every query chooses whom it is about.
    const CHOICE: &str = "{job=~'$job', instance=~'$instance'";

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    fn dashboard() -> Value {
        read(root()).unwrap()
    }

    fn file(name: &str) -> String {
        fs::read_to_string(root().join(name)).unwrap()
    }

    #[test]
    fn dashboard_and_rules_mention_metrics_that_there_are() {
        for name in [DASHBOARD, RULES, "dashboards/rules/exporter.rules.test.yaml", "dashboards/README.md"] {
            let unknown = unknown_names(root(), &file(name)).unwrap();
            assert!(unknown.is_empty(), "{name}: {unknown:?}");
        }
        let invented = unknown_names(root(), "rate(perfmon_exporter_scrapes_bucket[5m])").unwrap();
        assert_eq!(invented.into_iter().collect::<Vec<_>>(), ["perfmon_exporter_scrapes_bucket"]);
    }

    #[test]
    fn each_panel_says_briefly_what_to_do() {
        for panel in panels(&dashboard()) {
            let description = text(&panel["description"]);
            let sentences = description.split(". ").count();
            assert!(
                description.ends_with('.') && sentences <= 3 && description.len() <= 200,
                "{}: {description}",
                panel["title"]
            );
        }
    }

    #[test]
    fn panels_have_ids_of_their_own_and_do_not_overlap() {
        let dashboard = dashboard();
        let (mut ids, mut taken) = (BTreeSet::new(), BTreeSet::new());
        for panel in dashboard["panels"].as_array().unwrap() {
            assert!(ids.insert(panel["id"].as_u64().unwrap()), "{}", panel["title"]);
            let [x, y, w, h] = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().unwrap());
            assert!(x + w <= 24, "{} is too wide", panel["title"]);
            for place in (y..y + h).flat_map(|row| (x..x + w).map(move |column| (row, column))) {
                assert!(taken.insert(place), "{} lies on another", panel["title"]);
            }
        }
    }

    #[test]
    fn each_query_is_about_the_chosen_exporters_at_the_chosen_data_source() {
        let dashboard = dashboard();
        for panel in panels(&dashboard) {
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{}", panel["title"]);
            assert!(
                panel["targets"].as_array().unwrap().iter().all(|target| target.get("datasource").is_none())
            );
        }
        for query in queries(&dashboard) {
            assert!(query.expression.contains(CHOICE), "{}: {}", query.panel, query.expression);
        }
    }

    #[test]
    fn a_legend_shows_labels() {
        assert_eq!(labels("{{stage}}: {{ reason }}, late"), ["stage", "reason"]);
        assert!(labels("all").is_empty());
    }

    /// An alert that is expected to sound has its name on a line of its own.
    #[test]
    fn each_alert_sounds_in_a_test() {
        let tests = file("dashboards/rules/exporter.rules.test.yaml");
        let rules = file(RULES);
        let alerts: Vec<&str> =
            rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
        assert!(alerts.len() > 10);
        for alert in alerts {
            assert!(tests.lines().any(|line| line.trim() == format!("- alertname: {alert}")), "{alert}");
        }
    }
}
