//! The rules as a file of Prometheus. Names come from files and hosts, so that any text has to be quoted.

use std::collections::BTreeMap;

use super::rules::{Group, Rule, Translated};
use super::text::{one_line, quoted};

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
    let mut needs: BTreeMap<&str, bool> = BTreeMap::new();
    for rule in translated.sets.iter().flat_map(|set| &set.groups).flat_map(|group| &group.rules) {
        *needs.entry(&rule.needs.0).or_default() |= rule.needs.1;
    }
    if !needs.is_empty() {
        text.push_str("#\n");
        comment(
            &mut text,
            "",
            "The rules watch what a module of the plugin `pcq` exports with these countersets:",
        );
        for (counterset, has_total) in needs {
            let totals = if has_total { ", totals: keep" } else { "" };
            comment(&mut text, "  ", &format!("- {{name: {}{totals}}}", quoted(counterset)));
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
