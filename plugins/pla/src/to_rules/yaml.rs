//! The rules as a file of Prometheus. Names come from files and hosts, so that any text has to be quoted.

use std::collections::BTreeMap;

use super::rules::{Group, Need, Rule, Translated};
use super::text::{one_line, quoted};

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
    let mut needs: BTreeMap<&str, Need> = BTreeMap::new();
    for rule in translated.sets.iter().flat_map(|set| &set.groups).flat_map(|group| &group.rules) {
        let known = needs.entry(&rule.needs.counterset).or_insert_with(|| rule.needs.clone());
        known.totals |= rule.needs.totals;
        known.aggregate |= rule.needs.aggregate;
    }
    if !needs.is_empty() {
        text.push_str("#\n");
        comment(
            &mut text,
            "",
            "The rules watch what a module of the plugin `pcq` exports with these countersets:",
        );
        for need in needs.values() {
            comment(&mut text, "  ", &format!("- {}", need.setting()));
        }
        comment(
            &mut text,
            "",
            "What a configuration lacks of that: `perfmon-tool compat --config FILE RULES`.",
        );
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

impl Need {
    /// The counterset as the settings of `pcq` have it.
    fn setting(&self) -> String {
        let totals = if self.totals { ", totals: keep" } else { "" };
        let aggregate = if self.aggregate { ", aggregate: true" } else { "" };
        format!("{{name: {}{totals}{aggregate}}}", quoted(&self.counterset))
    }
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
