//! Which names labels may have, and which of them readers take for one.

use std::borrow::Cow;

use crate::model::{Escaping, clean_name, is_legacy_label};

/// Whether any reader may get both names as one.
pub(super) fn same_name(left: &str, right: &str) -> bool {
    left == right
        || (!(is_legacy_label(left) && is_legacy_label(right))
            && Escaping::ALL.iter().any(|escaping| escaping.label_name(left) == escaping.label_name(right)))
}

/// The name, behind as many `exported_` as it takes to be free.
pub(super) fn free_name(mut name: Cow<'_, str>, taken: impl Fn(&str) -> bool) -> Cow<'_, str> {
    while taken(&name) {
        name.to_mut().insert_str(0, RENAMED);
    }
    name
}

/// The name as it may stand in a series. `utf8` says whether it may be more than a legacy one.
pub(super) fn valid_name(name: &str, utf8: bool) -> Cow<'_, str> {
    if utf8 { unreserved(name) } else { sanitised(name) }
}

/// The name, clean and without a leading `__`. Only escaping may bring that back, and never as the name that stands for
/// the metric's.
fn unreserved(name: &str) -> Cow<'_, str> {
    let name = clean_name(name);
    let stem = if name.starts_with("__") { name.trim_start_matches('_') } else { &name };
    if stem.is_empty() {
        Cow::Borrowed("label")
    } else if Escaping::ALL.iter().any(|escaping| escaping.label_name(stem) == METRIC_NAME) {
        Cow::Owned(format!("{RENAMED}{stem}"))
    } else if stem.len() == name.len() {
        name
    } else {
        Cow::Owned(stem.to_owned())
    }
}

/// The name as `[a-zA-Z_][a-zA-Z0-9_]*`, without a leading `__`.
fn sanitised(name: &str) -> Cow<'_, str> {
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let starts_well =
        name.bytes().next().is_some_and(|first| !first.is_ascii_digit()) && !name.starts_with("__");
    if starts_well && name.bytes().all(valid) {
        return Cow::Borrowed(name);
    }
    let replaced: String =
        name.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect();
    let stem = if replaced.starts_with("__") { replaced.trim_start_matches('_') } else { &replaced };
    match stem.bytes().next() {
        None => Cow::Borrowed("label"),
        Some(first) if first.is_ascii_digit() => Cow::Owned(format!("_{stem}")),
        Some(_) => Cow::Owned(stem.to_owned()),
    }
}

const RENAMED: &str = "exported_";
const METRIC_NAME: &str = "__name__";
