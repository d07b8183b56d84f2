//! Converts a plugin's family to the model.

use super::rules::family_of;
use crate::model::{Family, Kind, clean_name, is_legacy_name};

/// A family under another name.
pub(super) fn moved(origin: &Family, sample_name: &str) -> Family {
    let (name, kind) = family_of(sample_name, origin.kind);
    let keeps_unit = !origin.unit.is_empty() && name.ends_with(&format!("_{}", origin.unit));
    let unit = if keeps_unit && kind != Kind::Info { origin.unit.clone() } else { String::new() };
    Family { name: name.to_owned(), kind, unit, otlp: None, ..origin.clone() }
}

/// Whether a metric may have that name.
pub(super) fn is_name(name: &str, utf8: bool) -> bool {
    is_legacy_name(name) || (utf8 && !name.is_empty() && clean_name(name) == name)
}

/// What is on the HELP line: one line of words, with the original name after it; and the length of the words.
pub(super) fn help(text: &str, origin: &str, bytes_max: usize) -> (String, usize) {
    let mut help = one_line(text);
    if !help.is_empty() && !origin.is_empty() {
        help.push_str(if help.ends_with(['.', '!', '?']) { " " } else { ". " });
    }
    let sentence_bytes = help.len();
    help.push_str(&one_line(origin));
    help.truncate(help.floor_char_boundary(bytes_max));
    let sentence_bytes = sentence_bytes.min(help.len());
    (help, sentence_bytes)
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace(char::is_control, "\u{fffd}")
}
