//! What a person reads where a file is no YAML: the parser knows its grammar, a person the lines of the file.

use super::node::Position;

/// What is wrong at `position`, where the parser's `message` can be said by lines of the file.
pub(super) fn in_lines(message: &str, text: &str, position: Position) -> Option<String> {
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

    /// Where the line's keys stand: after the dash of an entry.
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
