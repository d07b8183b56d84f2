//! Rules over names and labels: what is dropped, renamed and relabelled before anybody sees it.
//!
//! Rules are compiled once, when the configuration is read, and applied when a series is registered; a sample never
//! pays for them. What they see is what Prometheus would: `__name__` is the name on the sample, with `_total` where
//! there is one, `target` and the labels of the configuration are there. What depends on nothing but the name is
//! decided once for a whole family ([`Plan`]), so that a plugin leaves it out from the beginning.
//!
//! Where our rules end differently than on a Prometheus server:
//!
//! * `target` can be read and not be changed: `labeldrop` and `labelkeep` leave it, and a series for which another
//!   rule would write it is refused. It is what keeps the series of two targets apart.
//! * Labels that begin with `__` are for the rules among themselves and go when the last one is done.
//! * A series without a valid name, or with a label without one, is refused and counted; it does not cost the page.
//! * What OTLP says of a target's resource is the target's: rules change points, not the resource.
//! * The name decides what the series is: see [`family_of`]. A histogram has its family's name, without `_bucket` and the
//!   like, and no label `le` yet; rules that give it one refuse it.

mod action;
mod pattern;
mod plan;
mod relabel;
mod syntax;

use std::borrow::Cow;
use std::sync::Arc;

pub use self::action::Rule;
pub(super) use self::pattern::Pattern;
pub(super) use self::plan::{Plan, ends_in_suffix, family_of};
pub use self::relabel::{ACTIONS, BadRule, RelabelConfig};

use self::action::{Action, Source};
use self::pattern::Groups;
use crate::model::{clean_name, is_legacy_label};
use crate::pipeline::limits::Refusal;

/// Rules in the order in which they are applied.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules(Vec<Arc<Rule>>);

impl Rules {
    /// Those of several lists, one list after the other.
    pub fn joined<'a>(lists: impl IntoIterator<Item = &'a Self>) -> Self {
        Self(lists.into_iter().flat_map(|rules| rules.0.iter().cloned()).collect())
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<Rule>> {
        self.0.iter()
    }
}

impl FromIterator<Rule> for Rules {
    fn from_iter<I: IntoIterator<Item = Rule>>(rules: I) -> Self {
        Self(rules.into_iter().map(Arc::new).collect())
    }
}

impl Rule {
    /// Drops the series of the families whose name matches, with the suffix of its kind or without; where labels are
    /// given, those of them in which every label matches. A label that is not there is empty.
    ///
    /// # Errors
    /// When an expression is none.
    pub fn drop_series(name: &str, labels: &[(String, String)]) -> Result<Self, BadRule> {
        let compiled = |key, text: &str| {
            Pattern::new(text).map_err(|problem| {
                BadRule::new(key, format!("`{text}` is not a valid regular expression: {problem}"))
            })
        };
        let name = compiled("name", name)?;
        let labels: Result<_, BadRule> =
            labels.iter().map(|(label, text)| Ok((label.clone(), compiled("labels", text)?))).collect();
        Ok(Self { source: Source::default(), action: Action::DropSeries { name, labels: labels? } })
    }

    /// Gives the families whose name matches another one, in which `$1` is what the first group matched. The suffix of
    /// the kind is kept whether or not it is written.
    ///
    /// # Errors
    /// When `from` is no expression, or `to` asks for a group that it does not have.
    pub fn rename(from: &str, to: &str) -> Result<Self, BadRule> {
        let pattern = Pattern::new(from).map_err(|problem| {
            BadRule::new("from", format!("is not a valid regular expression: {problem}"))
        })?;
        let to = Template::new(to, &pattern);
        if let Some(name) = to.missing() {
            let number: String = name.chars().take_while(char::is_ascii_digit).collect();
            let bad = BadRule::new("to", format!("asks for `{name}`, and `from` has no such group"));
            return Err(match number.as_str() {
                "" => bad,
                number => bad.hint(format!("write `${{{number}}}` where a letter, digit or `_` follows")),
            });
        }
        Ok(Self { source: Source::default(), action: Action::Rename { from: pattern, to } })
    }
}

/// Name and labels of a series. A label is never empty: to set it to nothing is to take it away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::pipeline) struct LabelSet<'a> {
    /// The name of the metric as it is on its samples, `__name__` to the rules.
    pub(in crate::pipeline) name: Cow<'a, str>,
    /// The others, in any order.
    pub(in crate::pipeline) labels: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> LabelSet<'a> {
    /// The label's value; empty where there is none.
    pub(in crate::pipeline) fn value(&self, name: &str) -> &str {
        if name == METRIC_NAME {
            return &self.name;
        }
        self.labels.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    fn set(&mut self, name: Cow<'a, str>, value: Cow<'a, str>) -> Result<(), Refusal> {
        let is_metric_name = name == METRIC_NAME;
        if name.len() > NAME_BYTES_MAX || (is_metric_name && value.len() > VALUE_BYTES_MAX) {
            return Err(Refusal::NameTooLong);
        } else if value.len() > VALUE_BYTES_MAX {
            return Err(Refusal::LabelTooLong);
        }
        if is_metric_name {
            self.name = value;
        } else if value.is_empty() {
            self.labels.retain(|(own, _)| *own != name);
        } else if let Some((_, own)) = self.labels.iter_mut().find(|(own, _)| *own == name) {
            *own = value;
        } else if self.labels.len() >= LABELS_MAX {
            return Err(Refusal::TooManyLabels);
        } else {
            self.labels.push((name, value));
        }
        Ok(())
    }

    /// Keeps the labels whose names `keeps`; the target's own always stays.
    fn retain(&mut self, keeps: impl Fn(&str) -> bool) {
        if !keeps(METRIC_NAME) {
            self.name = Cow::Borrowed("");
        }
        self.labels.retain(|(name, _)| name == TARGET || keeps(name));
    }
}

