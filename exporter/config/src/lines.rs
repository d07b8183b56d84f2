use super::node::{Entry, Node, Position, Value};

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
    pub(super) fn renumber(&self, node: &mut Node) {
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
