//! `normalize:`, process-wide, of a module, of a target and of targets at large: how series get their names and labels.

use safe_text::nearest::suggestion;
use std::path::Path;

use series::pipeline::{ACTIONS, BadRule, Limits, Normalize, Profile, RelabelConfig, Rule, Rules};

use super::item::Item;
use super::naming::naming;
use super::node::Value;
use super::scrape::SERIES_MAX;
use super::section::{RELABEL, Section};

/// Maximum rules of one section.
const RULES_MAX: usize = 1_000;

/// One of `normalize:`. Where several hold for a series, the rules of its module come first, then those of its target,
/// then those of the process; anything else is what the first of them says that says it. Those of `target_defaults` are
/// a target's that has none: a section of its own is in their place, so that a target can be left out of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NormalizeSection {
    pub naming: Option<Profile>,
    /// `drop`, then `rename`, then `metric_relabel_configs`.
    pub rules: Rules,
    pub limits: LimitsSection,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitsSection {
    /// `max_series`: of one module on one target. Default: what the target may have.
    pub max_series: Option<u32>,
    /// `max_family_series`: of one family of a module on a target. Default: the same.
    pub max_family_series: Option<u32>,
    /// `max_families`: of one module on one target. Default 20,000.
    pub max_families: Option<u32>,
    /// `max_labels`: of one series, beside those of its target. Default 16.
    pub max_labels: Option<u32>,
    /// `max_label_bytes`: of a label's value. Default 1024.
    pub max_label_bytes: Option<u32>,
    /// `max_name_bytes`: of a name. Default 400.
    pub max_name_bytes: Option<u32>,
}

/// What holds where these sections do, the narrowest first, on a target that may have `series_max` series.
pub(super) fn joined(sections: &[&NormalizeSection], series_max: u32) -> Normalize {
    let limit = |limit: fn(&LimitsSection) -> Option<u32>, default| {
        let said = sections.iter().find_map(|section| limit(&section.limits));
        said.map_or(default, |said| said as usize)
    };
    let default = Limits::default();
    Normalize {
        profile: sections.iter().find_map(|section| section.naming.clone()).unwrap_or_default(),
        rules: Rules::joined(sections.iter().map(|section| &section.rules)),
        limits: Limits {
            series_max: series_max as usize,
            instance_series_max: limit(|limits| limits.max_series, default.instance_series_max),
            family_series_max: limit(|limits| limits.max_family_series, default.family_series_max),
            families_max: limit(|limits| limits.max_families, default.families_max),
            labels_max: limit(|limits| limits.max_labels, default.labels_max),
            label_value_bytes_max: limit(|limits| limits.max_label_bytes, default.label_value_bytes_max),
            name_bytes_max: limit(|limits| limits.max_name_bytes, default.name_bytes_max),
            ..default
        },
    }
}

/// Reads a section. `outer` is the process-wide one, whose naming holds where this one says nothing; relative paths
/// start at `base`.
pub(super) fn normalize(item: &Item<'_>, outer: Option<&NormalizeSection>, base: &Path) -> NormalizeSection {
    let mut normalize = NormalizeSection::default();
    let Some(mut section) = item.section(&[]) else { return normalize };
    normalize.naming = section.get("naming").and_then(|item| naming(&item, base));
    let outer = outer.and_then(|outer| outer.naming.as_ref());
    let is_utf8 = normalize.naming.as_ref().or(outer).is_some_and(Profile::is_utf8);
    let mut rules = Vec::new();
    let mut read = |item: Option<Item<'_>>, rule: &dyn Fn(&Item<'_>) -> Option<Rule>| {
        let items = item.as_ref().map(Item::list).unwrap_or_default();
        if let (Some(item), true) = (&item, rules.len() + items.len() > RULES_MAX) {
            item.problem(format!("makes more than {RULES_MAX} rules, which is the limit"), None);
        } else {
            rules.extend(items.iter().filter_map(rule));
        }
    };
    read(section.get("drop"), &drop_rule);
    read(section.get("rename"), &rename_rule);
    read(section.get(RELABEL), &|item| relabel_rule(item, is_utf8));
    normalize.rules = Rules::from_iter(rules);
    normalize.limits = section.get("limits").map(|item| limits(&item)).unwrap_or_default();
    section.finish();
    normalize
}

