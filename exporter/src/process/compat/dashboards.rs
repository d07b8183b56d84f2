//! What a Grafana dashboard reads: the queries of its panels, variables and annotations.

use serde_json::{Map, Value};

use super::found::{Found, titled};
use super::promql;

/// Reads a dashboard, as Grafana exports or provisions it.
///
/// # Errors
/// When it is none, or has too much.
pub(super) fn dashboard(root: &Value) -> Result<Found, String> {
    // As the interface for programs has it.
    let root = root.get("dashboard").filter(|inside| inside.is_object()).unwrap_or(root);
    let Some(object) = root.as_object() else { return Err("is no dashboard: not a JSON object".to_owned()) };
    if !["panels", "rows", "templating", "annotations"].iter().any(|key| object.contains_key(*key)) {
        return Err("is neither a Grafana dashboard (`panels`) nor a rule file (`groups`)".to_owned());
    }
    let mut found = Found::default();
    let at = Place { shown: "dashboard".to_owned(), is_loki: false };
    for (key, value) in object {
        match key.as_str() {
            "templating" => each(value, |item| variable(item, &mut found))?,
            "annotations" => each(value, |item| {
                let place = titled("annotation", text(item, "name").unwrap_or_default());
                panel(item, &Place { shown: place, is_loki: false }, &mut found)
            })?,
            _ => walk(value, &at, &mut found)?,
        }
    }
    Ok(found)
}

/// Where in the dashboard something stands.
#[derive(Clone, Debug)]
struct Place {
    shown: String,
    /// Expressions of Loki are no PromQL.
    is_loki: bool,
}

fn each(
    value: &Value,
    mut read: impl FnMut(&Map<String, Value>) -> Result<(), String>,
) -> Result<(), String> {
    let items = value.get("list").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_object).try_for_each(&mut read)
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// Goes through everything, because panels are in rows and in panels, and queries where plugins want them. The reader
/// of JSON limits how deep that is.
fn walk(value: &Value, at: &Place, found: &mut Found) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| walk(item, at, found)),
        Value::Object(object) => {
            let title = text(object, "title").filter(|title| !title.is_empty());
            match title.filter(|_| object.contains_key("type") || object.contains_key("targets")) {
                Some(title) => panel(object, &Place { shown: titled("panel", title), ..at.clone() }, found),
                None => panel(object, at, found),
            }
        }
        _ => Ok(()),
    }
}

fn panel(object: &Map<String, Value>, at: &Place, found: &mut Found) -> Result<(), String> {
    let kind = object.get("datasource").and_then(|source| source.get("type")).and_then(Value::as_str);
    let at = Place { is_loki: kind.map_or(at.is_loki, |kind| kind == "loki"), ..at.clone() };
    for (key, value) in object {
        match value {
            Value::String(expression) if key == "expr" && !at.is_loki => {
                found.count()?;
                if !expression.trim().is_empty() {
                    found.add(&at.shown, promql::references(expression));
                }
            }
            _ => walk(value, &at, found)?,
        }
    }
    Ok(())
}

fn variable(object: &Map<String, Value>, found: &mut Found) -> Result<(), String> {
    let kind = object.get("datasource").and_then(|source| source.get("type")).and_then(Value::as_str);
    if text(object, "type").is_some_and(|kind| kind != "query") || kind == Some("loki") {
        return Ok(());
    }
    let query = object.get("query");
    let query = query.and_then(|query| query.as_str().or_else(|| query.get("query")?.as_str()));
    let query = query.or_else(|| text(object, "definition"));
    found.count()?;
    let place = titled("variable", text(object, "name").unwrap_or_default());
    found.add(&place, promql::references_of_variable(query.unwrap_or_default()));
    Ok(())
}
