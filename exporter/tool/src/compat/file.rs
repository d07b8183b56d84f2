//! Dashboards and rule files, whichever a file is, and objects of Kubernetes that hold them.

use std::path::Path;

use config::{Entry, Node, Value};
use support::input::file;

use super::{Found, dashboards};

/// Maximum bytes of a file.
const FILE_BYTES_MAX: usize = config::CONFIG_BYTES_MAX;

/// Reads a file.
///
/// # Errors
/// Why it cannot be read, or that it is neither. Composable: it comes after the file's name.
pub(super) fn read(path: &Path) -> Result<Found, String> {
    let bytes = file::read(path, FILE_BYTES_MAX).map_err(|error| error.to_string())?;
    parse(&bytes)
}

/// Reads what a file holds.
///
/// # Errors
/// That it is neither, or has nothing to judge.
pub(super) fn parse(bytes: &[u8]) -> Result<Found, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err("is empty".to_owned());
    }
    let mut found = Found::default();
    if !read_text(text, 0, &mut found)? {
        return Err("is neither a Grafana dashboard (`panels`) nor a rule file (`groups`)".to_owned());
    }
    if found.is_empty() {
        return Err("has no PromQL expression; what is read is in docs/naming.md".to_owned());
    }
    Ok(found)
}

/// Reads a text. Returns whether it is a dashboard or a rule file, or holds one.
fn read_text(text: &str, depth: usize, found: &mut Found) -> Result<bool, String> {
    if text.trim_start().starts_with('{')
        && let Some(root) = json(text)?
    {
        return dashboards::dashboard(&root, found);
    }
    let mut is_any = false;
    for document in documents(text) {
        let root = Node::parse(&document).map_err(|error| match error.position {
            Some(position) => format!("{position}: {}", error.message),
            None => error.message,
        })?;
        is_any |= object(&root, depth, found)?;
    }
    Ok(is_any)
}

/// The document, unless it is one that is read as YAML: rules have lines then.
fn json(text: &str) -> Result<Option<serde_json::Value>, String> {
    let root: serde_json::Value =
        serde_json::from_str(text).map_err(|error| format!("is no JSON: {error}"))?;
    let has = |value: &serde_json::Value, key| value.get(key).is_some_and(serde_json::Value::is_array);
    let has_rules = |value: &serde_json::Value| ["groups", "rules", "data"].iter().any(|key| has(value, key));
    let is_object = root.get("kind").and_then(serde_json::Value::as_str).is_some_and(is_of_kubernetes);
    let is_yaml = is_object || has_rules(&root) || root.get("spec").is_some_and(has_rules);
    Ok((!is_yaml).then_some(root))
}

/// The documents of a stream of YAML, each on its lines.
fn documents(text: &str) -> impl Iterator<Item = String> {
    let mut all = vec![String::new()];
    for (number, line) in text.split_inclusive('\n').enumerate() {
        match all.last_mut() {
            Some(last) if line.trim_end() != "---" => last.push_str(line),
            _ => all.push("\n".repeat(number + 1)),
        }
    }
    all.into_iter().filter(|document| !document.trim().is_empty()).take(DOCUMENTS_MAX)
}

/// Whether objects of this kind are read as such.
fn is_of_kubernetes(kind: &str) -> bool {
    matches!(kind, "List" | "ConfigMap" | "Secret" | "GrafanaDashboard")
}

