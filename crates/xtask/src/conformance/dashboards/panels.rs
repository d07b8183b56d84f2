//! Dashboards as their files say, and the texts beside them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::Result;

/// About the exporter itself.
pub(super) const EXPORTER: &str = "dashboards/exporter.json";
pub(super) const HOST: &str = "dashboards/host.json";
pub(super) const FLEET: &str = "dashboards/fleet.json";
/// About the alerts of all hosts.
pub(super) const ALERTS: &str = "dashboards/alerts.json";
/// About the counter logs of all hosts.
pub(super) const LOGS: &str = "dashboards/logs.json";
/// About the COM+ applications of all hosts.
const COM_PLUS: &str = "dashboards/complus.json";
pub(in crate::conformance) const DASHBOARDS: [&str; 6] = [EXPORTER, HOST, FLEET, ALERTS, LOGS, COM_PLUS];
pub(super) const RULES: &str = "dashboards/rules/exporter.rules.yaml";
const METRICS: &str = "exporter/METRICS.md";

/// One question of a panel.
pub(super) struct Query {
    /// The panel's title, for complaints.
    pub(super) panel: String,
    pub(super) expression: String,
    /// Labels that its legend shows.
    pub(super) labels: Vec<String>,
}

/// What is asked to fill the list of a variable.
pub(super) struct Choices {
    pub(super) selector: String,
    pub(super) label: String,
}

/// Columns of a table that are labels.
pub(super) struct Columns {
    /// The panel's title, for complaints.
    pub(super) panel: String,
    /// What it asks, with variables.
    pub(super) expressions: Vec<String>,
    /// Labels that it names.
    pub(super) labels: Vec<String>,
}

