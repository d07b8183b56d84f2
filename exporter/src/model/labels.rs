//! Labels in the text form that all formats share, and back.

use std::borrow::Cow;

/// Appends `value` as it stands between the quotes of a label.
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

/// The labels of a rendered prefix `name{a="1",b="2"} `, unescaped.
#[derive(Clone, Debug)]
pub struct Labels<'a> {
    rest: &'a str,
}

impl<'a> Labels<'a> {
    pub(super) fn of_prefix(prefix: &'a str) -> Self {
        Self { rest: prefix.split_once('{').map_or("", |(_, labels)| labels) }
    }
}

impl<'a> Iterator for Labels<'a> {
    type Item = (&'a str, Cow<'a, str>);

    fn next(&mut self) -> Option<Self::Item> {
        let (name, rest) = self.rest.split_once("=\"")?;
        let mut escaped = false;
        let end = rest.bytes().position(|byte| {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            closes
        })?;
        self.rest = rest[end + 1..].trim_start_matches(',');
        Some((name, unescape(&rest[..end])))
    }
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
    fn control_characters_do_not_reach_a_page() {
        let mut out = Vec::new();
        escape_label_value("a\0b\rc\td\x7f", &mut out);
        assert_eq!(out, "a\u{fffd}b\u{fffd}c\td\u{fffd}".as_bytes());
    }
}
