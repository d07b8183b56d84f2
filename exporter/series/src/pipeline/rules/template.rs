//! Replacements of rules.

use std::borrow::Cow;

use super::VALUE_BYTES_MAX;
use super::pattern::{Groups, Pattern};

/// A text with `$1`, `${1}` and `${name}` in it. A name is as long as it can be, so that `$1x` asks for a group `1x`;
/// a group that does not exist is empty; `$$` is `$`, and so is a `$` that begins nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template {
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
    pub(super) fn new(text: &str, pattern: &Pattern) -> Self {
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
    pub(super) fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Its constant text, if it depends on no group.
    pub(super) fn as_constant(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with these groups in it.
    pub(super) fn filled(&self, groups: &Groups<'_>) -> Cow<'_, str> {
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
    pub(super) fn fill<'o, const N: usize>(
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
