//! Variables in the texts of rules.

use std::collections::HashMap;

use crate::data_manager::reports::xpath::{number_text, text_literal, to_number};

/// [MS-PLA] 2.2.4: the variables that were set so far, by any rule, and the strings of all rules.
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

    /// The bytes of its text.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Rule(text) | Self::Report(text) => text.len(),
            Self::Number(_) | Self::Boolean(_) => self.text().len(),
        }
    }
}

/// [MS-PLA] 2.2.4: letters and digits.
pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= VARIABLE_BYTES_MAX
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// A text that would be longer than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// A text that grows up to a limit: what is too much is not copied.
struct Limited {
    text: String,
    bytes_max: usize,
}

impl Limited {
    const fn new(bytes_max: usize) -> Self {
        Self { text: String::new(), bytes_max }
    }

    fn push(&mut self, part: &str) -> Result<(), TooLong> {
        if part.len() <= self.bytes_max.saturating_sub(self.text.len()) {
            self.text.push_str(part);
            Ok(())
        } else {
            Err(TooLong)
        }
    }

    fn push_char(&mut self, char: char) -> Result<(), TooLong> {
        self.push(char.encode_utf8(&mut [0; 4]))
    }
}

/// A part of a text with names in it.
enum Part<'t> {
    Text(&'t str),
    Variable(&'t str),
}

/// The parts of a text, which is split at the names of variables. Other braces are text.
struct Parts<'t> {
    rest: &'t str,
}

impl<'t> Iterator for Parts<'t> {
    type Item = Part<'t>;

    fn next(&mut self) -> Option<Part<'t>> {
        let text = self.rest;
        let mut from = 0;
        while let Some(open) = text.get(from..).and_then(|rest| rest.find('{')).map(|at| at + from) {
            match name_before(text.get(open + 1..).unwrap_or_default(), '}', VARIABLE_BYTES_MAX) {
                Some((name, behind)) if is_variable(name) => {
                    // The text in front of the variable comes first.
                    let (before, variable) = text.split_at_checked(open)?;
                    self.rest = if open == 0 { behind } else { variable };
                    return Some(if open == 0 { Part::Variable(name) } else { Part::Text(before) });
                }
                _ => from = open + 1,
            }
        }
        self.rest = "";
        (!text.is_empty()).then_some(Part::Text(text))
    }
}

const fn parts(text: &str) -> Parts<'_> {
    Parts { rest: text }
}

/// The name in front of the first `end`, and what is after that. Names have at most `bytes_max` bytes; no more is searched.
fn name_before(text: &str, end: char, bytes_max: usize) -> Option<(&str, &str)> {
    let searched = text.get(..text.floor_char_boundary(bytes_max + end.len_utf8()))?;
    let (name, _) = searched.split_once(end)?;
    Some((name, text.get(name.len() + end.len_utf8()..)?))
}

