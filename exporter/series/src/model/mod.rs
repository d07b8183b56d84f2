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
mod family;
mod histogram;
mod labels;
mod layout;
mod name;
mod shape;
mod snapshot;
mod unlabelled;
mod values;

pub use plugin_abi::{DisplayRule, Kind, ValueKind};

pub use self::cooked::{Sample, Shown, ShownUnit, cooked, needs_earlier};
pub use self::family::{Family, OtlpAttribute, OtlpNames};
pub use self::histogram::{Bounds, Bucket, Histogram, HistogramPoint, NativeBuckets, NativeHistogram};
pub(crate) use self::labels::shown_bytes;
pub use self::labels::{Labels, escape_label_value, escaped_label_value, push_metric_name, push_prefix};
pub use self::layout::{Block, Chunk, Layout};
pub use self::name::{Escaping, clean_name, is_legacy_label, is_legacy_name};
pub use self::shape::Shape;
pub(crate) use self::snapshot::Size;
pub use self::snapshot::{FamilyPoints, Point, Snapshot};
pub(crate) use self::values::{Roster, Slots};
pub use self::values::{Scattered, Value, Values};

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
