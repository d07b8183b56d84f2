use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use safe_text::nearest::suggestion;

use super::item::{Item, child};
use super::node::{Entry, Position, Value};
use super::problem::Problems;

/// A key that a later version will understand.
pub(crate) type ReservedKeys = &'static [&'static str];

/// A mapping that is read key by key; unread keys are errors at the end.
pub(crate) struct Section<'a> {
    entries: &'a [Entry],
    taken: Vec<bool>,
    asked: Vec<&'a str>,
    reserved: ReservedKeys,
    pub(crate) position: Position,
    pub(crate) path: String,
    pub(crate) problems: &'a Problems,
}

impl<'a> Item<'a> {
    /// The value as a mapping with fixed keys.
    pub(crate) fn section(&self, reserved: ReservedKeys) -> Option<Section<'a>> {
        let entries = self.entries()?;
        Some(Section {
            entries,
            taken: vec![false; entries.len()],
            asked: Vec::new(),
            reserved,
            position: self.node.position,
            path: self.path.clone(),
            problems: self.problems,
        })
    }
}

impl<'a> Section<'a> {
    /// Asks for the value of `key`.
    pub(crate) fn get(&mut self, key: &'a str) -> Option<Item<'a>> {
        self.asked.push(key);
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        self.taken[index] = true;
        let node = &self.entries[index].node;
        // `key:` with nothing after it is the same as no such key.
        if matches!(node.value, Value::Null) {
            return None;
        }
        Some(Item { node, path: child(&self.path, key), problems: self.problems })
    }

    /// Asks for the value of `key`, and reports when it is missing.
    pub(crate) fn require(&mut self, key: &'a str, hint: &str) -> Option<Item<'a>> {
        let item = self.get(key);
        if item.is_none() {
            let message = format!("`{key}` is missing");
            self.problems.push_hint(self.position, &self.path, message, Some(hint.to_owned()));
        }
        item
    }

    /// The unread entries, which count as read from now on.
    pub(crate) fn rest(&mut self) -> Vec<&'a Entry> {
        let rest = self.entries.iter().zip(&self.taken).filter(|(_, taken)| !**taken);
        let rest = rest.map(|(entry, _)| entry).collect();
        self.taken.fill(true);
        rest
    }

    /// Where a known key without a value is in front, an unknown one most likely belongs below it.
    fn empty_before(&self, index: usize) -> Option<String> {
        let before = self.entries[..index].iter().zip(&self.taken).rev().find(|(_, taken)| **taken)?.0;
        let is_empty = matches!(before.node.value, Value::Null);
        is_empty.then(|| format!("indent it if it belongs to `{}`, which is empty", before.key))
    }

    /// Reports the unread keys.
    pub(crate) fn finish(self) {
        self.finish_or(None);
    }

    /// The same. Where `why` is said, that is why there is no such key, and not that another one was meant.
    pub(super) fn finish_or(self, why: Option<&str>) {
        #[cfg(test)]
        self.note_known();
        for (index, entry) in self.entries.iter().enumerate().filter(|(index, _)| !self.taken[*index]) {
            let key = entry.key.as_str();
            if self.reserved.contains(&key) {
                let message = format!("`{key}` is not supported yet");
                let hint = Some("remove it, or use a later version".to_owned());
                self.problems.push_hint(entry.position, &self.path, message, hint);
            } else {
                let why = why.map(str::to_owned);
                let hint = why
                    .or_else(|| way_to_rules(&self.path, key))
                    .or_else(|| way_to_scrape(&self.path, key))
                    .or_else(|| self.empty_before(index))
                    .or_else(|| suggestion(key, self.asked.iter().copied()));
                self.problems.push_hint(entry.position, &self.path, format!("unknown key `{key}`"), hint);
            }
        }
    }
}

/// What most keys hold, in one step: nothing where the key is not there, or its value is wrong, which was reported.
impl<'a> Section<'a> {
    /// Text that is not empty.
    pub(crate) fn text(&mut self, key: &'a str) -> Option<String> {
        self.get(key)?.text().map(str::to_owned)
    }

    /// One of a few words.
    pub(crate) fn choice<T: Copy>(&mut self, key: &'a str, words: &[(&str, T)]) -> Option<T> {
        self.get(key)?.choice(words)
    }

    pub(crate) fn flag(&mut self, key: &'a str) -> Option<bool> {
        self.get(key)?.flag()
    }

    /// A whole number within `range`.
    pub(crate) fn count(&mut self, key: &'a str, range: RangeInclusive<u32>) -> Option<u32> {
        self.get(key)?.count(range)
    }

    /// A time within `range`.
    pub(crate) fn duration(&mut self, key: &'a str, range: RangeInclusive<Duration>) -> Option<Duration> {
        self.get(key)?.duration(range)
    }

    /// A path; a relative one starts at `base`.
    pub(crate) fn file(&mut self, key: &'a str, base: &Path) -> Option<PathBuf> {
        self.get(key)?.file(base)
    }
}

/// Where a key goes that all targets have in common and each may have of its own.
fn way_to_scrape(path: &str, key: &str) -> Option<String> {
    let is_of_scrape = matches!(key, "interval" | "deadline" | "max_series" | "stale_after");
    (is_of_scrape && matches!(path, "" | "target_defaults"))
        .then(|| format!("write it in `scrape`, which is for all targets: `scrape: {{{key}: …}}`"))
}

/// Where somebody finds the rules who looked for them elsewhere: at `path` there is no such `key`.
fn way_to_rules(path: &str, key: &str) -> Option<String> {
    const KEYS: [&str; 5] = ["naming", "drop", "rename", RELABEL, "limits"];
    let key = if ["relabel", "relabel_configs", "metric_relabel"].contains(&key) { RELABEL } else { key };
    if path == "normalize" || path.ends_with(".normalize") {
        (key == RELABEL).then(|| format!("Prometheus' rules are `{RELABEL}`"))
    } else {
        KEYS.contains(&key).then(|| format!("write `normalize: {{{key}: …}}`"))
    }
}

/// The key of Prometheus' rules.
pub(super) const RELABEL: &str = "metric_relabel_configs";

/// Replaces the default by the value of a key.
pub(super) fn set<T>(slot: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *slot = value;
    }
}

#[cfg(test)]
impl Section<'_> {
    fn note_known(&self) {
        let mut known = self.problems.known.borrow_mut();
        for key in &self.asked {
            let is_there = self.entries.iter().any(|entry| entry.key == *key);
            *known.entry(child(&self.path, key)).or_default() |= is_there;
        }
    }
}
