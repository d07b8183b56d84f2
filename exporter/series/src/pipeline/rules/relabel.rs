//! One rule as Prometheus writes it, checked as Prometheus checks it.

use std::fmt;

use super::action::{Action, Rule, Source};
use super::pattern::{ANYTHING, Pattern};
use super::{TARGET, Template, is_label_name};

/// One entry of `metric_relabel_configs`, as it is written. What is not given has Prometheus' default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelabelConfig {
    pub source_labels: Option<Vec<String>>,
    /// `separator`: `;` by default.
    pub separator: Option<String>,
    pub target_label: Option<String>,
    /// `regex`: `(.*)` by default.
    pub regex: Option<String>,
    pub modulus: Option<u64>,
    /// `replacement`: `$1` by default.
    pub replacement: Option<String>,
    /// `action`: `replace` by default.
    pub action: Option<String>,
}

/// A problem with a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRule {
    /// The key whose value is wrong; empty for the rule as a whole.
    pub key: &'static str,
    pub message: String,
    /// The next step, if known.
    pub hint: Option<String>,
}

impl BadRule {
    /// The message becomes one line, even if it quotes texts with line breaks.
    pub(super) fn new(key: &'static str, message: impl AsRef<str>) -> Self {
        Self { key, message: one_line(message.as_ref()), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The text with escapes for line breaks and invisible characters.
fn one_line(text: &str) -> String {
    let breaks = |char: char| char.is_control() || matches!(char, '\u{2028}' | '\u{2029}');
    let mut line = String::with_capacity(text.len());
    for char in text.chars() {
        if breaks(char) { line.extend(char.escape_debug()) } else { line.push(char) }
    }
    line
}

impl fmt::Display for BadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for BadRule {}

/// The words of `action`, in any case.
pub const ACTIONS: [&str; 11] = [
    "replace",
    "keep",
    "drop",
    "hashmod",
    "labelmap",
    "labeldrop",
    "labelkeep",
    "lowercase",
    "uppercase",
    "keepequal",
    "dropequal",
];

impl RelabelConfig {
    /// Compiles it. `utf8` says whether names may be more than legacy ones.
    ///
    /// # Errors
    /// What Prometheus would refuse, too; and to write the label `target`, which tells targets apart.
    pub fn compile(&self, utf8: bool) -> Result<Rule, BadRule> {
        let action = self.action.as_deref().unwrap_or("replace").to_lowercase();
        if !ACTIONS.contains(&action.as_str()) {
            return Err(BadRule::new("action", format!("there is no action `{action}`")));
        }
        self.check_keys(&action)?;
        self.check_names(&action, utf8)?;
        let source = Source {
            labels: self.source_labels.iter().flatten().map(|name| name.as_str().into()).collect(),
            separator: self.separator.as_deref().unwrap_or(";").into(),
        };
        let regex = Pattern::new(self.regex.as_deref().unwrap_or(ANYTHING)).map_err(|problem| {
            BadRule::new("regex", format!("is not a valid regular expression: {problem}"))
        })?;
        let target = self.target_label.clone().unwrap_or_default();
        let replacement = Template::new(self.replacement.as_deref().unwrap_or(DEFAULT_REPLACEMENT), &regex);
        let action = match action.as_str() {
            "keep" => Action::Keep(regex),
            "drop" => Action::Drop(regex),
            "keepequal" => Action::KeepEqual(target),
            "dropequal" => Action::DropEqual(target),
            "lowercase" => Action::Lowercase(target),
            "uppercase" => Action::Uppercase(target),
            "hashmod" => Action::HashMod { target, modulus: self.modulus.unwrap_or(1) },
            "labelmap" => Action::LabelMap { regex, replacement },
            "labeldrop" => Action::LabelDrop(regex),
            "labelkeep" => Action::LabelKeep(regex),
            _ => Action::Replace { target: Template::new(&target, &regex), regex, replacement },
        };
        Ok(Rule { source, action })
    }

    /// Whether the action has the keys that it needs, and none that would mean nothing to it.
    fn check_keys(&self, action: &str) -> Result<(), BadRule> {
        let needs_target =
            ["replace", "hashmod", "lowercase", "uppercase", "keepequal", "dropequal"].contains(&action);
        if action == "hashmod" && self.modulus.unwrap_or(0) == 0 {
            return Err(BadRule::new("", "`hashmod` needs a `modulus` above zero"));
        }
        if needs_target && self.target_label.as_deref().unwrap_or_default().is_empty() {
            return Err(BadRule::new("", format!("`{action}` needs a `target_label`")));
        }
        let is_other =
            |given: &Option<String>, default| given.as_deref().is_some_and(|given| given != default);
        let given = [
            ("source_labels", self.source_labels.is_some()),
            ("target_label", is_other(&self.target_label, "")),
            ("regex", is_other(&self.regex, ANYTHING)),
            ("modulus", self.modulus.unwrap_or(0) != 0),
            ("separator", is_other(&self.separator, ";")),
            ("replacement", is_other(&self.replacement, DEFAULT_REPLACEMENT)),
        ];
        let takes: &[&str] = match action {
            "labeldrop" | "labelkeep" => &["regex"],
            "keepequal" | "dropequal" => &["source_labels", "target_label"],
            "lowercase" | "uppercase" => &["source_labels", "target_label", "regex", "modulus", "separator"],
            _ => return Ok(()),
        };
        match given.into_iter().find(|(key, given)| *given && !takes.contains(key)) {
            Some((key, _)) => {
                let takes: Vec<String> = takes.iter().map(|key| format!("`{key}`")).collect();
                let hint = format!("`{action}` takes {}", takes.join(", "));
                Err(BadRule::new(key, format!("means nothing to `{action}`")).hint(hint))
            }
            None => Ok(()),
        }
    }

    fn check_names(&self, action: &str, utf8: bool) -> Result<(), BadRule> {
        for name in self.source_labels.iter().flatten() {
            if !is_label_name(name, utf8) {
                return Err(BadRule::new("source_labels", format!("`{name}` is not a valid label name")));
            }
        }
        let target = self.target_label.as_deref().unwrap_or_default();
        let only_compares = ["keepequal", "dropequal"].contains(&action);
        if target == TARGET && !only_compares {
            let hint = "write another label; rules may read `target`";
            return Err(BadRule::new("target_label", "`target` tells the targets apart and stays as it is")
                .hint(hint));
        }
        let is_good =
            |name: &str| is_label_name(name, utf8) || (name.contains('$') && is_label_template(name));
        let is_target_good = match action {
            "replace" => is_good(target),
            "hashmod" | "lowercase" | "uppercase" | "keepequal" | "dropequal" => is_label_name(target, utf8),
            _ => true,
        };
        if !is_target_good {
            return Err(BadRule::new("target_label", format!("`{target}` is not a valid label name")));
        }
        let replacement = self.replacement.as_deref().unwrap_or(DEFAULT_REPLACEMENT);
        if action == "labelmap" && replacement == TARGET {
            return Err(BadRule::new("replacement", "`target` tells the targets apart and stays as it is"));
        }
        if action == "labelmap" && !is_good(replacement) {
            return Err(BadRule::new("replacement", format!("`{replacement}` is not a valid label name")));
        }
        Ok(())
    }
}

/// Whether a template may become a label's name: legacy characters with variables among them, which do not begin with
/// a digit.
fn is_label_template(template: &str) -> bool {
    let mut rest = template;
    let mut begun = false;
    while let Some(char) = rest.chars().next() {
        let word =
            |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
        rest = match char {
            '$' => {
                let (braced, name) = match rest[1..].strip_prefix('{') {
                    Some(name) => (true, name),
                    None => (false, &rest[1..]),
                };
                let (name, behind) = name.split_at(word(name));
                match (name, if braced { behind.strip_prefix('}') } else { Some(behind) }) {
                    ("", _) | (_, None) => return false,
                    (_, Some(behind)) => behind,
                }
            }
            '_' | 'a'..='z' | 'A'..='Z' => &rest[1..],
            '0'..='9' if begun => &rest[1..],
            _ => return false,
        };
        begun = true;
    }
    begun
}

const DEFAULT_REPLACEMENT: &str = "$1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_one_line_whatever_it_quotes() {
        let said = |regex: &str| {
            let regex = Some(regex.to_owned());
            let config =
                RelabelConfig { regex, target_label: Some("a".to_owned()), ..RelabelConfig::default() };
            config.compile(false).unwrap_err().to_string()
        };
        assert_eq!(
            said("\\x{8\n\u{2028}"),
            r"regex: is not a valid regular expression: `\x8\n\u{2028}` is not a character"
        );
        assert_eq!(said("(?\r)"), r"regex: is not a valid regular expression: `(?\r` is not supported");
        assert!(said(&format!(r"\x{{{}", "8".repeat(1 << 16))).len() < 100);
    }
}
