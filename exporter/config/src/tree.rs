//! How a YAML document is read, within limits, and what is said of one that is none.

use serde_saphyr::Spanned;

use super::node::{Node, Position, SyntaxError, Value};
use crate::node::Entry;

/// Maximum size of a configuration file.
pub const CONFIG_BYTES_MAX: usize = 8 << 20;
/// Maximum scalars, sequences and mappings, with aliases expanded.
const NODES_MAX: usize = 500_000;
/// Maximum events from aliases: anchors are for a few shared settings, not for bombs.
const ALIAS_EVENTS_MAX: usize = 50_000;
/// Sequences and mappings may nest so deep.
const DEPTH_MAX: usize = 32;

impl Node {
    /// Reads one document.
    ///
    /// # Errors
    /// When it is no YAML, holds a key twice, or breaks a limit.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        if text.len() > CONFIG_BYTES_MAX {
            let message = format!("the file has {} bytes, the limit is {CONFIG_BYTES_MAX}", text.len());
            return Err(SyntaxError { position: None, message });
        }
        let options = serde_saphyr::options! {
            budget: serde_saphyr::budget! {
                max_nodes: NODES_MAX,
                max_depth: DEPTH_MAX,
                max_documents: 1,
            },
            alias_limits: serde_saphyr::alias_limits! {
                max_total_replayed_events: ALIAS_EVENTS_MAX,
            },
            strict_booleans: true,
            with_snippet: false,
        };
        let read = serde_saphyr::from_str_with_options::<Spanned<Value>>(text, options);
        let mut read = read.map(Self::from).map_err(|error| SyntaxError::new(&error, text));
        if let Some(lines) = Lines::new(text) {
            match &mut read {
                Ok(node) => lines.renumber(node),
                Err(SyntaxError { position, .. }) => {
                    *position = position.map(|position| lines.position(position));
                }
            }
        }
        read
    }
}

impl SyntaxError {
    fn new(error: &serde_saphyr::Error, file: &str) -> Self {
        let location = error.location().filter(|location| location.line() > 0);
        // The position is printed once, by us; the parser's own ending repeats it.
        let text = error.without_snippet().to_string();
        let message = match text.split_once(" at line ") {
            Some((head, _)) => head,
            None => &text,
        };
        // Advice to programmers of the parser's own options is none to our users.
        let message = message.split(", set ").next().unwrap_or(message);
        let position = location.map(Position::of);
        let in_lines = position.and_then(|position| in_lines(message, file, position));
        Self { position, message: in_lines.unwrap_or_else(|| in_our_words(message.trim())) }
    }
}

/// The parser's errors about limits, in words for the file's author.
fn in_our_words(message: &str) -> String {
    let is = |part: &str| message.contains(part);
    if is("budget breached: Documents") {
        "a second document begins here; keep one, without a line `---` behind it".to_owned()
    } else if is("budget breached: Nodes") {
        format!("there are more than {NODES_MAX} values, which is the limit")
    } else if is("alias replay limit") {
        format!("aliases repeat more than {ALIAS_EVENTS_MAX} values, which is the limit; write them out")
    } else if is("recursion limit") || is("budget breached: Depth") {
        format!("lists and mappings nest deeper than {DEPTH_MAX}, which is the limit")
    } else if is("tabs disallowed") {
        "a tab cannot indent; use spaces".to_owned()
    } else if is("did not find expected key") || is("did not find expected '-' indicator") {
        "this line does not continue the lines above it; check the indentation of both".to_owned()
    } else if is("mapping values are not allowed") {
        "a `:` followed by a space is not allowed here; put the value in quotes, or check the indentation \
         of the line"
            .to_owned()
    } else if is("expected string scalar") {
        "a key must be a text; put it in quotes".to_owned()
    } else {
        message.to_owned()
    }
}

/// Turns the lines of YAML, which a carriage return alone ends, too, into lines as editors count them.
#[derive(Debug)]
pub(super) struct Lines {
    /// Where each line of YAML begins.
    starts: Vec<Position>,
}

impl Lines {
    /// The lines of a text; nothing where both count alike, which is almost always.
    pub(super) fn new(text: &str) -> Option<Self> {
        let is_alone = |at: &usize| text.as_bytes().get(at + 1) != Some(&b'\n');
        text.match_indices('\r').map(|(at, _)| at).find(is_alone)?;
        let mut starts = vec![Position { line: 1, column: 1 }];
        let mut next = Position { line: 1, column: 1 };
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            if char == '\n' {
                next = Position { line: next.line + 1, column: 1 };
            } else {
                next.column += 1;
            }
            if char == '\n' || (char == '\r' && chars.peek() != Some(&'\n')) {
                starts.push(next);
            }
        }
        Some(Self { starts })
    }

    /// The same place as editors have it.
    pub(super) fn position(&self, Position { line, column }: Position) -> Position {
        let last = self.starts.len() - 1;
        let index = usize::try_from(line.saturating_sub(1)).map_or(last, |index| index.min(last));
        let start = self.starts[index];
        Position { line: start.line, column: start.column + column.saturating_sub(1) }
    }

    /// Does so for a tree.
    fn renumber(&self, node: &mut Node) {
        node.position = self.position(node.position);
        match &mut node.value {
            Value::List(items) => items.iter_mut().for_each(|item| self.renumber(item)),
            Value::Map(entries) => entries.iter_mut().for_each(|Entry { position, node, .. }| {
                *position = self.position(*position);
                self.renumber(node);
            }),
            _ => {}
        }
    }
}

