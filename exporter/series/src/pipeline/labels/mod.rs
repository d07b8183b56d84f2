//! Which labels a series carries, and in which order.
//!
//! `target` first, then the target's labels from the configuration, then the series' own by name. Where two want
//! one name:
//!
//! * the plugin's label keeps it, because it tells series apart; the configured one becomes `exported_<name>`,
//!   on this series only;
//! * `target` is always ours: a plugin's or the configuration's becomes `exported_target`;
//! * so is `le` on a histogram, where it says which bucket it is;
//! * a name that is still taken gets `exported_` once more.
//!
//! A label without a value goes, since Prometheus takes it for absent. Leading `__`, which Prometheus keeps for
//! itself, goes. Under a profile with legacy names, what other names hold becomes `_`; else they stay, and two of one
//! series differ in every way in which a reader may ask for them.

/// Whether any reader may get both names as one.
fn same_name(left: &str, right: &str) -> bool {
    left == right
        || (!(is_legacy_label(left) && is_legacy_label(right))
            && Escaping::ALL.iter().any(|escaping| escaping.label_name(left) == escaping.label_name(right)))
}

/// The name, after as many `exported_` as it takes to be free.
fn free_name(mut name: Cow<'_, str>, taken: impl Fn(&str) -> bool) -> Cow<'_, str> {
    while taken(&name) {
        name.to_mut().insert_str(0, RENAMED);
    }
    name
}

/// The name as it may stand in a series. `utf8` says whether it may be more than a legacy one.
fn valid_name(name: &str, utf8: bool) -> Cow<'_, str> {
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

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::Limits;
use super::limits::Refusal;
use super::rules::{LabelSet, TARGET};
use crate::model::{
    Escaping, Kind, Target, clean_name, escaped_label_value, is_legacy_label, push_prefix, shown_bytes,
};

type Label<'a> = (Cow<'a, str>, Cow<'a, str>);

/// Writes prefixes for one store.
#[derive(Debug)]
pub(super) struct PrefixWriter {
    /// The target's name and its labels by name; values are escaped.
    target: Vec<(String, String)>,
    /// The same values without escapes.
    plain: Vec<String>,
    utf8: bool,
}

impl PrefixWriter {
    /// `utf8` says whether names may be more than legacy ones.
    pub(super) fn new(target: &Target, utf8: bool) -> Self {
        let mut labels: Vec<(String, String)> = Vec::new();
        let mut plain = Vec::new();
        if target.labelled {
            labels.push((TARGET.to_owned(), escaped_label_value(&target.name).into_owned()));
            plain.push(target.name.clone());
        }
        for (name, value) in target.labels.iter().filter(|(_, value)| !value.is_empty()) {
            let name = free_name(valid_name(name, utf8), |name| {
                name == TARGET || labels.iter().any(|(other, _)| same_name(other, name))
            });
            labels.push((name.into_owned(), escaped_label_value(value).into_owned()));
            plain.push(value.clone());
        }
        Self { target: labels, plain, utf8 }
    }

    /// Whether names may be more than legacy ones.
    pub(super) fn is_utf8(&self) -> bool {
        self.utf8
    }

    /// Writes `name{labels} ` of a series of this kind into `out`, which is emptied first.
    pub(super) fn write(
        &self,
        kind: Kind,
        sample_name: &str,
        labels: &[(&str, &str)],
        limits: &Limits,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        if labels.len() > limits.labels_max {
            return Err(Refusal::TooManyLabels);
        }
        let own = self.own(kind, labels, |value| {
            if is_too_long(value, limits) {
                Err(Refusal::LabelTooLong)
            } else {
                Ok(escaped_label_value(value))
            }
        })?;

        out.clear();
        let renamed = self.renamed(kind, &own);
        let target = self.target.iter().enumerate().map(|(index, (name, value))| {
            let name = renamed.iter().find(|(of, _)| *of == index).map_or(name, |(_, name)| name);
            (name.as_str(), value.as_str())
        });
        let own = own.iter().map(|(name, value)| (&**name, &**value));
        push_prefix(sample_name, target.chain(own), out);
        Ok(())
    }

    /// The same labels for rules to work on.
    pub(super) fn label_set<'a>(
        &'a self,
        kind: Kind,
        name: &'a str,
        labels: &'a [(&'a str, &'a str)],
    ) -> Result<LabelSet<'a>, Refusal> {
        let own = self.own(kind, labels, |value| Ok(value.into()))?;
        let mut renamed = self.renamed(kind, &own);
        let mut labels = Vec::with_capacity(self.target.len() + own.len() + 2);
        for (index, ((name, _), value)) in self.target.iter().zip(&self.plain).enumerate() {
            let renamed =
                renamed.iter_mut().find(|(of, _)| *of == index).map(|(_, name)| std::mem::take(name));
            labels.push((renamed.map_or(Cow::Borrowed(name.as_str()), Cow::Owned), value.as_str().into()));
        }
        labels.extend(own);
        Ok(LabelSet { name: name.into(), labels })
    }

    /// Writes what rules made of them: `target` first, the others by name; those that begin with `__` go.
    pub(super) fn write_ruled(
        &self,
        kind: Kind,
        ruled: &mut LabelSet<'_>,
        limits: &Limits,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let is_target = |(name, _): &(String, String)| name == TARGET;
        let target = self.target.iter().position(is_target).map_or("", |index| &self.plain[index]);
        if ruled.value(TARGET) != target {
            return Err(Refusal::TargetLabel);
        }
        ruled.labels.retain(|(name, _)| !name.starts_with("__"));
        if ruled.labels.len() > limits.labels_max.saturating_add(self.target.len()) {
            return Err(Refusal::TooManyLabels);
        }
        ruled
            .labels
            .sort_unstable_by(|left, right| (left.0 != TARGET, &left.0).cmp(&(right.0 != TARGET, &right.0)));
        for (index, (name, value)) in ruled.labels.iter().enumerate() {
            if name.len() > limits.name_bytes_max {
                return Err(Refusal::NameTooLong);
            } else if name != TARGET && is_too_long(value, limits) {
                return Err(Refusal::LabelTooLong);
            } else if is_bucket(kind, name)
                || valid_name(name, self.utf8) != *name
                || ruled.labels[..index].iter().any(|(other, _)| same_name(other, name))
            {
                return Err(Refusal::InvalidName);
            }
        }
        out.clear();
        let escaped: Vec<_> =
            ruled.labels.iter().map(|(name, value)| (name, escaped_label_value(value))).collect();
        push_prefix(&ruled.name, escaped.iter().map(|(name, value)| (&***name, &**value)), out);
        Ok(())
    }

    /// The series' own labels by name.
    fn own<'a>(
        &self,
        kind: Kind,
        labels: &[(&'a str, &'a str)],
        write: impl Fn(&'a str) -> Result<Cow<'a, str>, Refusal>,
    ) -> Result<Vec<Label<'a>>, Refusal> {
        let mut own: Vec<Label<'a>> = Vec::with_capacity(labels.len());
        for &(name, value) in labels.iter().filter(|(_, value)| !value.is_empty()) {
            let value = write(value)?;
            let name = free_name(valid_name(name, self.utf8), |name| {
                name == TARGET || is_bucket(kind, name) || own.iter().any(|(other, _)| same_name(other, name))
            });
            own.push((name, value));
        }
        own.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        Ok(own)
    }

    /// The target's labels whose names the series has taken, by index, with their new names.
    fn renamed(&self, kind: Kind, own: &[Label<'_>]) -> Vec<(usize, String)> {
        let is_own =
            |name: &str| is_bucket(kind, name) || own.iter().any(|(other, _)| same_name(other, name));
        let mut renamed: Vec<(usize, String)> = Vec::new();
        for (index, (name, _)) in self.target.iter().enumerate().filter(|(_, (name, _))| is_own(name)) {
            let name = free_name(Cow::Borrowed(name), |name| {
                let is_target = self.target.iter().any(|(other, _)| same_name(other, name));
                is_own(name) || is_target || renamed.iter().any(|(_, other)| same_name(other, name))
            });
            renamed.push((index, name.into_owned()));
        }
        renamed
    }
}

/// Whether a label of that name says which bucket of a histogram it is.
fn is_bucket(kind: Kind, name: &str) -> bool {
    kind == Kind::Histogram && name == "le"
}

/// Whether a value has more bytes than it may have, as readers would get it.
fn is_too_long(value: &str, limits: &Limits) -> bool {
    value.len() > limits.label_value_bytes_max
        // A byte becomes three at the most, so that short values need no count.
        || (value.len() > limits.label_value_bytes_max / 3 && shown_bytes(value) > limits.label_value_bytes_max)
}
