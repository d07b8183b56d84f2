//! Histograms of a source.

use plugin_abi::FamilyId;

/// A family of histograms that the host accepted: observations, such as the durations of calls, counted in buckets.
///
/// ```
/// use plugin_sdk::{Buckets, FamilyDef, HistogramId, Output, SeriesDef, SeriesId};
///
/// struct Calls { buckets: Buckets, known: Option<(HistogramId, SeriesId)> }
///
/// const DURATIONS: FamilyDef<'static> = FamilyDef {
///     item: "Duration", unit: "seconds", help: "How long calls took.",
///     ..FamilyDef::histogram("rpc", "Calls", &[0.01, 0.1, 1.0])
/// };
///
/// impl Calls {
///     fn send(&mut self, output: &mut Output) {
///         if self.known.is_none() && let Some(id) = output.register_histograms(&[DURATIONS])[0] {
///             let series = SeriesDef { family: id.family(), labels: &[], start: None };
///             self.known = output.register_series(&[series])[0].map(|series| (id, series));
///         }
///         if let Some((id, series)) = self.known {
///             output.push_histogram(id, series, self.buckets.counts(), self.buckets.sum());
///         }
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HistogramId {
    pub(crate) family: FamilyId,
    /// How many counts each histogram has.
    pub(crate) buckets: usize,
}

impl HistogramId {
    /// The family, for the series in it.
    #[must_use]
    pub fn family(self) -> FamilyId {
        self.family
    }
}

/// Observations that a source counts by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets {
    bounds: Vec<f64>,
    counts: Vec<u64>,
    sum: f64,
}

impl Buckets {
    /// Empty buckets with these bounds, which are those of the family.
    #[must_use]
    pub fn new(bounds: &[f64]) -> Self {
        Self { bounds: bounds.to_vec(), counts: vec![0; bounds.len() + 1], sum: 0.0 }
    }

    /// Counts an observation. Ignores it if it, or the new sum, is not finite.
    pub fn observe(&mut self, value: f64) {
        let sum = self.sum + value;
        if sum.is_finite() {
            self.sum = sum;
            self.counts[self.bounds.partition_point(|&bound| bound < value)] += 1;
        }
    }

    /// The observations in each bucket, not cumulative; the last bucket ends at +Inf.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The sum of the observations.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.sum
    }
}