/// Whether a series may have a label of that name.
fn is_label_name(name: &str, utf8: bool) -> bool {
    is_legacy_label(name) || (utf8 && !name.is_empty() && clean_name(name) == name)
}

/// The name of the label that holds the metric's name.
pub(in crate::pipeline) const METRIC_NAME: &str = "__name__";
/// The name of the label that says whom the series is about.
pub(in crate::pipeline) const TARGET: &str = "target";
/// While rules work, a series may have so many labels, and a name or a value so many bytes: more than it may have
/// afterwards, so that rules can make less of it, and little enough that no rules make a mountain.
const LABELS_MAX: usize = 256;
const NAME_BYTES_MAX: usize = 8 << 10;
const VALUE_BYTES_MAX: usize = 64 << 10;

/// A text with `$1`, `${1}` and `${name}` in it. A name is as long as it can be, so that `$1x` asks for a group `1x`;
/// a group that does not exist is empty; `$$` is `$`, and so is a `$` that begins nothing.
#[derive(Clone, Debug, PartialEq)]
struct Template {
    text: String,
    parts: Vec<Part>,
    /// The first variable for which there is no group.
    missing: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Group(usize),
}

impl Template {
    fn new(text: &str, pattern: &Pattern) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        let mut literal = String::new();
        let mut missing = None;
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('$') {
            literal.push_str(before);
            if let Some(behind) = behind.strip_prefix('$') {
                literal.push('$');
                rest = behind;
            } else if let Some((name, behind)) = variable(behind) {
                if let Some(group) = pattern.index(name) {
                    parts.extend([Part::Text(std::mem::take(&mut literal)), Part::Group(group)]);
                } else {
                    missing.get_or_insert_with(|| name.to_owned());
                }
                rest = behind;
            } else {
                literal.push('$');
                rest = behind;
            }
        }
        literal.push_str(rest);
        parts.push(Part::Text(literal));
        parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        Self { text: text.to_owned(), parts, missing }
    }

    /// A variable in it for which the expression has no group.
    fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Its constant text, if it depends on no group.
    fn as_constant(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with these groups in it.
    fn filled(&self, groups: &Groups<'_>) -> Cow<'_, str> {
        if let Some(constant) = self.as_constant() {
            return constant.into();
        }
        let mut filled = String::new();
        for part in &self.parts {
            // It is refused for its length already, and each rule could make it twice as long.
            if filled.len() > VALUE_BYTES_MAX {
                break;
            }
            filled.push_str(match part {
                Part::Text(text) => text,
                Part::Group(index) => groups.group(*index),
            });
        }
        filled.into()
    }
}

impl Pattern {
    /// Where the text matches: the templates, filled with its groups.
    fn fill<'o, const N: usize>(
        &self,
        text: &str,
        templates: [&'o Template; N],
    ) -> Option<[Cow<'o, str>; N]> {
        if templates.iter().all(|template| template.as_constant().is_some()) {
            return self
                .matches(text)
                .then(|| templates.map(|template| template.as_constant().unwrap_or("").into()));
        }
        let groups = self.groups(text)?;
        Some(templates.map(|template| template.filled(&groups)))
    }
}

/// The name of a variable and what is after it.
fn variable(text: &str) -> Option<(&str, &str)> {
    let is_name = |char: char| char.is_alphanumeric() || char == '_';
    let (braced, text) = match text.strip_prefix('{') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let end = text.find(|char| !is_name(char)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let rest = if braced { rest.strip_prefix('}')? } else { rest };
    (!name.is_empty()).then_some((name, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(pattern: &str, text: &str, template: &str) -> Option<String> {
        let pattern = Pattern::new(pattern).unwrap();
        let template = Template::new(template, &pattern);
        pattern.fill(text, [&template]).map(|[filled]| filled.into_owned())
    }

    /// The expected texts are what Go's `regexp` gives.
    #[test]
    fn variables_are_read_as_prometheus_reads_them() {
        for (template, expected) in [
            ("$1", "ab"),
            ("${1}x", "abx"),
            ("$1x", ""),
            ("$1-$2", "ab-cd"),
            ("$2$1", "cdab"),
            ("${tail}", "cd"),
            ("$tail.", "cd."),
            ("$0", "ab-cd"),
            ("$3", ""),
            ("$01", ""),
            ("$$1", "$1"),
            ("$", "$"),
            ("a$-b", "a$-b"),
            ("${1", "${1"),
            ("${}", "${}"),
            ("$é1", ""),
        ] {
            assert_eq!(
                filled("(.+)-(?P<tail>.+)", "ab-cd", template).as_deref(),
                Some(expected),
                "{template}"
            );
        }
        assert_eq!(filled("a|(b)", "a", "[$1]").as_deref(), Some("[]"));
        assert_eq!(filled("(.*)", "a\nb", "<$1>").as_deref(), Some("<a\nb>"));
        assert_eq!(filled("a", "b", "x"), None);
    }
}