impl Names<'_> {
    /// [MS-PLA] 2.2.3.4: replaces `$(id)` by the text with that id. Ids without a text stay, and are the second result. The
    /// text has at most `bytes_max` bytes.
    pub(super) fn localise(&self, text: &str, bytes_max: usize) -> Result<(String, Vec<String>), TooLong> {
        let (mut whole, mut missing) = (Limited::new(bytes_max), Vec::new());
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("$(") {
            whole.push(before)?;
            let id = name_before(behind, ')', ID_BYTES_MAX);
            match id.map(|(id, behind)| (id, self.strings.get(id), behind)) {
                Some((_, Some(text), behind)) => {
                    whole.push(text)?;
                    rest = behind;
                }
                Some((id, None, behind)) => {
                    whole.push(&format!("$({id})"))?;
                    missing.push(id.to_owned());
                    rest = behind;
                }
                None => {
                    whole.push("$(")?;
                    rest = behind;
                }
            }
        }
        whole.push(rest)?;
        Ok((whole.text, missing))
    }

    /// Replaces ids and variables in a text for people, which then has at most `bytes_max` bytes. Variables that are not set
    /// stay as they are written.
    pub(super) fn fill(&self, text: &str, bytes_max: usize) -> Result<Variable, TooLong> {
        let (text, _) = self.localise(text, bytes_max)?;
        let mut whole = Limited::new(bytes_max);
        let mut is_of_report = false;
        for part in parts(&text) {
            match part {
                Part::Text(text) => whole.push(text)?,
                Part::Variable(name) => match self.variables.get(name) {
                    Some(variable) => {
                        is_of_report |= !matches!(variable, Variable::Rule(_));
                        whole.push(&variable.text())?;
                    }
                    None => whole.push(&format!("{{{name}}}"))?,
                },
            }
        }
        Ok(if is_of_report { Variable::Report(whole.text) } else { Variable::Rule(whole.text) })
    }

    /// Makes an expression of XPath of one with ids and variables, of at most `bytes_max` bytes.
    ///
    /// A variable in quotes is text, whatever it has in it: quotes in its value end nothing. Outside of quotes, text of the
    /// rules is part of the expression, and numbers and truth values are operands; other text of the report is refused
    /// there, as a host would choose what the expression means. `\` outside of quotes is `/`.
    ///
    /// # Errors
    /// A phrase on the variable that cannot stand where it is, or on the limit.
    pub(super) fn expression(&self, template: &str, bytes_max: usize) -> Result<String, String> {
        let too_long = |TooLong| {
            format!(
                "the expression has more than {bytes_max} bytes with its variables replaced, which is the limit"
            )
        };
        let (template, _) = self.localise(template, bytes_max).map_err(too_long)?;
        let mut expression = Writer { whole: Limited::new(bytes_max), quoted: None };
        for part in parts(&template) {
            let added = match part {
                Part::Text(text) => expression.add_text(text),
                Part::Variable(name) => expression.add_variable(name, self.variable(name)?)?,
            };
            added.map_err(too_long)?;
        }
        match expression.quoted {
            None => Ok(expression.whole.text),
            Some((_, quote)) => Err(format!("a text in the expression is not ended by {quote}")),
        }
    }

    fn variable(&self, name: &str) -> Result<&Variable, String> {
        self.variables.get(name).ok_or_else(|| format!("the variable `{name}` is not set"))
    }
}

/// An expression of XPath that is made of text and variables.
struct Writer {
    whole: Limited,
    /// The text in quotes so far, and the quote that ends it.
    quoted: Option<(Limited, char)>,
}

impl Writer {
    /// Adds text of the rules, which may begin and end quotes.
    fn add_text(&mut self, text: &str) -> Result<(), TooLong> {
        for char in text.chars() {
            match &mut self.quoted {
                Some((text, quote)) if *quote == char => {
                    self.whole.push(&text_literal(&text.text))?;
                    self.quoted = None;
                }
                Some((text, _)) => text.push_char(char)?,
                None if matches!(char, '"' | '\'') => {
                    self.quoted = Some((Limited::new(self.whole.bytes_max), char));
                }
                None => self.whole.push_char(if char == '\\' { '/' } else { char })?,
            }
        }
        Ok(())
    }

    /// Adds a variable. The outer error is a phrase on why it cannot stand here.
    fn add_variable(&mut self, name: &str, variable: &Variable) -> Result<Result<(), TooLong>, String> {
        if let Some((text, _)) = &mut self.quoted {
            return Ok(text.push(&variable.text()));
        }
        Ok(match variable {
            Variable::Rule(text) => self.add_text(text),
            Variable::Number(number) => self.whole.push(&operand(*number)),
            Variable::Boolean(is) => self.whole.push(if *is { "(true())" } else { "(false())" }),
            Variable::Report(text) => {
                let number = to_number(text);
                if number.is_nan() {
                    return Err(format!(
                        "the variable `{name}` is a text of the report, which is written in quotes: write '{{{name}}}'"
                    ));
                }
                self.whole.push(&operand(number))
            }
        })
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

/// Bytes of the name of a variable.
const VARIABLE_BYTES_MAX: usize = 64;
/// Bytes of the id of a text.
const ID_BYTES_MAX: usize = 256;
