//! The tables of names of objects and counters, as installers have written them.

use std::collections::BTreeMap;

use counters::perflib_v1::NameKind;

use super::translation;
use crate::choices::{Choices, NameTables};
use crate::model::{BASE_INDEX_LAST, ValueSource};
use crate::registry::RegistryValue;

/// The languages that names are installed in, by their primary identifier.
pub(super) const LANGUAGES: [u16; 2] = [ENGLISH, GERMAN];
const ENGLISH: u16 = 0x009;
const GERMAN: u16 = 0x007;

type Texts = BTreeMap<u32, &'static str>;

/// The table `kind` in a language, or nothing where the host has none in it. What is not translated is missing.
pub(super) fn table(
    source: &dyn ValueSource,
    choices: &Choices,
    kind: NameKind,
    language: u16,
) -> Option<RegistryValue> {
    if !LANGUAGES.contains(&language) {
        return None;
    }
    let is_german = language == GERMAN;
    let texts = match kind {
        NameKind::Counter => names(source, choices, is_german),
        // No explanation is translated.
        NameKind::Help if is_german => Texts::new(),
        NameKind::Help => explanations(source, choices),
    };
    let mut list: Vec<String> = Vec::with_capacity(2 * texts.len() + 2);
    if kind == NameKind::Counter {
        list.extend(["1".to_owned(), BASE_INDEX_LAST.to_string()]);
    }
    for (index, text) in &texts {
        list.extend([index.to_string(), (*text).to_owned()]);
    }
    damage(&mut list, choices.performance_data.name_tables);
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    Some(RegistryValue::texts(&list))
}

/// The last index of a name and of an explanation.
pub(super) fn last_indexes(source: &dyn ValueSource, choices: &Choices) -> [u32; 2] {
    let last =
        |texts: Texts, least: u32| texts.last_key_value().map_or(least, |(index, _)| least.max(*index));
    [
        last(names(source, choices, false), BASE_INDEX_LAST - 1),
        last(explanations(source, choices), BASE_INDEX_LAST),
    ]
}

fn names(source: &dyn ValueSource, choices: &Choices, is_german: bool) -> Texts {
    let indexes = Indexes::new(source, choices);
    let choose = |english, german: Option<&'static str>| if is_german { german } else { Some(english) };
    let mut texts = Texts::new();
    for object in source.objects() {
        indexes.add(&mut texts, object.index, choose(object.name, object.german));
        for counter in object.counters.iter().filter(|counter| !counter.name.is_empty()) {
            indexes.add(&mut texts, counter.index, choose(counter.name, counter.german));
        }
    }
    for set in translation::translated(source, choices) {
        texts.extend(choose(set.set.name, set.set.german).map(|name| (set.index, name)));
        for (index, counter) in set.counters() {
            texts.extend(choose(counter.name, counter.german).map(|name| (index, name)));
        }
    }
    texts
}

fn explanations(source: &dyn ValueSource, choices: &Choices) -> Texts {
    let indexes = Indexes::new(source, choices);
    let mut texts = Texts::new();
    for object in source.objects() {
        indexes.add(&mut texts, object.index + 1, Some(object.explain));
        for counter in object.counters.iter().filter(|counter| !counter.name.is_empty()) {
            indexes.add(&mut texts, counter.help, Some(counter.explain));
        }
    }
    for set in translation::translated(source, choices) {
        texts.insert(set.index + 1, set.set.explain);
        texts.extend(set.counters().map(|(index, counter)| (index + 1, counter.explain)));
    }
    texts
}

/// Which index of the tables a name has.
struct Indexes {
    now: crate::model::NameIndexes,
    is_stale: bool,
}

impl Indexes {
    fn new(source: &dyn ValueSource, choices: &Choices) -> Self {
        Self {
            now: source.name_indexes(),
            is_stale: choices.performance_data.name_tables == NameTables::Stale,
        }
    }

    /// Objects share the names of counters: the first one is kept.
    fn add(&self, texts: &mut Texts, index: u32, text: Option<&'static str>) {
        let moved = if self.is_stale && index > BASE_INDEX_LAST { STALE_BY } else { 0 };
        if let Some(text) = text {
            texts.entry(self.now.now(index) + moved).or_insert(text);
        }
    }
}

/// How far the indexes of a stale table are from those of the data.
const STALE_BY: u32 = 2;

/// Damages a list of indexes and texts as installers do.
fn damage(list: &mut Vec<String>, how: NameTables) {
    match how {
        NameTables::Whole | NameTables::Stale => {}
        NameTables::Duplicates => {
            let again: Vec<String> = list
                .chunks_exact(2)
                .flat_map(|pair| [pair[0].clone(), format!("{} (again)", pair[1])])
                .collect();
            list.extend(again);
        }
        // The text of an index in the middle is missing.
        NameTables::Shifted => {
            let middle = list.len() / 4 * 2 + 1;
            if middle < list.len() {
                list.remove(middle);
            }
        }
    }
}
