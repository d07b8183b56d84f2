//! Histograms: the bounds of a family, and a batch.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: as in the module above.

use std::mem::offset_of;

use plugin_abi::raw::{self, Array, HISTOGRAM_BOUNDS_MAX};
use plugin_abi::{HistogramBatch, Kind, ValueKind};

use super::{Refusal, UNSUPPORTED, cut, is_optional, times};
use crate::violation::Violation;

/// The bounds of a histogram; empty for other families.
///
/// # Safety
/// The call that brought the row has not returned.
pub(super) unsafe fn bounds<'a>(
    raw: &raw::Family,
    kind: Kind,
    value: ValueKind,
) -> Result<&'a [f64], Refusal> {
    let (is_kind, is_value) = (kind == Kind::Histogram, value == ValueKind::Histogram);
    if !(is_kind || is_value) {
        return Ok(&[]);
    }
    let knows_bounds = raw.size as usize >= offset_of!(raw::Family, bounds) + size_of::<Array>();
    // A kind that only a later version knows may have such values, too.
    if !knows_bounds || (is_value && kind == Kind::Unknown) {
        return Err(UNSUPPORTED);
    }
    // SAFETY: the caller promises it.
    let bounds: &[f64] = unsafe { raw.bounds.column(HISTOGRAM_BOUNDS_MAX as usize) }?;
    let are_ascending = bounds.iter().all(|bound| bound.is_finite()) && bounds.is_sorted_by(|a, b| a < b);
    if is_kind && is_value && are_ascending && !bounds.is_empty() {
        Ok(bounds)
    } else {
        Err(Violation::BadHistogram.into())
    }
}

/// The batch, cut to at most `counts_max` counts, and whether it was cut.
///
/// # Safety
/// The call that brought the batch has not returned.
pub(crate) unsafe fn batch<'a>(
    raw: &raw::HistogramBatch,
    buckets: usize,
    counts_max: usize,
) -> Result<(HistogramBatch<'a>, bool), Violation> {
    let rows = raw.ids.len;
    let is_whole = rows.checked_mul(buckets as u64) == Some(raw.counts.len) && raw.sums.len == rows;
    if !is_whole || !is_optional(&raw.timestamps, rows) || !is_optional(&raw.start_times, rows) {
        return Err(Violation::LengthMismatch);
    }
    let rows_max = (counts_max / buckets.max(1)).max(1);
    let full = rows > rows_max as u64;
    // SAFETY: the caller promises it; cutting makes the length smaller at most. So for all of these.
    let ids: &[u32] = unsafe { cut(raw.ids, rows_max).column(rows_max) }?;
    // SAFETY: as above.
    let counts = unsafe { cut(raw.counts, rows_max * buckets).column(rows_max * buckets) }?;
    // SAFETY: as above.
    let sums = unsafe { cut(raw.sums, rows_max).column(rows_max) }?;
    // SAFETY: as above.
    let timestamps = unsafe { times(raw.timestamps, rows_max) }?;
    // SAFETY: as above.
    let start_times = unsafe { times(raw.start_times, rows_max) }?;
    let family = raw.family;
    Ok((HistogramBatch { family, buckets, ids, counts, sums, timestamps, start_times }, full))
}
