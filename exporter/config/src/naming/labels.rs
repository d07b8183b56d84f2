//! `labels:` of a profile file, and which instances have series.

use series::model::is_legacy_label;
use series::pipeline::{Group, LabelValue};

use super::style::Style;
use crate::item::Item;
use crate::node::Value;

/// What a file says of labels, the last one of a name wins.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels(Vec<(String, LabelValue)>);

impl Labels {
    /// The same with those of a narrower place.
    pub(super) fn with(&self, item: Option<Item<'_>>, style: Style) -> Self {
        let mut labels = self.clone();
        let Some(item) = item else { return labels };
        for (entry, value) in item.named() {
            let name = entry.key.as_str();
            let label = style.label(name);
            if !is_legacy_label(&label) || label.starts_with("__") || RESERVED.contains(&label.as_str()) {
                let hint = "use letters, digits and `_`, and none of the exporter's own labels".to_owned();
                item.problem_at(entry.position, format!("`{name}` is not a label's name"), Some(hint));
            } else if let Some(value) = label_value(&value) {
                labels.0.retain(|(own, _)| own != name);
                labels.0.push((name.to_owned(), value));
            }
        }
        labels
    }

    /// The labels as they are on a page.
    pub(super) fn rules(&self, style: Style) -> Vec<(String, LabelValue)> {
        self.0.iter().map(|(name, value)| (style.label(name), value.clone())).collect()
    }

    /// The labels' names as they are written.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// A text, or the label of the source that it is taken from; `null` for none.
fn label_value(item: &Item<'_>) -> Option<LabelValue> {
    if let Value::Null = item.node.value {
        return Some(LabelValue::Fixed(String::new()));
    }
    if let Value::Text(_) = item.node.value {
        return item.text().map(|text| LabelValue::Fixed(text.to_owned()));
    }
    let mut section = item.section(&[])?;
    if let Some(star) = section.get("star") {
        section.finish();
        return star.text().map(|text| LabelValue::Star(text.to_owned()));
    }
    let from = section.require("from", "name a label of the source, such as `counter_instance`");
    let label = from.and_then(|item| item.text().map(str::to_owned));
    let strip = section.text("strip").unwrap_or_default();
    let after = section.text("after").unwrap_or_default();
    let until = section.text("until").unwrap_or_default();
    let underscores = section.flag("underscores");
    let regex = section.get("regex");
    section.finish();
    let label = label?;
    let Some(regex) = regex else {
        let underscores = underscores.unwrap_or_default();
        return Some(LabelValue::From { label, strip, after, until, underscores });
    };
    if !(strip.is_empty() && after.is_empty() && until.is_empty() && underscores.is_none()) {
        regex.problem("cannot stand beside `strip`, `after`, `until` or `underscores`", None);
    }
    match Group::new(&label, regex.text()?) {
        Ok(group) => Some(LabelValue::Group(group)),
        Err(problem) => {
            regex.problem(format!("is not a valid regular expression: {problem}"), None);
            None
        }
    }
}

/// Labels that the exporter sets itself.
const RESERVED: &[&str] = &["target", "le", "quantile"];
