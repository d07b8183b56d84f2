//! Texts of hosts, files and people where they can do harm: in one line of a log or of a terminal ([`one_line`]), as one
//! component of a path ([`component`]), as a secret ([`secret`]), as a name that does not exist ([`nearest`]).
//!
//! Such a text may clear a terminal, forge a line of a log, or show another name than it has: `gpj.exe` behind U+202E reads
//! `exe.jpg`. What does such things is written as `\u{202e}`; everything else stays as it is. Programs get the text itself, in
//! JSON for example.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod component;
pub mod nearest;
pub mod secret;

use core::fmt::{self, Write as _};

pub use self::component::{COMPONENT_BYTES_MAX, component, is_device, text_of};

/// A text whose [`Display`](fmt::Display) is one line that shows what is in it.
#[derive(Clone, Copy, Debug)]
pub struct OneLine<'a>(pub &'a str);

/// The same as a text, which can be padded and cut.
#[must_use]
pub fn one_line(text: &str) -> String {
    OneLine(text).to_string()
}

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match is_hidden(c) {
            true => write!(f, "{}", c.escape_default()),
            false => f.write_char(c),
        })
    }
}

/// What a character is in the text of an element of HTML, and in an attribute in quotes, where it is not itself.
#[must_use]
pub const fn html_entity(c: char) -> Option<&'static str> {
    Some(match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        _ => return None,
    })
}

/// Whether a character breaks the line, commands a terminal, is not seen, or changes the order in which others are.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_deceive_a_reader_is_written_out() {
        for (text, expected) in [
            ("\\PIPE\\é", "\\PIPE\\é"),
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\u{1b}[2J\u{7}\u{9b}1A", "\\u{1b}[2J\\u{7}\\u{9b}1A"),
            ("Night\u{202e}gpj.exe", "Night\\u{202e}gpj.exe"),
            ("\u{2066}a\u{2069}\u{2028}\u{feff}", "\\u{2066}a\\u{2069}\\u{2028}\\u{feff}"),
            // Joiners are letters of Persian and parts of pictures.
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
        ] {
            assert_eq!(one_line(text), expected);
        }
    }
}
