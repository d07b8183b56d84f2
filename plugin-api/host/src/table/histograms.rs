//! Histograms.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: as in the module above.

use plugin_abi::raw::{self, INVALID, read_struct};

use super::{admitted, for_instance, taken};
use crate::instance::Admission;
use crate::read;

pub(super) unsafe extern "C" fn histograms(
    instance: u64,
    batch: *const raw::HistogramBatch,
    taken_plugin: *mut u64,
) -> i32 {
    for_instance(instance, |it| {
        let admission = it.admits(instance);
        if admission != Admission::Open {
            return Ok(admitted(admission, false));
        }
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = unsafe { read_struct(batch) }?;
        let shape = it.histogram_shape(raw.family)?;
        let counts_max = it.library.limits().batch_rows_max as usize;
        // SAFETY: its columns, valid until the call returns.
        let (batch, full) = unsafe { read::histograms::batch(&raw, shape.buckets, counts_max) }?;
        let (status, rows) = match it.histograms(instance, &batch, shape) {
            Err(admission) => (admitted(admission, false), 0),
            Ok(None) => (INVALID, 0),
            Ok(Some(_)) => (admitted(Admission::Open, full), batch.ids.len()),
        };
        // SAFETY: the plugin's room for the count, or null.
        unsafe { taken(taken_plugin, rows) };
        Ok(status)
    })
}
