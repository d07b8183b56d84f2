//! Histograms.

/// Histograms by series id, all of one family.
///
/// INVARIANT: all columns have the length of `ids`, `counts` has `buckets` times as many; every id is at most the
/// highest id that was ever accepted, and the family is a histogram with one bound less than `buckets`. The counts
/// of a row add up to no more than `u64::MAX`. Sums are finite, and not negative unless the family's first bound
/// is. The sink checks whether a series is still live and of this family when it stores the row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistogramBatch<'a> {
    /// An id that [`register_families`](crate::DataSink::register_families) accepted.
    pub family: u32,
    /// How many counts each row has.
    pub buckets: usize,
    /// Series ids, in any order.
    pub ids: &'a [u32],
    /// Row by row the observations in each bucket, not cumulative.
    pub counts: &'a [u64],
    /// The sum of the observations of each row.
    pub sums: &'a [f64],
    /// The time of each in Unix nanoseconds, if it is not "now".
    pub timestamps: Option<&'a [i64]>,
    /// The start of each in Unix nanoseconds; 0 if unchanged.
    pub start_times: Option<&'a [i64]>,
}

impl<'a> HistogramBatch<'a> {
    /// Some of the rows, in order.
    #[must_use]
    pub fn rows(&self, rows: std::ops::Range<usize>) -> Self {
        let counts = &self.counts[rows.start * self.buckets..rows.end * self.buckets];
        let part = |column: Option<&'a [i64]>| column.map(|column| &column[rows.clone()]);
        Self {
            ids: &self.ids[rows.clone()],
            counts,
            sums: &self.sums[rows.clone()],
            timestamps: part(self.timestamps),
            start_times: part(self.start_times),
            ..*self
        }
    }
}
