//! The native profile: `perfmon_<object>_<item>[_<part>][_<unit>][_total]`, in the source's own words, so that
//! who knows the counter finds the metric. The rules, in order:
//!
//! 1. Lower case; whatever is not a letter or digit parts words; `%` goes; `#` reads "number"; `I/O` is one word.
//! 2. A counter loses a trailing "/sec", which `rate()` brings back; elsewhere it reads "per second".
//! 3. Words of the item that only repeat the unit go (`Free Megabytes` in bytes: `free_bytes`); so do they in
//!    the base of such an item, that both halves of an average keep one stem.
//! 4. A counter's own trailing "total" goes, and an info's "info": the kind brings its suffix.
//! 5. A word that repeats the one before goes.
//! 6. A gauge that would end in a suffix that OpenMetrics reserves says `_current` behind it.
//! 7. An object that would fall into a namespace which belongs to somebody else stands behind `counterset_`.
//!
//! What comes out matches `[a-z][a-z0-9_]*`, whatever goes in: letters beyond ASCII are spelled `u<code point>`.

use super::{FamilyName, Nameable};
use crate::model::Kind;

/// The name of a family by the rules of this module.
pub(super) fn native(family: &Nameable<'_>) -> FamilyName {
    let unit = if family.kind == Kind::Info { Vec::new() } else { words(family.unit) };
    let object = words(family.object);
    let part = words(family.part);

    let mut name = vec![PREFIX.to_owned()];
    if family.namespace.is_empty() {
        if object.first().is_some_and(|first| RESERVED_NAMESPACES.contains(&first.as_str())) {
            name.push(UNRESERVED.to_owned());
        }
    } else {
        name.extend(words(family.namespace));
    }
    name.extend(object);
    name.extend(item_words(family, &unit));
    name.extend(part);
    name.extend(unit.iter().cloned());
    name.dedup();

    match family.kind {
        Kind::Gauge | Kind::Unknown => {
            if ends_in(&name, RESERVED_SUFFIXES) {
                name.push(GAUGE_SUFFIX.to_owned());
            }
        }
        Kind::Counter => pop_trailing(&mut name, "total"),
        Kind::Info => pop_trailing(&mut name, "info"),
    }
    if name.len() == 1 {
        name.push("value".to_owned());
    }
    let unit = if !unit.is_empty() && name.ends_with(&unit) { unit.join("_") } else { String::new() };
    FamilyName { name: name.join("_"), unit }
}

fn item_words(family: &Nameable<'_>, unit: &[String]) -> Vec<String> {
    let (item, per_second) = without_per_second(family.item);
    let mut item = words(item);
    let is_base = family.part == "base";
    item.retain(|word| {
        let repeats = |unit: &str| unit == word || synonyms(unit).contains(&word.as_str());
        let stem = is_base && (repeats("bytes") || repeats("seconds"));
        !(stem || unit.iter().any(|unit| repeats(unit)))
    });
    match family.kind {
        Kind::Counter => pop_trailing(&mut item, "total"),
        Kind::Info => pop_trailing(&mut item, "info"),
        Kind::Gauge | Kind::Unknown if per_second => item.extend(["per".to_owned(), "second".to_owned()]),
        Kind::Gauge | Kind::Unknown => {}
    }
    item
}

/// Splits off a trailing "/sec" in the ways in which counters say it.
fn without_per_second(item: &str) -> (&str, bool) {
    let item = item.trim();
    let found = PER_SECOND.iter().find_map(|suffix| {
        let at = item.len().checked_sub(suffix.len())?;
        let (rest, end) = item.split_at_checked(at)?;
        end.eq_ignore_ascii_case(suffix).then_some(rest)
    });
    (found.unwrap_or(item), found.is_some())
}

/// The lower-case words of a text, each of `[a-z0-9]+`.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            _ if char.is_ascii_alphanumeric() => word.push(char.to_ascii_lowercase()),
            '/' if word == "i" && chars.peek().is_some_and(|next| next.eq_ignore_ascii_case(&'o')) => {}
            '#' => words.extend([std::mem::take(&mut word), "number".to_owned()]),
            _ if char.is_alphanumeric() => {
                let spelled = format!("u{:x}", u32::from(char));
                words.extend([std::mem::take(&mut word), spelled]);
            }
            _ => words.push(std::mem::take(&mut word)),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

fn ends_in(name: &[String], suffixes: &[&str]) -> bool {
    name.last().is_some_and(|last| suffixes.contains(&last.as_str()))
}

fn pop_trailing(name: &mut Vec<String>, word: &str) {
    while name.last().is_some_and(|last| last == word) {
        name.pop();
    }
}

fn synonyms(unit: &str) -> &'static [&'static str] {
    match unit {
        "bytes" => {
            &["byte", "kb", "kbytes", "kilobytes", "mb", "mbytes", "megabytes", "gb", "gbytes", "gigabytes"]
        }
        "seconds" => &[
            "sec",
            "secs",
            "second",
            "ms",
            "msec",
            "msecs",
            "millisecond",
            "milliseconds",
            "us",
            "usec",
            "microsecond",
            "microseconds",
            "ns",
            "nanosecond",
            "nanoseconds",
        ],
        _ => &[],
    }
}

const PREFIX: &str = "perfmon";
const UNRESERVED: &str = "counterset";
const GAUGE_SUFFIX: &str = "current";
/// First words that are not a counterset's: the exporter's own, the probe's, and the other sources'.
const RESERVED_NAMESPACES: &[&str] = &["exporter", "probe", "pcq", "complus", "pla", "rpc"];
const RESERVED_SUFFIXES: &[&str] = &["count", "sum", "bucket", "total", "created", "info"];
const PER_SECOND: &[&str] = &["/sec", "/ sec", "/s", "/second", " per sec", " per second"];
