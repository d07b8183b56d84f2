//! Texts of files and hosts, as YAML and readers of comments have them.

use safe_text::is_hidden;

/// A scalar for any text: in single quotes, which keep backslashes, where there is nothing that only an escape can say.
pub(super) fn quoted(text: &str) -> String {
    if text.chars().all(is_shown) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = "\"".to_owned();
    for char in text.chars() {
        match (char, u32::from(char)) {
            ('"' | '\\', _) => quoted.extend(['\\', char]),
            _ if is_shown(char) => quoted.push(char),
            (_, code @ ..=0xff) => quoted.push_str(&format!("\\x{code:02x}")),
            (_, code @ ..=0xffff) => quoted.push_str(&format!("\\u{code:04x}")),
            (_, code) => quoted.push_str(&format!("\\U{code:08x}")),
        }
    }
    quoted.push('"');
    quoted
}

/// A text for a comment or a terminal: one line, without characters that are not shown.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|char| if is_shown(char) { char } else { '\u{fffd}' }).collect()
}

/// Whether YAML has the character in a line, and a reader sees it where it is.
fn is_shown(char: char) -> bool {
    let is_printable = matches!(char, ' '..='~' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    // YAML's own readers take joiners, but people do not see them in what is copied.
    is_printable && !is_hidden(char) && !matches!(char, '\u{200c}' | '\u{200d}')
}