// What a person reads where a file is no YAML: the parser knows its grammar, a person the lines of the file.

/// What is wrong at `position`, where the parser's `message` can be said by lines of the file.
fn in_lines(message: &str, text: &str, position: Position) -> Option<String> {
    let index = usize::try_from(position.line).ok()?.checked_sub(1)?;
    let here = Line::all(text).find(|line| line.index == index)?;
    let above: Vec<Line<'_>> = Line::all(text).take_while(|line| line.index < index).collect();
    if message.contains("mapping values are not allowed") {
        return above.last().and_then(|before| unexpected_colon(&here, before));
    }
    let is_indentation = ["did not find expected key", "did not find expected '-' indicator"]
        .iter()
        .any(|part| message.contains(part));
    if is_indentation { unlike_all(&here, &above) } else { None }
}

/// A line that is neither empty nor a comment.
struct Line<'a> {
    index: usize,
    text: &'a str,
    indent: usize,
}

impl<'a> Line<'a> {
    fn all(text: &'a str) -> impl Iterator<Item = Line<'a>> {
        let lines = text.lines().enumerate().map(|(index, line)| {
            let text = line.trim_start_matches(' ');
            Line { index, text, indent: line.len() - text.len() }
        });
        lines.filter(|line| !line.text.is_empty() && !line.text.starts_with('#'))
    }

    fn number(&self) -> usize {
        self.index + 1
    }

    fn is_entry(&self) -> bool {
        self.text.starts_with("- ")
    }

    /// Where the line's keys are: after the dash of an entry.
    fn indent_of_keys(&self) -> usize {
        self.indent + if self.is_entry() { 2 } else { 0 }
    }
}

fn unexpected_colon(here: &Line<'_>, before: &Line<'_>) -> Option<String> {
    let word = before.text.split(' ').find(|word| !word.is_empty() && *word != "-")?;
    let has_no_space = word.split_once(':').is_some_and(|(key, value)| !key.is_empty() && !value.is_empty());
    let number = before.number();
    if has_no_space && !word.contains("://") && !word.starts_with(['\'', '"', '{', '[']) {
        Some(format!("a space is missing behind the `:` of `{word}` on line {number}"))
    } else if here.indent > before.indent_of_keys() {
        Some(format!(
            "this line is indented by {} spaces and line {number}, which has a value of its own, by {}; indent both alike",
            here.indent,
            before.indent_of_keys()
        ))
    } else {
        None
    }
}

/// A line that is indented as none of those that it could belong to.
fn unlike_all(here: &Line<'_>, above: &[Line<'_>]) -> Option<String> {
    let mut open: Vec<(usize, usize)> = Vec::new();
    for line in above.iter().rev() {
        let outermost = open.last().map_or(usize::MAX, |(indent, _)| *indent);
        if here.is_entry() && !line.is_entry() {
            continue;
        }
        let indent = if here.is_entry() { line.indent } else { line.indent_of_keys() };
        if indent < outermost {
            open.push((indent, line.number()));
        }
        if line.indent == 0 {
            break;
        }
    }
    if open.is_empty() || open.iter().any(|(indent, _)| *indent == here.indent) {
        return None;
    }
    open.truncate(CHOICES_MAX);
    let choices: Vec<String> =
        open.iter().map(|(indent, number)| format!("{indent}, as line {number} is")).collect();
    Some(format!(
        "this line is indented by {} spaces; indent it by {}",
        here.indent,
        choices.join(", or by ")
    ))
}

/// Maximum indentations offered for a badly indented line.
const CHOICES_MAX: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(text: &str) -> Vec<(u64, u64)> {
        let Value::Map(entries) = Node::parse(text).unwrap().value else { panic!("{text:?} is no mapping") };
        entries.iter().map(|entry| (entry.position.line, entry.position.column)).collect()
    }

    #[test]
    fn places_are_where_an_editor_shows_them_whatever_ends_the_lines() {
        assert_eq!(positions("a: 1\nb: 2\nc: 3\n"), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(positions("a: 1\r\nb: 2\r\nc: 3\r\n"), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(positions("a: 1\rb: 2\nc: 3\r\rd: 4\r\ne: 5"), [(1, 1), (1, 6), (2, 1), (2, 7), (3, 1)]);
    }

    #[test]
    fn an_error_behind_carriage_returns_is_on_the_line_that_editors_show() {
        let error = Node::parse("a: 1\r\r\rb: [\n").unwrap_err();
        assert!(error.position.unwrap().line <= 2, "{error:?}");
    }
}
