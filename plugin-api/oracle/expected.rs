//! The results that the header requires for a call with known arguments.

use plugin_abi::raw::{self, ACCEPTED, Array, DROPPED_UNSUPPORTED, FULL, INVALID, OK, STALE, Verdict};

use plugin_abi::Kind;
use plugin_host::testing::RecordedFamily;

use crate::plugin::guest::LIMITS;
use crate::plugin::memory::Verdicts;

/// Checks `register_families` and `register_series`: there is one verdict for each taken row, and nothing else is
/// written. Returns the number of accepted rows.
pub(crate) fn registered(
    status: i32,
    rows: u64,
    taken: Option<u64>,
    verdicts: &Verdicts,
    ids: usize,
) -> usize {
    assert!([OK, FULL, INVALID, STALE].contains(&status), "register answers {status}");
    let rows_max = u64::from(LIMITS.register_rows_max);
    let count = if status == OK || status == FULL { rows.min(rows_max) } else { 0 };
    assert!(status != OK || rows <= rows_max, "rows were left out, and nobody says so");
    assert!(status != FULL || rows > rows_max, "all rows were taken");
    let (written, rest_is_untouched) = verdicts.split(usize::try_from(count).unwrap_or(usize::MAX));
    assert!(rest_is_untouched, "a verdict for a row that was not taken");
    assert!(taken.is_none_or(|taken| taken == if status == OK || status == FULL { count } else { u64::MAX }));
    for Verdict { id, verdict } in written {
        match *verdict {
            ACCEPTED => assert!((*id as usize) < ids, "an id that was not handed out"),
            dropped => {
                assert!(dropped <= DROPPED_UNSUPPORTED && *id == u32::MAX, "verdict {dropped}, id {id}");
            }
        }
    }
    written.iter().filter(|verdict| verdict.verdict == ACCEPTED).count()
}

/// The status of a batch, whose ids are `ids` as far as they are there; `series` ids were handed out.
pub(crate) fn batch(raw: &raw::Batch, size_min: usize, ids: &[u32], series: usize) -> i32 {
    let rows = raw.ids.len;
    let width = match raw.value_kind {
        raw::VALUE_F64 | raw::VALUE_U64 | raw::VALUE_I64 => 8,
        _ => return INVALID,
    };
    let lengths_fit = raw.values.len == rows
        && [&raw.timestamps, &raw.start_times].into_iter().all(|column| [0, rows].contains(&column.len));
    let columns_fit = is_column(&raw.ids, 4)
        && [&raw.values, &raw.timestamps, &raw.start_times]
            .into_iter()
            .all(|column| is_column(column, width));
    let is_whole = raw.size as usize >= size_min;
    if !(is_whole && lengths_fit && columns_fit) {
        return INVALID;
    }
    let rows_max = LIMITS.batch_rows_max as usize;
    let seen = usize::try_from(rows).unwrap_or(usize::MAX).min(rows_max);
    match ids[..seen].iter().all(|id| (*id as usize) < series) {
        true if rows > rows_max as u64 => FULL,
        true => OK,
        false => INVALID,
    }
}

fn is_column(column: &Array, width: u32) -> bool {
    column.len == 0
        || (!column.ptr.is_null()
            && column.ptr.addr().is_multiple_of(width as usize)
            && column.element_size == width)
}

/// The status of a batch of histograms, whose ids are `ids` as far as they are there, and how many rows are taken;
/// `series` ids were handed out.
pub(crate) fn histograms(
    raw: &raw::HistogramBatch,
    ids: &[u32],
    series: usize,
    families: &[RecordedFamily],
) -> (i32, u64) {
    const REFUSED: (i32, u64) = (INVALID, 0);
    let family = families.get(raw.family as usize).filter(|family| family.kind == Kind::Histogram);
    let (Some(family), rows) = (family, raw.ids.len) else { return REFUSED };
    let buckets = family.bounds.len() as u64 + 1;
    let is_whole = raw.size as usize >= size_of::<raw::HistogramBatch>()
        && u128::from(raw.counts.len) == u128::from(rows) * u128::from(buckets)
        && raw.sums.len == rows
        && [&raw.timestamps, &raw.start_times].into_iter().all(|column| [0, rows].contains(&column.len))
        && is_column(&raw.ids, 4)
        && [&raw.counts, &raw.sums, &raw.timestamps, &raw.start_times]
            .into_iter()
            .all(|column| is_column(column, 8));
    if !is_whole {
        return REFUSED;
    }
    let rows_max = (u64::from(LIMITS.batch_rows_max) / buckets).max(1);
    let taken = rows.min(rows_max);
    let seen = &ids[..usize::try_from(taken).unwrap_or(usize::MAX)];
    match seen.iter().all(|id| (*id as usize) < series) {
        true if rows > rows_max => (FULL, taken),
        true => (OK, taken),
        false => REFUSED,
    }
}
