//! The native profile: `perfmon_<object>_<item>[_<part>][_<unit>][_total]`, in the source's own words, so that
//! who knows the counter finds the metric. The rules, in order:
//!
//! 1. Lower case; whatever is not a letter or digit parts words; `%` goes; `#` reads "number"; `I/O` is one word.
//!    A name that is written in one word is parted at its capitals (`UriCacheHits`: `uri_cache_hits`).
//! 2. A counter loses a trailing "/sec", which `rate()` brings back; elsewhere it reads "per second".
//! 3. Words of the item that only repeat the unit go (`Free Megabytes` in bytes: `free_bytes`), and those that say percent
//!    of what is in another unit; so do they in the base of such an item, that both halves of an average keep one stem.
//! 4. A counter's own trailing "total" goes, and an info's "info": the kind brings its suffix.
//! 5. A word that repeats the one before goes.
//! 6. A gauge that counts things is called by them (`Handle Count`: `handles`). One that would end in another suffix that
//!    OpenMetrics reserves says `_current` after it.
//!    A histogram that would says `_distribution`.
//! 7. An object that would fall into a namespace which belongs to somebody else comes after `counterset_`.
//!
//! What comes out matches `[a-z][a-z0-9_]*`, whatever goes in: letters beyond ASCII are spelled `u<code point>`.

use plugin_abi::RESERVED_NAMESPACES;

use super::{FamilyName, Nameable};
use crate::model::Kind;

/// The name of a family by the rules of this module.
pub(super) fn native(family: &Nameable<'_>) -> FamilyName {
    let unit = if family.kind == Kind::Info { Vec::new() } else { words(family.unit) };
    let object = parted(family.object);
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
        Kind::Histogram => {
            if ends_in(&name, RESERVED_SUFFIXES) {
                name.push(HISTOGRAM_SUFFIX.to_owned());
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
    let mut item = parted(item);
    // What a share of bytes is the base of are not bytes, nor is the share.
    let is_share = family.item.trim_start().starts_with('%');
    let is_base = family.part == "base" && !is_share;
    item.retain(|word| {
        let repeats = |unit: &str| unit == word || synonyms(unit).contains(&word.as_str());
        let stem = is_base && (repeats("bytes") || repeats("seconds"));
        let percent = !unit.is_empty() && PERCENT.contains(&word.as_str());
        !(stem || percent || unit.iter().any(|unit| repeats(unit)))
    });
    match family.kind {
        Kind::Counter => pop_trailing(&mut item, "total"),
        Kind::Info => pop_trailing(&mut item, "info"),
        Kind::Histogram => {}
        Kind::Gauge | Kind::Unknown if per_second => item.extend(["per".to_owned(), "second".to_owned()]),
        Kind::Gauge | Kind::Unknown if family.part.is_empty() && unit.is_empty() => name_things(&mut item),
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

/// The words of a text; one that is written without spaces is parted at its capitals.
fn parted(text: &str) -> Vec<String> {
    let text = text.trim();
    if !text.chars().all(|char| char.is_ascii_alphabetic()) {
        return words(text);
    }
    let mut spaced = String::with_capacity(text.len() + 4);
    let mut before = ' ';
    for char in text.chars() {
        if before.is_ascii_lowercase() && char.is_ascii_uppercase() {
            spaced.push(' ');
        }
        spaced.push(char);
        before = char;
    }
    words(&spaced)
}

fn name_things(item: &mut Vec<String>) {
    let [.., things, last] = item.as_mut_slice() else { return };
    let is_noun = things.bytes().all(|byte| byte.is_ascii_lowercase())
        && !NO_THINGS.iter().any(|ending| things.ends_with(ending));
    if last != "count" || !is_noun {
        return;
    }
    if !things.ends_with('s') {
        match things.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
            Some(stem) => *things = format!("{stem}ies"),
            None => things.push_str(if things.ends_with(['x', 'h']) { "es" } else { "s" }),
        }
    }
    item.pop();
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
            "s",
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
const HISTOGRAM_SUFFIX: &str = "distribution";
const RESERVED_SUFFIXES: &[&str] = &["count", "sum", "bucket", "total", "created", "info"];
/// Words that contradict every unit but percent.
const PERCENT: &[&str] = &["percentage", "percent", "pct"];
/// How words end that are no things to be counted: what was done, and what is reserved.
const NO_THINGS: &[&str] = &["ed", "ing", "total", "info", "sum", "bucket"];
const PER_SECOND: &[&str] = &["/sec", "/ sec", "/s", "/second", " per sec", " per second"];