/// A dashboard's file as it is.
pub(in crate::conformance) fn read(root: &Path, name: &str) -> Result<Value> {
    let text = fs::read_to_string(root.join(name))?;
    serde_json::from_str(&text).map_err(|error| format!("{name}: {error}").into())
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

/// The columns of all tables that have names for them.
pub(super) fn columns(dashboard: &Value) -> Vec<Columns> {
    let of_table = |panel: &Value| {
        let steps = panel["transformations"].as_array().into_iter().flatten();
        let names = steps.filter_map(|step| step["options"]["renameByName"].as_object()).flatten();
        let labels = names.map(|(name, _)| name.clone()).filter(|name| !name.starts_with("Value"));
        let targets = panel["targets"].as_array().into_iter().flatten();
        Columns {
            panel: text(&panel["title"]),
            expressions: targets.map(|target| text(&target["expr"])).collect(),
            labels: labels.collect(),
        }
    };
    panels(dashboard).filter(|panel| panel["type"] == "table").map(of_table).collect()
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

/// What a user chose: each variable with its `$`, and its value.
pub(super) type Chosen<'a> = [(&'a str, &'a str)];

/// The expression as Grafana would send it.
pub(super) fn filled(expression: &str, chosen: &Chosen<'_>) -> Result<String> {
    let all = chosen.iter().chain(&[("$__rate_interval", "30s")]);
    let filled = all.fold(expression.to_owned(), |text, (variable, value)| text.replace(variable, value));
    if filled.contains('$') { Err(format!("unknown variable: {filled}").into()) } else { Ok(filled) }
}

/// Names of metrics that `text` mentions and that are neither the exporter's own nor in a document.
pub(super) fn unknown_names(root: &Path, text: &str) -> Result<BTreeSet<String>> {
    let table = fs::read_to_string(root.join(METRICS))?;
    let mut documents = String::new();
    for entry in fs::read_dir(root.join("docs"))? {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "md") {
            documents += &fs::read_to_string(file)?;
        }
    }
    let is_own = |word: &str| word.starts_with("perfmon_exporter_") || word.starts_with("process_");
    let is_documented = |word: &str| !is_own(word) && documents.contains(&format!("`{word}"));
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
    let unknown = mentioned.filter(|word| !known.contains(*word) && !is_documented(word));
    Ok(unknown.map(str::to_owned).collect())
}

/// What is between `{{` and `}}`.
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

    /// How every query of a dashboard chooses whom it is about.
    const CHOICES: [(&str, &str); 6] = [
        (EXPORTER, "{job=~'$job', instance=~'$instance'"),
        (HOST, "{job=~'$job', target='$target'"),
        (FLEET, "{job=~'$job', target=~'$target'"),
        (ALERTS, "{job=~'$job', target=~'$target'"),
        (LOGS, "{job=~'$job', target=~'$target'"),
        (COM_PLUS, "{job=~'$job', target=~'$target'"),
    ];

    fn root() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    fn dashboards() -> impl Iterator<Item = (&'static str, Value)> {
        DASHBOARDS.into_iter().map(|name| (name, read(root(), name).unwrap()))
    }

    fn file(name: &str) -> String {
        fs::read_to_string(root().join(name)).unwrap()
    }

    #[test]
    fn dashboards_and_rules_mention_metrics_that_there_are() {
        for name in [EXPORTER, RULES, "dashboards/rules/exporter.rules.test.yaml", "dashboards/README.md"] {
            let unknown = unknown_names(root(), &file(name)).unwrap();
            assert!(unknown.is_empty(), "{name}: {unknown:?}");
        }
        let invented = unknown_names(root(), "rate(perfmon_exporter_scrapes_bucket[5m])").unwrap();
        assert_eq!(invented.into_iter().collect::<Vec<_>>(), ["perfmon_exporter_scrapes_bucket"]);
        // A host's own metrics are in no table: a real Prometheus has them.
        for name in [HOST, FLEET, ALERTS, LOGS, COM_PLUS] {
            let unknown = unknown_names(root(), &file(name)).unwrap();
            let own: Vec<_> = unknown.iter().filter(|name| name.starts_with("perfmon_exporter_")).collect();
            assert!(own.is_empty(), "{name}: {own:?}");
        }
    }

    // A host's first samples: `rate` extrapolates to both ends of its range, and what is not idle would be busy.
    #[test]
    fn what_is_left_of_a_share_is_computed_between_two_samples() {
        let mut computed = 0;
        for (name, dashboard) in dashboards() {
            for query in queries(&dashboard) {
                for (_, left) in
                    query.expression.match_indices("1 - ").map(|(at, _)| query.expression.split_at(at))
                {
                    let functions = left.split('{').next().unwrap_or_default();
                    assert!(
                        !functions.replace("irate(", "").contains("rate("),
                        "{name}: {}: {left}",
                        query.panel
                    );
                    computed += usize::from(functions.contains("irate("));
                }
            }
        }
        assert!(computed > 0);
    }

    #[test]
    fn the_dashboard_and_the_alerts_of_com_plus_mention_metrics_of_their_document() {
        let document = file("docs/complus.md");
        let is_known = |name: &str| ["`", "{"].iter().any(|end| document.contains(&format!("`{name}{end}")));
        for text in [file(COM_PLUS), document.clone()] {
            let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            let mentioned: Vec<&str> = words.filter(|word| word.starts_with("perfmon_complus_")).collect();
            assert!(mentioned.len() > 10);
            let unknown: BTreeSet<&str> = mentioned.into_iter().filter(|name| !is_known(name)).collect();
            assert!(unknown.is_empty(), "{unknown:?}");
        }
    }

    #[test]
    fn each_panel_says_briefly_what_to_do() {
        for (name, dashboard) in dashboards() {
            for panel in panels(&dashboard) {
                let description = text(&panel["description"]);
                let sentences = description.split(". ").count();
                assert!(
                    description.ends_with('.') && sentences <= 3 && description.len() <= 200,
                    "{name}: {}: {description}",
                    panel["title"]
                );
            }
        }
    }

    #[test]
    fn panels_have_ids_of_their_own_and_do_not_overlap() {
        for (name, dashboard) in dashboards() {
            let (mut ids, mut taken) = (BTreeSet::new(), BTreeSet::new());
            for panel in dashboard["panels"].as_array().unwrap() {
                let title = format!("{name}: {}", panel["title"]);
                assert!(ids.insert(panel["id"].as_u64().unwrap()), "{title}");
                let [x, y, w, h] = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().unwrap());
                assert!(x + w <= 24, "{title} is too wide");
                for place in (y..y + h).flat_map(|row| (x..x + w).map(move |column| (row, column))) {
                    assert!(taken.insert(place), "{title} lies on another");
                }
            }
        }
    }

    #[test]
    fn each_query_is_about_what_was_chosen_at_the_chosen_data_source() {
        for ((name, dashboard), (_, choice)) in dashboards().zip(CHOICES) {
            for panel in panels(&dashboard) {
                assert_eq!(panel["datasource"]["uid"], "${datasource}", "{name}: {}", panel["title"]);
                let mut targets = panel["targets"].as_array().unwrap().iter();
                assert!(targets.all(|target| target.get("datasource").is_none()));
            }
            for query in queries(&dashboard) {
                let metrics = query.expression.matches("perfmon_").count();
                let chosen = query.expression.matches(choice).count();
                let is_about_exporter = name == EXPORTER && chosen > 0;
                assert!(
                    is_about_exporter || chosen == metrics,
                    "{name}: {}: {}",
                    query.panel,
                    query.expression
                );
            }
        }
    }

    #[test]
    fn links_lead_to_dashboards_that_there_are() {
        let uids: Vec<String> = dashboards().map(|(_, dashboard)| text(&dashboard["uid"])).collect();
        let mut links = 0;
        for name in DASHBOARDS {
            for link in file(name).split("\"/d/").skip(1) {
                let uid = link.split(['?', '"']).next().unwrap_or_default();
                assert!(uids.iter().any(|known| known == uid), "{name}: {uid}");
                links += 1;
            }
        }
        assert!(links > 10);
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
