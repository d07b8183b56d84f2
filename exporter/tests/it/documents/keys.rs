//! The keys of the configuration, as the reference file has them.

use std::fmt::Write;

pub(super) const REFERENCE: &str = include_str!("../../../perfmon.reference.yaml");

/// Sections whose keys are names of a user's choice.
const NAMED: [&str; 4] = ["identities", "transports", "modules", "headers"];

/// One key of the reference.
struct Key {
    /// With dots between its parts, `*` for a name of one's choice, `[]` after a list of mappings.
    path: String,
    /// As it is written there; nothing where the next lines are its value.
    value: String,
    comment: String,
}

/// The table of all keys.
pub(super) fn table() -> String {
    let mut table = "| key | value there | meaning |\n| --- | --- | --- |\n".to_owned();
    for Key { path, value, comment } in read() {
        if value.is_empty() && comment.is_empty() {
            continue;
        }
        let value = if value.is_empty() { value } else { format!("`{value}`") };
        let _ =
            writeln!(table, "| `{path}` | {} | {} |", value.replace('|', "\\|"), comment.replace('|', "\\|"));
    }
    table
}

pub(super) fn all() -> Vec<String> {
    read().into_iter().map(|key| key.path).filter(|path| !path.ends_with('*')).collect()
}

/// Reads as much of YAML as the reference is written in: a key a line, each with its comment after it or below.
fn read() -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    // Indentation and path of the mappings that the next line may be in.
    let mut open: Vec<(usize, String)> = Vec::new();
    for line in REFERENCE.lines() {
        let content = line.trim_start();
        let indent = line.len() - content.len();
        if let Some(comment) = content.strip_prefix("# ") {
            let is_continued = indent > 16;
            if let Some(key) = keys.last_mut().filter(|_| is_continued) {
                key.comment = format!("{} {}", key.comment, comment.trim());
            }
            continue;
        }
        let (content, comment) = match content.split_once(" #") {
            Some((content, comment)) => (content.trim_end(), comment.trim()),
            None => (content.trim_end(), ""),
        };
        let is_item = content.starts_with("- ");
        let (content, indent) =
            content.strip_prefix("- ").map_or((content, indent), |rest| (rest, indent + 2));
        // An item ends the item before it.
        let inner = if is_item { indent - 1 } else { indent };
        while open.last().is_some_and(|(of, _)| *of >= inner) {
            open.pop();
        }
        let Some((name, value)) = split(content) else { continue };
        let parent = open.last().map_or("", |(_, path)| path);
        let path = match (parent, name) {
            ("", name) => name.to_owned(),
            (parent, _) if NAMED.iter().any(|named| parent.ends_with(named)) => format!("{parent}.*"),
            (parent, name) => format!("{}{}.{name}", parent, if is_item { "[]" } else { "" }),
        };
        if is_item {
            // What follows the first key of an item belongs to the item.
            let item = path.rsplit_once('.').map_or(path.as_str(), |(item, _)| item).to_owned();
            open.push((indent - 1, item));
        }
        if value.is_empty() {
            open.push((indent, path.clone()));
        }
        if keys.iter().all(|key| key.path != path) {
            keys.push(Key { path, value: value.to_owned(), comment: comment.to_owned() });
        }
    }
    keys
}

/// Key and value of a line that has them.
fn split(content: &str) -> Option<(&str, &str)> {
    let (name, value) = content.split_once(':')?;
    let is_name =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte));
    let is_key = value.is_empty() || value.starts_with(' ');
    (is_name && is_key && !name.is_empty()).then(|| (name, value.trim()))
}