/// Reads a document of YAML.
fn object(root: &Node, depth: usize, found: &mut Found) -> Result<bool, String> {
    let text_at = |node: &Node| match &node.value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    match root.get("kind").and_then(text_at).as_deref() {
        _ if depth > DEPTH_MAX => Err("holds files in files in files".to_owned()),
        Some("List") => root
            .get("items")
            .map(Node::list)
            .unwrap_or_default()
            .iter()
            .try_fold(false, |is_any, item| Ok(object(item, depth + 1, found)? || is_any)),
        // The operator of Grafana has the dashboard as a text.
        Some("GrafanaDashboard") => {
            match root.get("spec").and_then(|spec| spec.get("json")).and_then(text_at) {
                Some(text) => read_text(&text, depth + 1, found),
                None => {
                    Err("is a GrafanaDashboard without `spec.json`: its dashboard is elsewhere".to_owned())
                }
            }
        }
        Some("ConfigMap" | "Secret") => {
            let files = ["data", "stringData"].iter().filter_map(|key| root.get(key));
            files
                .flat_map(Node::entries)
                .try_fold(false, |is_any, entry| Ok(file_of_object(entry, depth, found)? || is_any))
        }
        _ if super::has_rules(root) => super::read_rules(root, found).map(|()| true),
        _ => dashboards::dashboard(&root.to_json(), found),
    }
}

/// Reads a file that a ConfigMap holds. Returns whether it is one of ours.
fn file_of_object(Entry { key, node, .. }: &Entry, depth: usize, found: &mut Found) -> Result<bool, String> {
    let Value::Text(text) = &node.value else { return Ok(false) };
    let is_named_so = [".json", ".yaml", ".yml"].iter().any(|end| key.ends_with(end));
    let mut own = Found::default();
    match read_text(text, depth + 1, &mut own) {
        Ok(is_ours) => found.add_part(key, own).map(|()| is_ours),
        Err(why) if is_named_so => {
            found.add(key, Err(why));
            Ok(true)
        }
        // Some other setting of a program.
        Err(_) => Ok(false),
    }
}

const DOCUMENTS_MAX: usize = 1_000;
/// How deep files are in lists and in other files.
const DEPTH_MAX: usize = 4;

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{ProptestConfig, Strategy, any, proptest};
    use proptest::sample::select;

    use super::super::Report;
    use super::*;
    use crate::compat::{print, view::View};

    /// What files and expressions are made of.
    const PARTS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "\"",
        "'",
        ":",
        ",",
        " ",
        "\n",
        "- ",
        "$",
        "${",
        "[[",
        "]]",
        "\\",
        "+",
        "=~",
        "!=",
        "panels",
        "expr",
        "targets",
        "title",
        "groups",
        "rules",
        "record",
        "alert",
        "templating",
        "list",
        "query",
        "type",
        "label_values",
        "rate",
        "sum by",
        "offset",
        "5m",
        "1e9",
        "__name__",
        "windows_cpu_time_total",
        "|",
        ".*",
        "\u{202e}",
        "\u{1b}",
    ];

    fn check(bytes: &[u8]) {
        let read = vec![("a".to_owned(), parse(bytes))];
        let map = config::built_in_profile("windows_exporter@0.30", false).unwrap();
        let report = Report::new("a test".to_owned(), true, vec![View::of_profile(&map)], &read);
        let text = print::text(&report);
        assert!(!text.contains(|char: char| char.is_control() && char != '\n'), "{text:?}");
        assert_eq!(print::json(&report)["ok"], report.is_ok());
    }

    fn quoted(text: &str) -> String {
        serde_json::Value::from(text).to_string()
    }

    proptest! {
        // Each case reads all profiles.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_file_makes_the_program_panic(bytes in vec(any::<u8>(), 0..200)) {
            check(&bytes);
        }

        #[test]
        fn no_dashboard_and_no_rules_make_the_program_panic(
            text in vec(select(PARTS), 0..60).prop_map(|parts| parts.concat()),
        ) {
            check(text.as_bytes());
            let quoted = quoted(&text);
            check(format!("{{\"panels\": [{{\"type\": \"a\", \"title\": {quoted}, \"expr\": {quoted}}}]}}").as_bytes());
            check(format!("{{\"templating\": {{\"list\": [{{\"type\": \"query\", \"query\": {quoted}}}]}}}}").as_bytes());
            check(format!("groups: [{{rules: [{{record: {quoted}, expr: {quoted}}}]}}]").as_bytes());
        }
    }
}
