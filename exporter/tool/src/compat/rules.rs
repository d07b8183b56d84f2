//! What rules of Prometheus and of Grafana read and record.

use config::{Node, Value};

use super::{Found, titled};
use super::{dashboards, promql};

/// Whether it is a rule file of Prometheus or of Grafana, an object of Kubernetes with such rules, or a mere list of rules.
pub(super) fn has_rules(root: &Node) -> bool {
    groups(root).is_some() || is_rule(root) || root.list().iter().any(is_rule)
}

/// The groups, or what stands for the only one.
fn groups(root: &Node) -> Option<Vec<&Node>> {
    [Some(root), root.get("spec")].into_iter().flatten().find_map(|node| match node.get("groups") {
        Some(groups) => Some(groups.list().iter().collect()),
        None => node.get("rules").map(|_| vec![node]),
    })
}

/// Grafana's have `data`, a list of queries of which `condition` names one.
fn is_rule(node: &Node) -> bool {
    node.get("expr").is_some() || (node.get("data").is_some() && node.get("condition").is_some())
}

/// Reads what [`has_rules`].
///
/// # Errors
/// When it has too much.
pub(super) fn rules(root: &Node, found: &mut Found) -> Result<(), String> {
    let rules: Vec<&Node> = match groups(root) {
        Some(groups) => groups.iter().filter_map(|group| group.get("rules")).flat_map(Node::list).collect(),
        None if is_rule(root) => vec![root],
        None => root.list().iter().collect(),
    };
    rules.into_iter().try_for_each(|rule| read(rule, found))
}

fn read(rule: &Node, found: &mut Found) -> Result<(), String> {
    let expression = rule.get("expr").or_else(|| rule.get("data"));
    let line = expression.unwrap_or(rule).position.line;
    let recorded = text(rule, "record").or_else(|| text(rule.get("record")?, "metric"));
    let what = match (recorded, text(rule, "alert").or_else(|| text(rule, "title"))) {
        (Some(name), _) => {
            found.recorded.insert(name.to_owned());
            titled("rule", name)
        }
        (None, Some(name)) => titled("alert", name),
        (None, None) => "rule".to_owned(),
    };
    let place = format!("{what} on line {line}");
    let Some(expression) = expression else {
        found.add(&place, Err("the rule has no `expr`".to_owned()));
        return Ok(());
    };
    match &expression.value {
        Value::List(_) => return dashboards::queries(&expression.to_json(), place, found),
        Value::Text(expression) => found.add(&place, promql::references(expression)),
        Value::Integer(_) | Value::Unsigned(_) | Value::Float(_) => {}
        _ => found.add(&place, Err("`expr` is no text".to_owned())),
    }
    found.count()
}

fn text<'a>(node: &'a Node, key: &str) -> Option<&'a str> {
    match &node.get(key)?.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
