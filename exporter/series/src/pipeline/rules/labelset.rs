//! The labels of one series while rules work on them.

use std::borrow::Cow;

use crate::model::{clean_name, is_legacy_label};
use crate::pipeline::limits::Refusal;

/// Name and labels of a series. A label is never empty: to set it to nothing is to take it away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::pipeline) struct LabelSet<'a> {
    /// The name of the metric as it stands on its samples, `__name__` to the rules.
    pub(in crate::pipeline) name: Cow<'a, str>,
    /// The others, in any order.
    pub(in crate::pipeline) labels: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl<'a> LabelSet<'a> {
    /// The label's value; empty where there is none.
    pub(in crate::pipeline) fn value(&self, name: &str) -> &str {
        if name == METRIC_NAME {
            return &self.name;
        }
        self.labels.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// Writes a label.
    pub(super) fn set(&mut self, name: Cow<'a, str>, value: Cow<'a, str>) -> Result<(), Refusal> {
        let is_metric_name = name == METRIC_NAME;
        if name.len() > NAME_BYTES_MAX || (is_metric_name && value.len() > VALUE_BYTES_MAX) {
            return Err(Refusal::NameTooLong);
        } else if value.len() > VALUE_BYTES_MAX {
            return Err(Refusal::LabelTooLong);
        }
        if is_metric_name {
            self.name = value;
        } else if value.is_empty() {
            self.labels.retain(|(own, _)| *own != name);
        } else if let Some((_, own)) = self.labels.iter_mut().find(|(own, _)| *own == name) {
            *own = value;
        } else if self.labels.len() >= LABELS_MAX {
            return Err(Refusal::TooManyLabels);
        } else {
            self.labels.push((name, value));
        }
        Ok(())
    }

    /// Keeps the labels whose names `keeps`; the target's own always stays.
    pub(super) fn retain(&mut self, keeps: impl Fn(&str) -> bool) {
        if !keeps(METRIC_NAME) {
            self.name = Cow::Borrowed("");
        }
        self.labels.retain(|(name, _)| name == TARGET || keeps(name));
    }
}

/// Whether a series may have a label of that name.
pub(super) fn is_label_name(name: &str, utf8: bool) -> bool {
    is_legacy_label(name) || (utf8 && !name.is_empty() && clean_name(name) == name)
}

/// The name of the label that holds the metric's name.
pub(in crate::pipeline) const METRIC_NAME: &str = "__name__";
/// The name of the label that says whom the series is about.
pub(in crate::pipeline) const TARGET: &str = "target";
/// While rules work, a series may have so many labels, and a name or a value so many bytes: more than it may have
/// afterwards, so that rules can make less of it, and little enough that no rules make a mountain.
const LABELS_MAX: usize = 256;
const NAME_BYTES_MAX: usize = 8 << 10;
pub(super) const VALUE_BYTES_MAX: usize = 64 << 10;
