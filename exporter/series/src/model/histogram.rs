//! Distributions.

/// One histogram: classic buckets, native ones, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// How many observations.
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

/// A classic bucket.
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
    /// Buckets below zero.
    pub negative: NativeBuckets,
    /// Buckets above zero.
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
