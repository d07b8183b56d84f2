#![expect(unsafe_code, reason = "plays the host of the ABI")]
// UNSAFETY: as in the module above.

use plugin_abi::raw::{FULL, HistogramBatch, INVALID, OK};

use super::super::change;
use super::column;
use crate::output::Stamp;

/// Maximum rows per call, so that tests cover partial acceptance.
const ROWS_MAX: usize = 100;

pub(super) unsafe extern "C" fn histograms(
    instance: u64,
    batch: *const HistogramBatch,
    taken: *mut u64,
) -> i32 {
    // SAFETY: the SDK hands over a batch on its stack.
    let batch = unsafe { *batch };
    let (ids, counts, sums) =
        (column::<u32>(batch.ids), column::<u64>(batch.counts), column::<f64>(batch.sums));
    let (times, starts) = (column::<i64>(batch.timestamps), column::<i64>(batch.start_times));
    let at = |column: &[i64], row: usize| column.get(row).copied().unwrap_or(0);
    let rows = ids.len().min(ROWS_MAX);
    let status = change(instance, |state| {
        let Some(bounds) = state.seen.bounds.get(batch.family as usize) else { return INVALID };
        let buckets = bounds.len() + 1;
        if sums.len() != ids.len() || counts.len() != ids.len() * buckets {
            return INVALID;
        }
        let values = counts.chunks_exact(buckets).zip(&sums);
        for (row, (&id, (counts, &sum))) in ids.iter().zip(values).take(rows).enumerate() {
            let series = &mut state.seen.series[id as usize];
            series.histogram = Some((counts.to_vec(), sum));
            series.stamp = Stamp { time_unix_nanos: at(&times, row), start_unix_nanos: at(&starts, row) };
        }
        if rows < ids.len() { FULL } else { OK }
    });
    // SAFETY: the SDK hands over room for a number on its stack.
    unsafe { *taken = rows as u64 };
    status
}
