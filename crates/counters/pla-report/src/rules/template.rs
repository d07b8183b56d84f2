use std::collections::HashMap;

use crate::xpath::{number_text, text_literal, to_number};

/// [MS-PLA] 2.2.4: the variables of a rule, and the strings of all rules.
pub(super) struct Names<'a> {
    pub(super) strings: &'a HashMap<String, String>,
    pub(super) variables: HashMap<String, Variable>,
}

/// The value of a variable, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Variable {
    /// Text of the rules: it may be part of an expression, as the rest of the rule is.
    Rule(String),
    /// Text of the report, or made of it: hosts choose it, so that it stays a text.
    Report(String),
    Number(f64),
    Boolean(bool),
}

impl Variable {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Rule(text) | Self::Report(text) => text.clone(),
            Self::Number(number) => number_text(*number),
            Self::Boolean(is) => is.to_string(),
        }
    }
}

/// [MS-PLA] 2.2.4: letters and digits.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// A part of a text with names in it.
enum Part<'t> {
    Text(&'t str),
    /// `{name}`
    Variable(&'t str),
}

/// Splits a text at the names of variables. Other braces are text.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(open) = rest.get(from..).and_then(|rest| rest.find('{')).map(|at| at + from) {
        let inner = rest.get(open + 1..).unwrap_or_default();
        match inner.split_once('}').filter(|(name, _)| is_variable(name)) {
            Some((name, behind)) => {
                parts.push(Part::Text(rest.get(..open).unwrap_or_default()));
                parts.push(Part::Variable(name));
                (rest, from) = (behind, 0);
            }
            None => from = open + 1,
        }
    }
    parts.push(Part::Text(rest));
    parts
}

impl Names<'_> {
    /// [MS-PLA] 2.2.3.4: replaces `$(id)` by the text with that id. Ids without a text stay, and are the second result.
    pub(super) fn localise(&self, text: &str) -> (String, Vec<String>) {
        let (mut whole, mut missing) = (String::new(), Vec::new());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("$(") {
            whole.push_str(before);
            let id = behind.split_once(')').filter(|(id, _)| id.len() <= 256);
            match id.map(|(id, behind)| (id, self.strings.get(id), behind)) {
                Some((_, Some(text), behind)) => {
                    whole.push_str(text);
                    rest = behind;
                }
                Some((id, None, behind)) => {
                    whole.push_str(&format!("$({id})"));
                    missing.push(id.to_owned());
                    rest = behind;
                }
                None => {
                    whole.push_str("$(");
                    rest = behind;
                }
            }
        }
        whole.push_str(rest);
        (whole, missing)
    }

    /// Replaces ids and variables in a text for people. Variables that are not set stay as they are written.
    pub(super) fn fill(&self, text: &str) -> Variable {
        let (text, _) = self.localise(text);
        let mut whole = String::new();
        let mut is_of_report = false;
        for part in parts(&text) {
            match part {
                Part::Text(text) => whole.push_str(text),
                Part::Variable(name) => match self.variables.get(name) {
                    Some(variable) => {
                        is_of_report |= !matches!(variable, Variable::Rule(_));
                        whole.push_str(&variable.text());
                    }
                    None => whole.push_str(&format!("{{{name}}}")),
                },
            }
        }
        if is_of_report { Variable::Report(whole) } else { Variable::Rule(whole) }
    }

    /// Makes an expression of XPath of one with ids and variables.
    ///
    /// A variable in quotes is text, whatever it has in it: quotes in its value end nothing. Outside of quotes, text of the
    /// rules is part of the expression, and numbers and truth values are operands; other text of the report is refused
    /// there, as a host would choose what the expression means. `\` outside of quotes is `/`.
    ///
    /// # Errors
    /// A phrase on the variable that cannot stand where it stands.
    pub(super) fn expression(&self, template: &str) -> Result<String, String> {
        let (template, _) = self.localise(template);
        let mut whole = String::new();
        // The text in quotes so far, and the quote that ends it.
        let mut quoted: Option<(String, char)> = None;
        for part in parts(&template) {
            match (part, &mut quoted) {
                (Part::Text(text), _) => add_text(text, &mut whole, &mut quoted),
                (Part::Variable(name), Some((text, _))) => text.push_str(&self.variable(name)?.text()),
                (Part::Variable(name), None) => match self.variable(name)? {
                    Variable::Rule(text) => add_text(text, &mut whole, &mut quoted),
                    Variable::Number(number) => whole.push_str(&operand(*number)),
                    Variable::Boolean(is) => whole.push_str(if *is { "(true())" } else { "(false())" }),
                    Variable::Report(text) => {
                        let number = to_number(text);
                        if number.is_nan() {
                            return Err(format!(
                                "the variable `{name}` is a text of the report, which stands in quotes: write '{{{name}}}'"
                            ));
                        }
                        whole.push_str(&operand(number));
                    }
                },
            }
        }
        match quoted {
            None => Ok(whole),
            Some((_, quote)) => Err(format!("a text in the expression is not ended by {quote}")),
        }
    }

    fn variable(&self, name: &str) -> Result<&Variable, String> {
        self.variables.get(name).ok_or_else(|| format!("the variable `{name}` is not set"))
    }
}

/// Adds text of the rules, which may begin and end quotes.
fn add_text(text: &str, whole: &mut String, quoted: &mut Option<(String, char)>) {
    for char in text.chars() {
        match quoted {
            Some((text, quote)) if *quote == char => {
                whole.push_str(&text_literal(text));
                *quoted = None;
            }
            Some((text, _)) => text.push(char),
            None if matches!(char, '"' | '\'') => *quoted = Some((String::new(), char)),
            None => whole.push(if char == '\\' { '/' } else { char }),
        }
    }
}

/// A number in parentheses, so that it joins nothing beside it.
fn operand(number: f64) -> String {
    match (number.is_nan(), number.is_infinite()) {
        (true, _) => "(0 div 0)".to_owned(),
        (_, true) => {
            if number > 0.0 {
                "(1 div 0)".to_owned()
            } else {
                "(-1 div 0)".to_owned()
            }
        }
        _ => format!("({})", number_text(number)),
    }
}
