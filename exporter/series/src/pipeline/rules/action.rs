//! The actions of rules.

use md5::{Digest, Md5};

use super::pattern::Pattern;
use super::{LabelSet, METRIC_NAME, Template, is_label_name};
use crate::model::Kind;
use crate::pipeline::limits::Refusal;

#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub(super) source: Source,
    pub(super) action: Action,
}

/// Which labels a rule reads, and what is between their values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Source {
    pub(super) labels: Vec<Box<str>>,
    pub(super) separator: Box<str>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    Keep(Pattern),
    Drop(Pattern),
    KeepEqual(String),
    DropEqual(String),
    Replace {
        target: Template,
        regex: Pattern,
        replacement: Template,
    },
    Lowercase(String),
    Uppercase(String),
    HashMod {
        target: String,
        modulus: u64,
    },
    LabelMap {
        regex: Pattern,
        replacement: Template,
    },
    LabelDrop(Pattern),
    LabelKeep(Pattern),
    /// Ours: of the families whose name matches, the series in which each of the labels matches.
    DropSeries {
        name: Pattern,
        labels: Vec<(String, Pattern)>,
    },
    /// Ours: another name for the families that match, with the suffix of their kind.
    Rename {
        from: Pattern,
        to: Template,
    },
}

/// The result for the series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Stays,
    Goes,
}

impl Rule {
    /// Applies the rule to a series whose family has, or had, this kind.
    pub(super) fn apply<'a>(
        &'a self,
        series: &mut LabelSet<'a>,
        kind: Kind,
        utf8: bool,
        scratch: &mut String,
    ) -> Result<Fate, Refusal> {
        self.source.join(series, scratch)?;
        let source = scratch.as_str();
        let goes_if = |goes| Ok(if goes { Fate::Goes } else { Fate::Stays });
        match &self.action {
            Action::Keep(regex) => return goes_if(!regex.matches(source)),
            Action::Drop(regex) => return goes_if(regex.matches(source)),
            Action::KeepEqual(label) => return goes_if(series.value(label) != source),
            Action::DropEqual(label) => return goes_if(series.value(label) == source),
            Action::DropSeries { name, labels } => {
                let is_name = matches_family(name, &series.name, kind);
                return goes_if(
                    is_name && labels.iter().all(|(label, regex)| regex.matches(series.value(label))),
                );
            }
            Action::Replace { target, regex, replacement } => {
                if let Some([target, value]) = regex.fill(source, [target, replacement])
                    && is_label_name(&target, utf8)
                {
                    series.set(target, value)?;
                }
            }
            Action::Lowercase(label) => {
                let lower: String = source.chars().map(lowercase).collect();
                series.set(label.into(), lower.into())?;
            }
            Action::Uppercase(label) => {
                let upper: String = source.chars().map(uppercase).collect();
                series.set(label.into(), upper.into())?;
            }
            Action::HashMod { target, modulus } => {
                series.set(target.into(), (hash(source) % modulus).to_string().into())?;
            }
            Action::LabelMap { regex, replacement } => map(regex, replacement, series)?,
            Action::LabelDrop(regex) => series.retain(|name| !regex.matches(name)),
            Action::LabelKeep(regex) => series.retain(|name| regex.matches(name)),
            Action::Rename { from, to } => {
                if let Some(name) = renamed(from, to, &series.name, kind) {
                    series.set(METRIC_NAME.into(), name.into())?;
                }
            }
        }
        Ok(Fate::Stays)
    }

    /// Whether what it does depends on nothing but the name.
    pub(super) fn reads_name_only(&self) -> bool {
        let is_name = |label: &str| label == METRIC_NAME;
        match &self.action {
            Action::KeepEqual(label) | Action::DropEqual(label) => {
                is_name(label) && self.source.is_name_only()
            }
            Action::DropSeries { labels, .. } => labels.is_empty(),
            Action::Rename { .. } => true,
            Action::LabelMap { .. } | Action::LabelDrop(_) | Action::LabelKeep(_) => false,
            _ => self.source.is_name_only(),
        }
    }

    /// Whether it reads the name at all.
    pub(super) fn reads_name(&self) -> bool {
        match &self.action {
            Action::DropSeries { .. } | Action::Rename { .. } | Action::LabelMap { .. } => true,
            Action::KeepEqual(label) | Action::DropEqual(label) if label == METRIC_NAME => true,
            _ => self.source.labels.iter().any(|label| &**label == METRIC_NAME),
        }
    }

    /// Whether it may give the series another name, or none.
    pub(super) fn may_write_name(&self) -> bool {
        match &self.action {
            Action::Replace { target, .. } => target.as_constant().is_none_or(|label| label == METRIC_NAME),
            Action::Lowercase(label) | Action::Uppercase(label) | Action::HashMod { target: label, .. } => {
                label == METRIC_NAME
            }
            Action::LabelMap { replacement, .. } => {
                replacement.as_constant().is_none_or(|label| label == METRIC_NAME)
            }
            Action::LabelDrop(regex) => regex.matches(METRIC_NAME),
            Action::LabelKeep(regex) => !regex.matches(METRIC_NAME),
            Action::Rename { .. } => true,
            _ => false,
        }
    }

    /// Whether it writes the name and nothing else.
    pub(super) fn writes_name_only(&self) -> bool {
        match &self.action {
            Action::Replace { target, .. } => target.as_constant() == Some(METRIC_NAME),
            Action::LabelMap { .. } | Action::LabelDrop(_) | Action::LabelKeep(_) => false,
            _ => self.may_write_name(),
        }
    }

    /// Whether it may take the series away.
    pub(super) fn selects(&self) -> bool {
        matches!(
            self.action,
            Action::Keep(_)
                | Action::Drop(_)
                | Action::KeepEqual(_)
                | Action::DropEqual(_)
                | Action::DropSeries { .. }
        )
    }
}