/// A pattern of families, or families with patterns of labels.
fn drop_rule(item: &Item<'_>) -> Option<Rule> {
    let at = |key| if key == "labels" { item.key("labels") } else { item.key("name") };
    if let Value::Text(_) = item.node.value {
        return report_error(Rule::drop_series(item.text()?, &[]), |_| item.clone());
    }
    let mut section = item.section(&[])?;
    let name = section.get("name").map_or(Some("(.*)"), |item| item.text());
    let labels = section.get("labels").map(|item| item.named()).unwrap_or_default();
    let labels: Vec<(String, String)> = labels
        .iter()
        .filter_map(|(entry, value)| Some((entry.key.clone(), value.text_or_empty()?.to_owned())))
        .collect();
    section.finish();
    if labels.is_empty() && item.key("name").path == item.path {
        item.problem("says neither `name` nor `labels`", Some("it would drop everything".to_owned()));
        return None;
    }
    report_error(Rule::drop_series(name?, &labels), at)
}

fn rename_rule(item: &Item<'_>) -> Option<Rule> {
    let mut section = item.section(&[])?;
    let from = section.require("from", "name the family, or write an expression for several");
    let from = from.and_then(|item| item.text());
    let to = section.require("to", "write the new name").and_then(|item| item.text());
    section.finish();
    report_error(Rule::rename(from?, to?), |key| item.key(key))
}

/// One of `metric_relabel_configs`, by Prometheus' keys.
fn relabel_rule(item: &Item<'_>, utf8: bool) -> Option<Rule> {
    let mut section = item.section(&[])?;
    let config = RelabelConfig {
        source_labels: section.get("source_labels").map(|item| {
            let items = item.list();
            items.iter().filter_map(Item::text).map(str::to_owned).collect()
        }),
        separator: text(&mut section, "separator"),
        target_label: text(&mut section, "target_label"),
        regex: text(&mut section, "regex"),
        modulus: section.get("modulus").and_then(|item| modulus(&item)),
        replacement: text(&mut section, "replacement"),
        action: action(&mut section)?,
    };
    section.finish();
    report_error(config.compile(utf8), |key| item.key(key))
}

/// The known word in lower case; `None` if it is invalid, which is reported.
fn action(section: &mut Section<'_>) -> Option<Option<String>> {
    let Some(item) = section.get("action") else { return Some(None) };
    let word = item.text()?.to_lowercase();
    if ACTIONS.contains(&word.as_str()) {
        return Some(Some(word));
    }
    let hint = suggestion(&word, ACTIONS);
    item.problem(format!("there is no action `{word}`"), hint);
    None
}

/// A text, or a number that YAML made of one.
fn text(section: &mut Section<'_>, key: &'static str) -> Option<String> {
    let item = section.get(key)?;
    match item.node.value {
        Value::Integer(number) => Some(number.to_string()),
        _ => item.text_or_empty().map(str::to_owned),
    }
}

fn modulus(item: &Item<'_>) -> Option<u64> {
    let number = match item.node.value {
        Value::Integer(number) => u64::try_from(number).ok(),
        Value::Unsigned(number) => Some(number),
        _ => None,
    };
    if number.is_none() {
        item.problem("is not a whole number", None);
    }
    number
}

fn report_error<'a>(made: Result<Rule, BadRule>, at: impl Fn(&'static str) -> Item<'a>) -> Option<Rule> {
    made.map_err(|bad| at(bad.key).problem(bad.message, bad.hint)).ok()
}

fn limits(item: &Item<'_>) -> LimitsSection {
    let mut limits = LimitsSection::default();
    let Some(mut section) = item.section(&[]) else { return limits };
    let mut count = |key, range| section.get(key).and_then(|item| item.count(range));
    limits.max_series = count("max_series", 1..=SERIES_MAX);
    limits.max_family_series = count("max_family_series", 1..=SERIES_MAX);
    limits.max_families = count("max_families", 1..=100_000);
    limits.max_labels = count("max_labels", 1..=64);
    limits.max_label_bytes = count("max_label_bytes", 1..=65_536);
    limits.max_name_bytes = count("max_name_bytes", 16..=4_096);
    section.finish();
    limits
}
