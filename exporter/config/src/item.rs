use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use safe_text::nearest::suggestion;

use super::node::{Entry, Node, Position, Value};
use super::problem::{Problems, shortened};

/// One value with the way to it.
#[derive(Clone)]
pub(crate) struct Item<'a> {
    pub(crate) node: &'a Node,
    pub(crate) path: String,
    pub(super) problems: &'a Problems,
}

impl<'a> Item<'a> {
    pub(crate) fn root(node: &'a Node, problems: &'a Problems) -> Self {
        Self { node, path: String::new(), problems }
    }

    pub(crate) fn position(&self) -> Position {
        self.node.position
    }

    pub(crate) fn problem(&self, message: impl Into<String>, hint: Option<String>) {
        self.problems.push_hint(self.node.position, &self.path, message, hint);
    }

    /// A problem of a part of the value.
    pub(crate) fn problem_at(&self, position: Position, message: impl Into<String>, hint: Option<String>) {
        self.problems.push_hint(position, &self.path, message, hint);
    }

    /// The value of one of its keys, or the value itself if there is no such key.
    pub(crate) fn key(&self, key: &str) -> Item<'a> {
        let entries = if let Value::Map(entries) = &self.node.value { entries.as_slice() } else { &[] };
        match entries.iter().find(|entry| entry.key == key) {
            Some(entry) => Item { node: &entry.node, path: child(&self.path, key), problems: self.problems },
            None => self.clone(),
        }
    }

    /// The value as a mapping whose keys are the user's names.
    pub(crate) fn named(&self) -> Vec<(&'a Entry, Item<'a>)> {
        let entries = self.entries().unwrap_or_default();
        let items = entries.iter().map(|entry| {
            let path = child(&self.path, &entry.key);
            (entry, Item { node: &entry.node, path, problems: self.problems })
        });
        items.collect()
    }

    /// The value as a list.
    pub(crate) fn list(&self) -> Vec<Item<'a>> {
        let Value::List(items) = &self.node.value else {
            self.wrong_type("a list");
            return Vec::new();
        };
        let items = items.iter().enumerate().map(|(index, node)| {
            let path = format!("{}[{index}]", self.path);
            Item { node, path, problems: self.problems }
        });
        items.collect()
    }

    /// The value as a list of texts; other values are reported.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.list().iter().filter_map(Item::text).map(str::to_owned).collect()
    }

    /// The value as a list of texts, or as the only one of them.
    pub(crate) fn text_or_texts(&self) -> Vec<String> {
        match &self.node.value {
            Value::Text(_) => self.text().map(str::to_owned).into_iter().collect(),
            _ => self.texts(),
        }
    }

    /// The value as text that is not empty.
    pub(crate) fn text(&self) -> Option<&'a str> {
        match &self.node.value {
            Value::Text(text) if !text.is_empty() => Some(text),
            Value::Text(_) => {
                self.problem("is empty", None);
                None
            }
            _ => {
                self.wrong_type("text");
                None
            }
        }
    }

    /// The value as text that may be empty.
    pub(crate) fn text_or_empty(&self) -> Option<&'a str> {
        match &self.node.value {
            Value::Text(text) => Some(text),
            _ => {
                self.wrong_type("text");
                None
            }
        }
    }

    /// The value as a path; a relative one starts at `base`, the folder of the configuration.
    pub(crate) fn file(&self, base: &Path) -> Option<PathBuf> {
        self.text().map(|text| base.join(text))
    }

    /// The value as one of these choices.
    pub(crate) fn choice<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
        let text = self.text()?;
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, value)) => Some(*value),
            None => {
                let hint = suggestion(text, words.iter().map(|(word, _)| *word));
                self.problem(format!("`{text}` is not a choice"), hint);
                None
            }
        }
    }

    /// The value as yes or no.
    pub(crate) fn flag(&self) -> Option<bool> {
        let Value::Bool(value) = self.node.value else {
            self.wrong_type("`true` or `false`");
            return None;
        };
        Some(value)
    }

    /// The value as a whole number within `range`.
    pub(crate) fn count(&self, range: RangeInclusive<u32>) -> Option<u32> {
        let value = self.integer(i64::from(*range.start())..=i64::from(*range.end()))?;
        u32::try_from(value).ok()
    }

    /// The value as a whole number within `range`, which may be negative.
    pub(crate) fn integer(&self, range: RangeInclusive<i64>) -> Option<i64> {
        let Value::Integer(value) = self.node.value else {
            self.wrong_type("a whole number");
            return None;
        };
        if range.contains(&value) {
            Some(value)
        } else {
            self.problem(format!("{value} is outside {} to {}", range.start(), range.end()), None);
            None
        }
    }

    /// The value as a time such as `3s` or `1m 30s`, within `range`.
    pub(crate) fn duration(&self, range: RangeInclusive<Duration>) -> Option<Duration> {
        let text = match &self.node.value {
            Value::Text(text) => text,
            Value::Integer(number) => {
                self.problem("a time needs a unit", Some(format!("write `{number}s` for seconds")));
                return None;
            }
            _ => {
                self.wrong_type("a time such as `3s`");
                return None;
            }
        };
        let Ok(duration) = humantime::parse_duration(text) else {
            self.problem(
                format!("`{text}` is not a valid time"),
                Some("write it like `3s` or `1m 30s`".to_owned()),
            );
            return None;
        };
        if range.contains(&duration) {
            Some(duration)
        } else {
            let (start, end) = (*range.start(), *range.end());
            let (start, end) = (humantime::format_duration(start), humantime::format_duration(end));
            self.problem(format!("`{text}` is outside {start} to {end}"), None);
            None
        }
    }

    pub(super) fn entries(&self) -> Option<&'a [Entry]> {
        match &self.node.value {
            Value::Map(entries) => Some(entries),
            _ => {
                self.wrong_type("a mapping");
                None
            }
        }
    }

    fn wrong_type(&self, expected: &str) {
        let hint = match (&self.node.value, expected) {
            (Value::Bool(_) | Value::Integer(_) | Value::Unsigned(_) | Value::Float(_), "text") => {
                Some("put it in quotes".to_owned())
            }
            (Value::Text(text), "a list") => Some(format!("write `[{text}]`")),
            (Value::Null, "a mapping" | "a list") => {
                Some("indent what belongs to it, on the lines below".to_owned())
            }
            _ => None,
        };
        self.problem(format!("expected {expected}, found {}", self.node.kind()), hint);
    }
}

/// The way to the value of a key. Each value below a key repeats it, so that a long one is cut.
pub(super) fn child(path: &str, key: &str) -> String {
    let key = shortened(key, KEY_BYTES_MAX);
    if path.is_empty() { key.into_owned() } else { format!("{path}.{key}") }
}

const KEY_BYTES_MAX: usize = 64;
