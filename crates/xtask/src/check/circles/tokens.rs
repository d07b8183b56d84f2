//! The words of a Rust file: names and punctuation, without comments, strings and numbers.

/// A word with the number of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// A name, `::`, or one other character.
    pub(super) text: &'a str,
    pub(super) line: usize,
}

/// All words of `source`.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let (mut tokens, mut line, mut rest) = (Vec::new(), 1, source);
    while let Some(first) = rest.chars().next() {
        let (len, is_token) = next(rest, first);
        let (text, after) = rest.split_at(len);
        if is_token {
            tokens.push(Token { text, line });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    tokens
}

/// The length in bytes of what `rest` begins with, and whether it is a token.
fn next(rest: &str, first: char) -> (usize, bool) {
    if rest.starts_with("//") {
        (rest.find('\n').unwrap_or(rest.len()), false)
    } else if rest.starts_with("/*") {
        (block_comment(rest), false)
    } else if let Some(len) = raw_string(rest) {
        (len, false)
    } else if first == '"' || rest.starts_with("b\"") || rest.starts_with("c\"") {
        (quoted(rest), false)
    } else if first == '\'' || rest.starts_with("b'") {
        (character_or_lifetime(rest), false)
    } else if first.is_ascii_digit() {
        (rest.find(|c| !is_name(c)).unwrap_or(rest.len()), false)
    } else if is_name(first) {
        (rest.find(|c| !is_name(c)).unwrap_or(rest.len()), true)
    } else if rest.starts_with("::") {
        (2, true)
    } else {
        (first.len_utf8(), !first.is_whitespace())
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        let step = if tail.starts_with("/*") {
            depth += 1;
            2
        } else if tail.starts_with("*/") {
            depth -= 1;
            2
        } else {
            tail.chars().next().map_or(1, char::len_utf8)
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of `r"…"`, `br#"…"#` and the like; nothing for other words that begin so.
fn raw_string(rest: &str) -> Option<usize> {
    let prefix = ["r", "br", "cr"].into_iter().find(|prefix| {
        rest.strip_prefix(prefix).is_some_and(|tail| tail.starts_with('"') || tail.starts_with("#"))
    })?;
    let tail = &rest[prefix.len()..];
    let hashes = tail.len() - tail.trim_start_matches('#').len();
    // `r#name` is a name.
    let body = tail[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let len = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(rest.len() - body.len() + len)
}

/// A string with escapes, its prefix included.
fn quoted(rest: &str) -> usize {
    let mut is_escaped = false;
    let begin = rest.find('"').map_or(0, |at| at + 1);
    for (at, c) in rest[begin..].char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return begin + at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// `'a'`, `b'\n'`, or the quote of a lifetime, whose name is then passed over as well.
fn character_or_lifetime(rest: &str) -> usize {
    let begin = rest.find('\'').map_or(0, |at| at + 1);
    let mut chars = rest[begin..].char_indices();
    match chars.next() {
        Some((_, '\\')) => {
            // What is escaped may be a quote.
            chars.next();
            chars.find(|(_, c)| *c == '\'').map_or(rest.len(), |(at, _)| begin + at + 1)
        }
        Some((_, first)) => {
            let after = begin + first.len_utf8();
            if rest[after..].starts_with('\'') {
                after + 1
            } else {
                rest[begin..].find(|c| !is_name(c)).map_or(rest.len(), |at| begin + at)
            }
        }
        None => rest.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_strings_and_lifetimes_are_passed_over() {
        let source = "a /* crate::x /* nested */ */ b // crate::y\n\"crate::\\\"z\" r#\"crate::\"q\"# c b'\\'' '{' \
                      <'a> 'static r#type 12u8";
        assert_eq!(texts(source), ["a", "b", "c", "<", ">", "r", "#", "type"]);
        assert_eq!(texts("crate::a::{b,*};"), ["crate", "::", "a", "::", "{", "b", ",", "*", "}", ";"]);
    }

    #[test]
    fn lines_are_counted_through_comments_and_strings() {
        let found = tokens("a\n/*\n*/ b \"\n\n\" c");
        assert_eq!(found.iter().map(|token| token.line).collect::<Vec<_>>(), [1, 3, 5]);
    }
}
