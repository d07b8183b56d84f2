//! The rules as a file of Prometheus. Names come from files and hosts, so that any text has to be quoted.

use super::translate::{Group, Rule, Translated};

/// The whole file.
pub(super) fn write(translated: &Translated, host: &str) -> String {
    let mut text =
        "# Alerting rules for Prometheus, made of data collector sets by `perfmon-exporter pla to-rules`.\n"
            .to_owned();
    comment(&mut text, "", &format!("The types of the counters are those of {host}."));
    for set in translated.sets.iter().filter(|set| !set.remarks.is_empty()) {
        text.push_str("#\n");
        comment(&mut text, "", &format!("{} ({}):", set.name, set.file));
        for remark in &set.remarks {
            comment(&mut text, "  ", &remark.without_file());
        }
    }
    let groups: Vec<&Group> = translated.sets.iter().flat_map(|set| &set.groups).collect();
    if groups.is_empty() {
        text.push_str("groups: []\n");
        return text;
    }
    text.push_str("groups:\n");
    for group in groups {
        text.push_str(&format!("  - name: {}\n", quoted(&group.name)));
        text.push_str(&format!("    interval: {}s\n    rules:\n", group.interval_s));
        group.rules.iter().for_each(|rule| write_rule(&mut text, rule));
    }
    text
}

fn write_rule(text: &mut String, rule: &Rule) {
    for note in &rule.notes {
        text.push_str(&format!("      # {}\n", one_line(note)));
    }
    text.push_str(&format!("      - alert: {}\n", quoted(&rule.alert)));
    text.push_str(&format!("        expr: {}\n        labels:\n", quoted(&rule.expr)));
    for (label, value) in &rule.labels {
        text.push_str(&format!("          {label}: {}\n", quoted(value)));
    }
    text.push_str(&format!("        annotations:\n          summary: {}\n", quoted(&rule.summary)));
}

fn comment(text: &mut String, indent: &str, line: &str) {
    text.push_str(&format!("# {indent}{}\n", one_line(line)));
}

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

/// Whether YAML has the character in a line, and a reader sees it where it stands.
fn is_shown(char: char) -> bool {
    let is_printable = matches!(char, ' '..='~' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    // Ends of lines, the byte order mark, and what changes the direction of the text around it.
    let is_unseen = matches!(
        char,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
    );
    is_printable && !is_unseen
}
