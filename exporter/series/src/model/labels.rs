//! Labels in the text form that all formats share, and back.

use std::borrow::Cow;

use super::name::{is_legacy_label, is_legacy_name};

/// Appends `value` as it is between the quotes of a label.
///
/// Backslash, quote and newline are escaped as both text formats ask. Other control characters become U+FFFD:
/// they mean nothing in a label, and some readers stop at them.
pub fn escape_label_value(value: &str, out: &mut Vec<u8>) {
    let bytes = value.as_bytes();
    let mut copied = 0;
    for (index, &byte) in bytes.iter().enumerate() {
        let replacement: &[u8] = match byte {
            b'\\' => b"\\\\",
            b'"' => b"\\\"",
            b'\n' => b"\\n",
            b'\t' => continue,
            0..0x20 | 0x7f => "\u{fffd}".as_bytes(),
            _ => continue,
        };
        out.extend_from_slice(&bytes[copied..index]);
        out.extend_from_slice(replacement);
        copied = index + 1;
    }
    out.extend_from_slice(&bytes[copied..]);
}

/// Bytes of a value as readers get it: a control character takes more of them when it becomes U+FFFD.
pub(crate) fn shown_bytes(value: &str) -> usize {
    let replaced = value.bytes().filter(|byte| matches!(byte, 0..0x20 | 0x7f) && !b"\n\t".contains(byte));
    value.len() + replaced.count() * (char::REPLACEMENT_CHARACTER.len_utf8() - 1)
}

/// `value` as [`escape_label_value`] writes it; most values need no escapes.
#[must_use]
pub fn escaped_label_value(value: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte >= 0x20 && byte != 0x7f && byte != b'"' && byte != b'\\';
    if value.bytes().all(is_plain) {
        return value.into();
    }
    let mut out = Vec::with_capacity(value.len());
    escape_label_value(value, &mut out);
    String::from_utf8(out).unwrap_or_default().into()
}

/// The labels of a rendered prefix, `name{a="1",b="2"} ` or `{"na.me","la.bel"="1"} `, unescaped.
#[derive(Clone, Debug)]
pub struct Labels<'a> {
    rest: &'a str,
}

impl<'a> Labels<'a> {
    /// Those of a prefix.
    #[must_use]
    pub fn of_prefix(prefix: &'a str) -> Self {
        let rest = prefix.split_once('{').map_or("", |(_, labels)| labels);
        // A name in quotes is the metric's if no `=` follows.
        let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        match quoted {
            Some((_, behind)) if !behind.starts_with('=') => Self { rest: behind.trim_start_matches(',') },
            _ => Self { rest },
        }
    }

    /// The next label, its value as it is in the prefix.
    pub fn next_escaped(&mut self) -> Option<(&'a str, &'a str)> {
        let (name, rest) = match self.rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once("\"=\"")?,
            None => self.rest.split_once("=\"")?,
        };
        let mut escaped = false;
        let end = rest.bytes().position(|byte| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        })?;
        self.rest = rest[end + 1..].trim_start_matches(',');
        Some((name, &rest[..end]))
    }
}

impl<'a> Iterator for Labels<'a> {
    type Item = (&'a str, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.next_escaped()?;
        Some((name, unescape(value)))
    }
}

/// Appends a label's name as it comes before the `=`, in quotes if it needs them. The name is clean.
fn push_label_name(name: &str, out: &mut Vec<u8>) {
    push_quoted_unless(is_legacy_label(name), name, out);
}

/// Appends a metric's name where it stands for itself, in quotes if it needs them. The name is clean.
pub fn push_metric_name(name: &str, out: &mut Vec<u8>) {
    push_quoted_unless(is_legacy_name(name), name, out);
}

fn push_quoted_unless(bare: bool, name: &str, out: &mut Vec<u8>) {
    let quote: &[u8] = if bare { b"" } else { b"\"" };
    for part in [quote, name.as_bytes(), quote] {
        out.extend_from_slice(part);
    }
}

/// Appends `name{a="1",b="2"} ` or, if the name needs quotes, `{"na.me",a="1",b="2"} `. Values are escaped already.
pub fn push_prefix<'a>(
    sample_name: &str,
    labels: impl IntoIterator<Item = (&'a str, &'a str)>,
    out: &mut Vec<u8>,
) {
    let begin = out.len();
    let bare = is_legacy_name(sample_name);
    if !bare {
        out.push(b'{');
    }
    push_metric_name(sample_name, out);
    let open = out.len();
    for (name, value) in labels {
        out.push(b',');
        push_label_name(name, out);
        out.extend_from_slice(b"=\"");
        out.extend_from_slice(value.as_bytes());
        out.push(b'"');
    }
    if bare && out.len() > open {
        out[open] = b'{';
    }
    if out[begin] == b'{' || out.len() > open {
        out.push(b'}');
    }
    out.push(b' ');
}

fn unescape(value: &str) -> Cow<'_, str> {
    if !value.contains('\\') {
        return Cow::Borrowed(value);
    }
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => plain.extend(chars.next().map(|escaped| if escaped == 'n' { '\n' } else { escaped })),
            _ => plain.push(char),
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_back_from_a_prefix_as_they_went_in() {
        let nasty = "a\\b\"c\nd,e=\"f\"}{ \u{e9}\\";
        let mut prefix = b"name{target=\"web1\",nasty=\"".to_vec();
        escape_label_value(nasty, &mut prefix);
        prefix.extend_from_slice(b"\"} ");
        let prefix = String::from_utf8(prefix).expect("escaping keeps UTF-8");
        let labels: Vec<_> = Labels::of_prefix(&prefix).collect();
        assert_eq!(labels, [("target", Cow::from("web1")), ("nasty", Cow::from(nasty))]);
        assert_eq!(Labels::of_prefix("name ").count(), 0);
    }

    #[test]
    fn names_in_quotes_come_back_as_they_went_in() {
        let labels = [("a", "1"), ("b.c", r#"}\",\"d\"="#), ("é=,{", "")];
        for name in ["legacy", "na.me", "{}", "a=\u{e9},"] {
            let mut prefix = Vec::new();
            push_prefix(name, labels, &mut prefix);
            let prefix = String::from_utf8(prefix).expect("it is made of texts");
            let mut read = Labels::of_prefix(&prefix);
            for label in labels {
                assert_eq!(read.next_escaped(), Some(label), "{prefix}");
            }
            assert_eq!(read.next_escaped(), None);
            let mut alone = Vec::new();
            push_prefix(name, [], &mut alone);
            assert_eq!(Labels::of_prefix(&String::from_utf8(alone).expect("it is a text")).count(), 0);
        }
    }

    #[test]
    fn control_characters_do_not_reach_a_page() {
        let mut out = Vec::new();
        escape_label_value("a\0b\rc\td\x7f", &mut out);
        assert_eq!(out, "a\u{fffd}b\u{fffd}c\td\u{fffd}".as_bytes());
    }
}
