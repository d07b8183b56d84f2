//! Distributions.

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
