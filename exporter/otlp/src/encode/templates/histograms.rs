//! The points of histograms: all numbers have eight bytes, so that each has its place.
//!
//! ```text
//! 0a LENGTH  11 start  19 time  21 count  [29 sum]  32 LENGTH counts  3a LENGTH bounds  4a attribute 4a attribute …
//! ```

use series::model::{Bounds, Family, Kind};

use super::{START, TIME, Template};
use crate::encode::wire::{BYTES, FIXED64, key, put_fixed64, put_varint, varint_len};

/// Where in a point the numbers stand, after the point's length.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberOffsets {
    has_sum: bool,
    counts: usize,
    pub(super) end: usize,
}

/// What changes in a histogram besides its counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HistogramNumbers {
    /// Unix nanoseconds; 0 is "unknown".
    pub(crate) start: u64,
    /// In nanoseconds since 1970.
    pub(crate) time: u64,
    pub(crate) count: u64,
    pub(crate) sum: f64,
}

impl NumberOffsets {
    /// Those of the family's points, where they are histograms.
    pub(super) fn of(family: &Family) -> Option<Self> {
        if family.kind != Kind::Histogram {
            return None;
        }
        let packed = |numbers: usize| 1 + varint_len(8 * numbers);
        let (bounds, buckets) = (family.bounds.len(), family.bounds.len() + 1);
        // The protocol wants sums to grow.
        let has_sum = !family.bounds.are_signed();
        let counts = if has_sum { 4 * NUMBER } else { 3 * NUMBER } + packed(buckets);
        Some(Self { has_sum, counts, end: counts + 8 * buckets + packed(bounds) + 8 * bounds })
    }

    /// Appends a point's numbers: the bounds, the others as zeros.
    pub(super) fn put_empty(self, bounds: &Bounds, points: &mut Vec<u8>) {
        for key in [START, TIME, COUNT].into_iter().chain(self.has_sum.then_some(SUM)) {
            put_fixed64(points, key, 0);
        }
        points.push(BUCKET_COUNTS);
        put_varint(points, 8 * (bounds.len() as u64 + 1));
        points.resize(points.len() + 8 * (bounds.len() + 1), 0);
        points.push(EXPLICIT_BOUNDS);
        put_varint(points, 8 * bounds.len() as u64);
        bounds.iter().for_each(|bound| points.extend_from_slice(&bound.to_le_bytes()));
    }
}

impl Template {
    /// Fills the numbers of a histogram in. It begins where `out` begins.
    pub(crate) fn fill_histogram(
        &self,
        out: &mut [u8],
        numbers: HistogramNumbers,
        counts: &mut dyn Iterator<Item = u64>,
    ) {
        let (Some(offsets), Some(out)) = (self.histogram, out.get_mut(self.head..)) else { return };
        let HistogramNumbers { start, time, count, sum } = numbers;
        for (index, bits) in [start, time, count].into_iter().enumerate() {
            put(out, index * NUMBER + 1, bits);
        }
        if offsets.has_sum {
            put(out, 3 * NUMBER + 1, sum.to_bits());
        }
        for (index, count) in counts.enumerate() {
            put(out, offsets.counts + 8 * index, count);
        }
    }
}

fn put(out: &mut [u8], at: usize, bits: u64) {
    out[at..at + 8].copy_from_slice(&bits.to_le_bytes());
}

/// A key and eight bytes.
const NUMBER: usize = 9;
const COUNT: u8 = key(4, FIXED64);
const SUM: u8 = key(5, FIXED64);
const BUCKET_COUNTS: u8 = key(6, BYTES);
const EXPLICIT_BOUNDS: u8 = key(7, BYTES);
