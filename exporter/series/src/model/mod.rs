//! The vocabulary between a plugin's data and what is served: families, series, points, snapshots.
//!
//! A [`Snapshot`] is what one plugin instance knew of one target when its last collection ended. It is immutable
//! and cheap to share: readers hold an `Arc` and walk it without a lock. Inside it is columnar:
//!
//! * a [`Layout`] says which series there are, family by family, each with its rendered prefix `name{labels} `;
//!   it changes only when series come or go;
//! * [`Values`] hold one value, or one histogram, for each series id and whether the last collection brought one.
//!
//! [`Snapshot::families`] walks both for readers that are not in a hurry; encoders of pages go through the
//! chunks themselves.

mod cooked;
mod labels;
mod layout;
mod name;
mod shape;
mod snapshot;
mod values;

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

pub use self::cooked::{Sample, Shown, ShownUnit, cooked, needs_earlier};
pub(crate) use self::labels::shown_bytes;
pub use self::labels::{Labels, escape_label_value, escaped_label_value, push_metric_name, push_prefix};
pub use self::layout::{Block, Chunk, Layout};
pub use self::name::{Escaping, clean_name, is_legacy_label, is_legacy_name};
pub use self::shape::Shape;
pub(crate) use self::snapshot::Size;
pub use self::snapshot::{FamilyPoints, Point, Snapshot};
pub(crate) use self::values::{Roster, Slots};
pub use self::values::{Scattered, Value, Values};
pub use plugin_abi::{DisplayRule, Kind, ValueKind};

/// A target's identity: what each of its series carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Its unique name in the exporter.
    pub name: String,
    /// Whether series say it in a label `target`. Not so on a probe, where Prometheus says it.
    pub labelled: bool,
    /// The labels that the configuration gives it.
    pub labels: Vec<(String, String)>,
}

impl Target {
    /// A target whose series carry its name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), labelled: true, labels: Vec::new() }
    }

    /// The same with one more label from the configuration.
    #[must_use]
    pub fn with_label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.push((name.into(), value.into()));
        self
    }
}

/// What the values of a family are multiplied with before anybody sees them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    times: f64,
    /// The same where it is a whole number: integers stay exact.
    whole: Option<u64>,
}

impl Factor {
    /// Multiplies with a number above zero.
    #[must_use]
    pub fn times(times: f64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and within range")]
        let whole = (times.fract() == 0.0 && (1.0..=WHOLE_MAX).contains(&times)).then_some(times as u64);
        (times.is_normal() && times > 0.0).then_some(Self { times, whole })
    }

    /// Divides by a number above zero.
    #[must_use]
    pub fn divided_by(divisor: f64) -> Option<Self> {
        // A quotient is divided: `x / 10` is not `x * 0.1`.
        Self::times(divisor).map(|_| Self { times: -divisor, whole: None })
    }

    /// The product of an integer, where it is one and fits.
    pub(crate) fn of_integer(self, value: u64) -> Option<u64> {
        self.whole.and_then(|whole| value.checked_mul(whole))
    }

    pub(crate) fn of(self, value: f64) -> f64 {
        if self.times < 0.0 { value / -self.times } else { value * self.times }
    }
}

/// 2⁵³: below it, each whole number is a double.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

impl Layout {
    /// The same series by the same ids, less the labels that have just these values. A series that would become one
    /// with another keeps its labels.
    #[must_use]
    pub fn without(&self, labels: &[(&str, &str)]) -> Self {
        let escaped = labels.iter().map(|(name, value)| {
            let mut out = Vec::new();
            escape_label_value(value, &mut out);
            ((*name).to_owned(), String::from_utf8(out).unwrap_or_default())
        });
        let left_out: Vec<(String, String)> = escaped.collect();
        let is_left_out = |(name, value): &(&str, &str)| {
            left_out.iter().any(|out| (out.0.as_str(), out.1.as_str()) == (*name, *value))
        };
        let keys = RandomState::new();
        let mut seen: HashSet<u64> = HashSet::new();
        let (mut layout, mut scratch) = (Self::default(), Vec::new());
        for block in self.blocks() {
            let place = layout.add_family(Arc::clone(block.family()));
            for (id, prefix) in block.chunks().iter().flat_map(|chunk| chunk.iter()) {
                scratch.clear();
                let text = std::str::from_utf8(prefix).unwrap_or_default();
                let mut rest = Labels::of_prefix(text);
                let kept = std::iter::from_fn(|| rest.next_escaped()).filter(|label| !is_left_out(label));
                push_prefix(sample_name(text), kept, &mut scratch);
                let is_new = seen.insert(keys.hash_one(&scratch));
                layout.add_series(place, id, if is_new { &scratch } else { prefix });
            }
        }
        layout.trim();
        layout
    }
}

impl Snapshot {
    /// The same values by another layout of the same series.
    #[must_use]
    pub fn laid_out(&self, layout: Arc<Layout>) -> Self {
        Self::new(Arc::clone(self.target()), layout, Arc::clone(self.values()), self.size())
            .published(self.id(), self.time_unix_nanos())
    }
}

