//! What all series of one name have in common.

use std::sync::Arc;

use plugin_abi::{DisplayRule, Kind};

use super::Bounds;

/// A metric family. One name has one family in the whole process, shared by all targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Family {
    /// The name without the suffix of its kind, as OpenMetrics means it: `perfmon_http_service_requests`.
    ///
    /// INVARIANT: not empty and clean (see [`super::clean_name`]); ends with `_<unit>` where there is a unit; in no
    /// [`Family`] that lives beside this one is it, or its name with a suffix, taken, in any [`super::Escaping`].
    pub name: String,
    /// What the values mean.
    pub kind: Kind,
    /// The base unit, `seconds`, `bytes` …, or empty.
    pub unit: String,
    /// A sentence for people, then where it comes from. Unescaped.
    pub help: String,
    /// How many bytes of `help` are the sentence; after them is where the family comes from.
    pub help_sentence_bytes: usize,
    /// The namespace of a source that has one, `complus`; empty for performance counters.
    pub namespace: String,
    /// The counterset, in the source's own words.
    pub counterset: String,
    /// The counter, in the source's own words.
    pub counter: String,
    /// Which part of the counter it is: empty, `base`, `inactive` …
    pub part: String,
    /// Of a histogram the largest value that each bucket takes; else none.
    pub bounds: Bounds,
    /// How pages compute the shown value, see [`super::cooked`].
    pub display: DisplayRule,
    /// The part of the same counter that the rule computes with: see [`super::Snapshot::base_of`]. Empty where it needs none.
    pub base: String,
    /// The names for OTLP, where they are not those of Prometheus.
    pub otlp: Option<Arc<OtlpNames>>,
}

/// What a family is called in OTLP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtlpNames {
    pub name: String,
    /// The unit by UCUM: `s`, `By`, `{thread}`.
    pub unit: String,
    /// A gauge of which the sum over all series means something: what OpenTelemetry calls an `UpDownCounter`.
    pub is_sum: bool,
    /// What labels are there.
    pub attributes: Vec<OtlpAttribute>,
}

/// What a label is in OTLP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtlpAttribute {
    pub label: String,
    pub name: String,
    /// Whether its values are integers, as those of `process.pid` are.
    pub is_integer: bool,
}

impl Family {
    /// What a label is in OTLP, where that is said.
    #[must_use]
    pub fn attribute(&self, label: &str) -> Option<&OtlpAttribute> {
        let mut attributes = self.otlp.iter().flat_map(|names| &names.attributes);
        attributes.find(|attribute| attribute.label == label)
    }

    /// The name that is on its sample lines.
    #[must_use]
    pub fn sample_name(&self) -> String {
        format!("{}{}", self.name, self.kind.sample_suffix())
    }

    /// How many samples a series of it has in text, which is how many series Prometheus makes of it: of a histogram its
    /// buckets, that of +Inf among them, its sum and its count.
    #[must_use]
    pub fn samples(&self) -> usize {
        match self.kind {
            Kind::Histogram => self.bounds.len() + 3,
            Kind::Gauge | Kind::Counter | Kind::Info | Kind::Unknown => 1,
        }
    }

    /// How its values are shown: of a histogram their mean, of others what the source said, and where it said nothing the rate of a counter and the value of
    /// others.
    #[must_use]
    pub fn display_rule(&self) -> DisplayRule {
        match (self.display, self.kind) {
            (_, Kind::Histogram) => DisplayRule::Average,
            (DisplayRule::None, Kind::Counter) => DisplayRule::Rate,
            (DisplayRule::None, _) => DisplayRule::Value,
            (rule, _) => rule,
        }
    }

    /// What it is, in a sentence, without where it comes from.
    #[must_use]
    pub fn sentence(&self) -> &str {
        self.help.get(..self.help_sentence_bytes).unwrap_or(&self.help).trim_end()
    }
}