impl Source {
    fn is_name_only(&self) -> bool {
        self.labels.iter().all(|label| &**label == METRIC_NAME)
    }

    fn join(&self, series: &LabelSet<'_>, out: &mut String) -> Result<(), Refusal> {
        out.clear();
        for (index, label) in self.labels.iter().enumerate() {
            if index > 0 {
                out.push_str(&self.separator);
            }
            out.push_str(series.value(label));
            if out.len() > SOURCE_BYTES_MAX {
                return Err(Refusal::LabelTooLong);
            }
        }
        Ok(())
    }
}

/// What a rule reads may have so many bytes: several of the longest values, and no mountain of them.
const SOURCE_BYTES_MAX: usize = 1 << 20;

/// Each label whose name matches also is under the name that the replacement makes of its own. All of them are
/// read before one is written; they are written in the order of their names.
fn map<'a>(regex: &'a Pattern, replacement: &'a Template, series: &mut LabelSet<'a>) -> Result<(), Refusal> {
    let mut mapped = Vec::new();
    let named = std::iter::once((METRIC_NAME, &series.name)).filter(|(_, value)| !value.is_empty());
    let labels = series.labels.iter().map(|(name, value)| (&**name, value));
    for (name, value) in named.chain(labels) {
        if let Some([to]) = regex.fill(name, [replacement]) {
            mapped.push((name.to_owned(), to, value.clone()));
        }
    }
    mapped.sort_unstable_by(|left, right| left.0.cmp(&right.0));
    mapped.into_iter().try_for_each(|(_, to, value)| {
        if to.is_empty() { Err(Refusal::InvalidName) } else { series.set(to, value) }
    })
}

/// Whether the pattern means a family by its name, with the suffix of its kind or without.
fn matches_family(pattern: &Pattern, name: &str, kind: Kind) -> bool {
    let stem = stem(name, kind);
    pattern.matches(stem) || (stem.len() < name.len() && pattern.matches(name))
}

/// The name that a family has instead, with the suffix if it had it.
fn renamed(from: &Pattern, to: &Template, name: &str, kind: Kind) -> Option<String> {
    let stem_now = stem(name, kind);
    let [to] = from.fill(stem_now, [to]).or_else(|| from.fill(name, [to]))?;
    let suffix = if stem_now.len() < name.len() { kind.sample_suffix() } else { "" };
    let to = stem(&to, kind);
    Some(if to.is_empty() { String::new() } else { format!("{to}{suffix}") })
}

fn stem(name: &str, kind: Kind) -> &str {
    name.strip_suffix(kind.sample_suffix()).unwrap_or(name)
}

/// The last eight bytes of the MD5, as a number.
fn hash(text: &str) -> u64 {
    let digest: [u8; 16] = Md5::digest(text.as_bytes()).into();
    digest[8..].iter().fold(0, |number, &byte| (number << 8) | u64::from(byte))
}

/// Letter by letter, as Go does: what would become two letters stays one.
fn lowercase(char: char) -> char {
    match char {
        'İ' => 'i',
        _ => single(char, char.to_lowercase()),
    }
}

fn uppercase(char: char) -> char {
    match char {
        // Greek letters with a iota below have it written beside them, but for these.
        'ᾀ'..='ᾇ' | 'ᾐ'..='ᾗ' | 'ᾠ'..='ᾧ' => char::from_u32(u32::from(char) + 8).unwrap_or(char),
        'ᾳ' => 'ᾼ',
        'ῃ' => 'ῌ',
        'ῳ' => 'ῼ',
        _ => single(char, char.to_uppercase()),
    }
}

fn single(char: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(mapped), None) => mapped,
        _ => char,
    }
}