/// The name in `name{…} `, `name ` or `{"name",…} `.
fn sample_name(prefix: &str) -> &str {
    match prefix.strip_prefix("{\"") {
        Some(quoted) => quoted.split_once('"').map_or("", |(name, _)| name),
        None => prefix.split(['{', ' ']).next().unwrap_or_default(),
    }
}

/// The largest values that the buckets of a histogram take, ascending; after them follows a bucket up to +Inf.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bounds(Box<[f64]>);

// None of them is NaN.
impl Eq for Bounds {}

impl Bounds {
    /// These bounds, which are finite and ascend.
    #[must_use]
    pub fn new(bounds: &[f64]) -> Self {
        // Zero has one text.
        Self(bounds.iter().map(|&bound| if bound == 0.0 { 0.0 } else { bound }).collect())
    }

    /// Whether observations, and so their sum, may be negative.
    #[must_use]
    pub fn are_signed(&self) -> bool {
        self.first().is_some_and(|&bound| bound < 0.0)
    }
}

impl std::ops::Deref for Bounds {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0
    }
}

/// A histogram of a target as it was collected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistogramPoint<'a> {
    /// Observations in each bucket alone: one count for each bound of the family, and one for +Inf.
    pub counts: &'a [u64],
    /// What all observations add up to.
    pub sum: f64,
    /// How many they are.
    pub count: u64,
}

impl HistogramPoint<'_> {
    /// Observations in each bucket and in all before it.
    pub fn cumulative(&self) -> impl Iterator<Item = u64> {
        self.counts.iter().scan(0_u64, |below, &count| {
            *below = below.saturating_add(count);
            Some(*below)
        })
    }
}

/// One histogram of the exporter itself: classic buckets, native ones, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    pub count: u64,
    /// What they add up to.
    pub sum: f64,
    /// Classic buckets by ascending bound; the one to +Inf may be left out.
    pub buckets: Vec<Bucket>,
    /// The native buckets, where there are any.
    pub native: Option<NativeHistogram>,
    /// When it began to count, where that is known.
    pub start_time_unix_nanos: Option<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bucket {
    /// The largest value that it takes.
    pub upper_bound: f64,
    /// Observations in it and in all before it.
    pub cumulative_count: u64,
}

/// Exponential buckets: each power of two is divided into 2^`schema` of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NativeHistogram {
    /// The resolution, from -4 to 8.
    pub schema: i32,
    /// Values up to this size are counted as zero.
    pub zero_threshold: f64,
    /// How many those are.
    pub zero_count: u64,
    pub negative: NativeBuckets,
    pub positive: NativeBuckets,
}

/// The buckets of one side that are not empty, or stand between such.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NativeBuckets {
    /// Buckets side by side: the gap to those before (of the first: its index), and how many they are.
    pub spans: Vec<(i32, u32)>,
    /// Each bucket's count, as the difference to the one before.
    pub deltas: Vec<i64>,
}

// What all series of one name have in common.

/// A metric family. One name has one family in the whole process, shared by all targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Family {
    /// The name without the suffix of its kind, as OpenMetrics means it: `perfmon_http_service_requests`.
    ///
    /// INVARIANT: not empty and clean (see [`clean_name`]); ends with `_<unit>` where there is a unit; in no
    /// [`Family`] that lives beside this one is it, or its name with a suffix, taken, in any [`Escaping`].
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
    /// How pages compute the shown value, see [`cooked`].
    pub display: DisplayRule,
    /// The part of the same counter that the rule computes with: see [`Snapshot::base_of`]. Empty where it needs none.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Family, Kind};

    #[test]
    fn labels_go_by_name_and_value_and_series_stay_apart() {
        let family = Family { name: "a".to_owned(), kind: Kind::Gauge, ..Family::default() };
        let mut layout = Layout::default();
        layout.add_family(Arc::new(family));
        let prefixes = [
            r#"a{target="w\"1",env="prod",x="1"} "#,
            r#"{"a.b",target="w\"1",env="test"} "#,
            r#"a{target="w\"1"} "#,
            r#"a{env="prod"} "#,
        ];
        for (id, prefix) in prefixes.iter().enumerate() {
            layout.add_series(0, u32::try_from(id).unwrap(), prefix.as_bytes());
        }
        let layout = layout.without(&[("target", "w\"1"), ("env", "prod")]);
        let left = layout.blocks()[0].chunks()[0].iter();
        let left: Vec<(u32, &str)> =
            left.map(|(id, prefix)| (id, std::str::from_utf8(prefix).unwrap())).collect();
        let expected =
            [(0, "a{x=\"1\"} "), (1, "{\"a.b\",env=\"test\"} "), (2, "a "), (3, "a{env=\"prod\"} ")];
        assert_eq!(left, expected);
    }
}
