//! Grafana's variables and macros in an expression, replaced so that it is PromQL.
//!
//! What a variable holds is not known. Where it can only be a time, a number or the name of a function, one of these
//! is in its place. Where it is a metric's name or a part of one, a [marker](marker) does, which
//! [`pattern`] turns into a pattern of names.

use std::collections::BTreeSet;

/// Maximum variables of one expression of which all meanings are tried.
const TRIED_MAX: usize = 4;

/// The expression with other text for its variables, in every way that may be meant, the likeliest first.
pub(super) fn substitutions(expression: &str) -> Vec<String> {
    let mut open = BTreeSet::new();
    let first = substituted(expression, &mut open, |_| false);
    let open: Vec<String> = open.into_iter().collect();
    let ways = if open.len() <= TRIED_MAX { 1_usize << open.len() } else { 2 };
    let mut all = vec![first];
    for way in 1..ways {
        let is_second = |name: &str| {
            let index = open.iter().position(|own| own == name).unwrap_or_default();
            open.len() > TRIED_MAX || way & (1 << index) != 0
        };
        all.push(substituted(expression, &mut BTreeSet::new(), is_second));
    }
    all
}

/// What stands for a variable where a name is.
fn marker(name: &str) -> String {
    format!("{MARK}{name}{MARK_END}")
}

const MARK: &str = "grafanaVariable_";
const MARK_END: &str = "_elbairaVanafarg";

/// A name that variables are part of, as a regular expression; nothing if there are none in it.
pub(super) fn pattern(name: &str) -> Option<String> {
    let mut pattern = String::new();
    let mut rest = name;
    while let Some((before, marked)) = rest.split_once(MARK) {
        let (_, after) = marked.split_once(MARK_END)?;
        pattern += before;
        pattern += ".*";
        rest = after;
    }
    (rest.len() < name.len()).then(|| pattern + rest)
}

/// The text with its variables as they were written.
pub(super) fn restored(text: &str) -> String {
    text.replace(MARK, "${").replace(MARK_END, "}")
}

/// Where a character of an expression is.
#[derive(Default)]
struct Place {
    /// The quote of the text that it is in.
    quote: Option<char>,
    is_escaped: bool,
    is_comment: bool,
    brackets: Vec<char>,
}

impl Place {
    fn advance(&mut self, char: char) {
        if self.is_comment {
            self.is_comment = char != '\n';
        } else if let Some(quote) = self.quote {
            if self.is_escaped {
                self.is_escaped = false;
            } else if char == '\\' && quote != '`' {
                self.is_escaped = true;
            } else if char == quote {
                self.quote = None;
            }
        } else {
            match char {
                '"' | '\'' | '`' => self.quote = Some(char),
                '#' => self.is_comment = true,
                '[' | '{' | '(' => self.brackets.push(char),
                ']' | '}' | ')' => {
                    self.brackets.pop();
                }
                _ => {}
            }
        }
    }
}

/// One way. `open` gets the names of variables that may mean two things, and `is_second` says which is taken.
fn substituted(expression: &str, open: &mut BTreeSet<String>, is_second: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(expression.len());
    let mut place = Place::default();
    let mut rest = expression;
    while let Some(char) = rest.chars().next() {
        match variable(rest) {
            Some((name, after)) if !place.is_comment => {
                let replacement = replacement(name, &place, &out, after, open, &is_second);
                out += &replacement;
                rest = after;
            }
            _ => {
                place.advance(char);
                out.push(char);
                rest = &rest[char.len_utf8()..];
            }
        }
    }
    out
}

/// The variable that a text begins with, and what comes after it: `$name`, `${name:format}`, `[[name:format]]`.
fn variable(text: &str) -> Option<(&str, &str)> {
    let of_word = |text: &str| text.find(|char: char| !is_of_word(char)).unwrap_or(text.len());
    let named = |inside: &str| -> Option<usize> {
        let end = of_word(inside);
        (end > 0 && inside[end..].chars().next().is_none_or(|next| next == ':' || next == '.')).then_some(end)
    };
    if let Some(inside) = text.strip_prefix("${") {
        let (inside, after) = inside.split_once('}')?;
        return named(inside).map(|end| (&inside[..end], after));
    }
    if let Some(inside) = text.strip_prefix("[[") {
        let (inside, after) = inside.split_once("]]")?;
        return named(inside).map(|end| (&inside[..end], after));
    }
    let inside = text.strip_prefix('$')?;
    let end = of_word(inside);
    let begins = inside.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    begins.then(|| (&inside[..end], &inside[end..]))
}

fn is_of_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

fn replacement(
    name: &str,
    place: &Place,
    before: &str,
    after: &str,
    open: &mut BTreeSet<String>,
    is_second: impl Fn(&str) -> bool,
) -> String {
    let next = after.trim_start();
    let is_joined = before.ends_with(|last: char| is_of_word(last) || last == ':')
        || after.starts_with(|first: char| is_of_word(first) || first == ':');
    let begins_with = |word: &str| next.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_of_word));
    if place.quote.is_some() {
        return marker(name);
    }
    if place.brackets.last() == Some(&'[') || before.trim_end().ends_with(" offset") {
        // `[${minutes}m]`
        let has_unit = after.starts_with(|first: char| first.is_ascii_alphabetic());
        return if has_unit { "5".to_owned() } else { "5m".to_owned() };
    }
    if place.brackets.last() == Some(&'{') {
        let is_label = next.starts_with(['=', '!']) || is_joined;
        return if is_label { marker(name) } else { format!("{}=\"\"", marker(name)) };
    }
    if NUMBERS.contains(&name) {
        return "300".to_owned();
    }
    if is_joined {
        return marker(name);
    }
    open.insert(name.to_owned());
    let is_function = next.starts_with('(') || begins_with("by") || begins_with("without");
    match (is_function, is_second(name)) {
        (true, false) => "sum".to_owned(),
        (true, true) => "rate".to_owned(),
        (false, false) => marker(name),
        (false, true) => "1".to_owned(),
    }
}

/// Macros that are numbers where no time can stand.
const NUMBERS: &[&str] = &[
    "__interval",
    "__interval_ms",
    "__rate_interval",
    "__rate_interval_ms",
    "__range",
    "__range_s",
    "__range_ms",
    "__from",
    "__to",
];
