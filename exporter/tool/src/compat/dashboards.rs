//! What a Grafana dashboard reads: the queries of its panels, variables and annotations. Grafana has two schemas: `panels`,
//! and `elements` of kinds, whose contents are in a `spec` each.

use serde_json::{Map, Value};

use super::promql;
use super::{Found, titled};

/// Reads a dashboard, as Grafana exports or provisions it. Returns whether it is one.
///
/// # Errors
/// When it has too much.
pub(super) fn dashboard(root: &Value, found: &mut Found) -> Result<bool, String> {
    // As the interface for programs has it, and as a resource.
    let inside =
        ["dashboard", "spec"].iter().find_map(|key| root.get(key).filter(|inside| inside.is_object()));
    let Some(object) = inside.unwrap_or(root).as_object() else { return Ok(false) };
    if !["panels", "rows", "templating", "annotations", "elements"]
        .iter()
        .any(|key| object.contains_key(*key))
    {
        return Ok(false);
    }
    let has_elements = object.get("__elements").is_some_and(|elements| *elements != Value::from(Map::new()));
    let at = |shown: String| Place { shown, is_loki: false, has_elements };
    for (key, value) in object {
        match key.as_str() {
            "templating" | "variables" => each(value, |item| variable(item, found))?,
            "annotations" => each(value, |item| {
                let name = text(item, "name").or_else(|| item.get("spec")?.get("name")?.as_str());
                panel(item, &at(titled("annotation", name.unwrap_or_default())), found)
            })?,
            _ => walk(value, &at("dashboard".to_owned()), found)?,
        }
    }
    Ok(true)
}

/// Reads queries that stand at a place.
///
/// # Errors
/// When there are too many.
pub(super) fn queries(value: &Value, place: String, found: &mut Found) -> Result<(), String> {
    walk(value, &Place { shown: place, is_loki: false, has_elements: false }, found)
}

/// Where in the dashboard something is.
#[derive(Clone, Debug)]
struct Place {
    shown: String,
    /// Expressions of Loki are no PromQL.
    is_loki: bool,
    /// Whether the dashboard has its library panels with it.
    has_elements: bool,
}

/// The items of a list, or of one that is below `list`.
fn each(
    value: &Value,
    mut read: impl FnMut(&Map<String, Value>) -> Result<(), String>,
) -> Result<(), String> {
    let items = value.get("list").unwrap_or(value).as_array().map(Vec::as_slice).unwrap_or_default();
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
            let is_panel =
                || ["type", "targets", "data", "libraryPanel"].iter().any(|key| object.contains_key(*key));
            match title.filter(|_| is_panel()) {
                Some(title) => panel(object, &Place { shown: titled("panel", title), ..at.clone() }, found),
                None => panel(object, at, found),
            }
        }
        _ => Ok(()),
    }
}

fn panel(object: &Map<String, Value>, at: &Place, found: &mut Found) -> Result<(), String> {
    let at = Place { is_loki: source_of(object).map_or(at.is_loki, |kind| kind == "loki"), ..at.clone() };
    if object.contains_key("libraryPanel") && !object.contains_key("targets") && !at.has_elements {
        let why = "is a library panel, whose queries are not in the file; export the dashboard for sharing, which has them";
        found.add(&at.shown, Err(why.to_owned()));
    }
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

/// The kind of data source that an object says it queries.
fn source_of(object: &Map<String, Value>) -> Option<&str> {
    let of_source = object.get("datasource").and_then(|source| source.get("type")).and_then(Value::as_str);
    let of_query = || text(object, "group").filter(|_| text(object, "kind") == Some("DataQuery"));
    // The first drafts of the second schema had it as the kind.
    of_source.or_else(of_query).or_else(|| text(object, "kind").filter(|kind| *kind == "loki"))
}

fn variable(object: &Map<String, Value>, found: &mut Found) -> Result<(), String> {
    let kind = text(object, "type").or_else(|| text(object, "kind"));
    let object = object.get("spec").and_then(Value::as_object).unwrap_or(object);
    let query = object.get("query");
    let is_loki = source_of(object).or_else(|| source_of(query?.as_object()?)) == Some("loki");
    if is_loki || kind.is_some_and(|kind| !matches!(kind, "query" | "QueryVariable")) {
        return Ok(());
    }
    let query = query.map(|query| query.get("spec").unwrap_or(query));
    let query = query.and_then(|query| {
        let inside = || ["query", "__legacyStringValue"].iter().find_map(|key| query.get(key)?.as_str());
        query.as_str().or_else(inside)
    });
    let query = query.or_else(|| text(object, "definition"));
    found.count()?;
    let place = titled("variable", text(object, "name").unwrap_or_default());
    found.add(&place, promql::references_of_variable(query.unwrap_or_default()));
    Ok(())
}
