//! What a rule file of Prometheus reads and records.

use config::{Node, Value};

use super::found::{Found, titled};
use super::promql;

/// Reads a rule file, the `spec` of a PrometheusRule of Kubernetes, or a mere list of rules.
///
/// # Errors
/// When it is none, or has too much.
pub(super) fn rules(root: &Node) -> Result<Found, String> {
    let groups = get(root, "groups").or_else(|| get(get(root, "spec")?, "groups"));
    let is_rule = |node: &Node| get(node, "expr").is_some();
    let rules: Vec<&Node> = match groups {
        Some(groups) => list(groups).iter().filter_map(|group| get(group, "rules")).flat_map(list).collect(),
        None if list(root).iter().any(is_rule) => list(root).iter().collect(),
        None if matches!(root.value, Value::Null) => return Err("is empty".to_owned()),
        None => {
            return Err("is neither a Grafana dashboard (`panels`) nor a rule file (`groups`)".to_owned());
        }
    };
    let mut found = Found::default();
    for rule in rules {
        let Some(expression) = get(rule, "expr") else { continue };
        found.count()?;
        let line = expression.position.line;
        let what = match (text(rule, "record"), text(rule, "alert")) {
            (Some(name), _) => {
                found.recorded.insert(name.to_owned());
                titled("rule", name)
            }
            (None, Some(name)) => titled("alert", name),
            (None, None) => "rule".to_owned(),
        };
        let place = format!("{what} on line {line}");
        match &expression.value {
            Value::Text(expression) => found.add(&place, promql::references(expression)),
            Value::Integer(_) | Value::Unsigned(_) | Value::Float(_) => {}
            _ => found.add(&place, Err("`expr` is no text".to_owned())),
        }
    }
    Ok(found)
}

fn get<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    let Value::Map(entries) = &node.value else { return None };
    entries.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
}

fn list(node: &Node) -> &[Node] {
    if let Value::List(items) = &node.value { items } else { &[] }
}

fn text<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    match &get(node, key)?.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
