//! Families, series and values.
#![expect(unsafe_code, reason = "reads what plugins hand over")]
// UNSAFETY: as in the module above.

use plugin_abi::raw::{self, Array, ArrayMut, INVALID, read_struct};

use super::{admitted, array, for_instance, taken};
use crate::instance::Admission;
use crate::options::Limits;
use crate::read::{self, Refusal};
use crate::violation::Violation;

pub(super) unsafe extern "C" fn register_families(
    instance: u64,
    families: *const Array,
    verdicts_plugin: *const ArrayMut,
    taken_plugin: *mut u64,
) -> i32 {
    for_instance(instance, |it| {
        let limits = it.library.limits();
        // SAFETY: the plugin's arrays, valid until the call returns.
        let (rows, verdicts, full) =
            unsafe { rows_and_verdicts::<raw::Family>(families, verdicts_plugin, limits) }?;
        let mut refused = Vec::new();
        let checked: Vec<_> = rows
            .map(|row| {
                // SAFETY: the strings of the row, valid until the call returns.
                unsafe { read::family(&row, limits) }.map_err(|refusal| refusal.note(&mut refused))
            })
            .collect();
        let admission = it.register_families(instance, &checked, verdicts);
        refused.into_iter().for_each(|violation| it.violation(violation, 1));
        // SAFETY: the plugin's room for the count, or null.
        unsafe { taken(taken_plugin, checked.len()) };
        Ok(admitted(admission, full))
    })
}

pub(super) unsafe extern "C" fn register_series(
    instance: u64,
    series: *const Array,
    verdicts_plugin: *const ArrayMut,
    taken_plugin: *mut u64,
) -> i32 {
    for_instance(instance, |it| {
        let limits = it.library.limits();
        // SAFETY: the plugin's arrays, valid until the call returns.
        let (rows, verdicts, full) =
            unsafe { rows_and_verdicts::<raw::Series>(series, verdicts_plugin, limits) }?;
        let mut refused = Vec::new();
        let mut labels = Vec::new();
        let spans: Vec<_> = rows
            .map(|row| {
                // SAFETY: the labels of the row, valid until the call returns.
                unsafe { read::labels(&row, limits, &mut labels) }
                    .map(|span| (row, span))
                    .map_err(|refusal| refusal.note(&mut refused))
            })
            .collect();
        let checked: Vec<_> =
            spans.into_iter().map(|row| row.map(|(row, span)| read::series(&row, &labels[span]))).collect();
        let admission = it.register_series(instance, &checked, verdicts);
        refused.into_iter().for_each(|violation| it.violation(violation, 1));
        // SAFETY: the plugin's room for the count, or null.
        unsafe { taken(taken_plugin, checked.len()) };
        Ok(admitted(admission, full))
    })
}

pub(super) unsafe extern "C" fn retire(instance: u64, ids: *const Array) -> i32 {
    for_instance(instance, |it| {
        // SAFETY: the plugin's array, valid until the call returns.
        let ids = unsafe { array(ids) }?;
        // SAFETY: as above.
        let ids = unsafe { ids.column::<u32>(it.library.limits().register_rows_max as usize) }?;
        Ok(admitted(it.retire(instance, ids), false))
    })
}

pub(super) unsafe extern "C" fn batch(
    instance: u64,
    batch: *const raw::Batch,
    taken_plugin: *mut u64,
) -> i32 {
    for_instance(instance, |it| {
        let rows_max = it.library.limits().batch_rows_max as usize;
        // SAFETY: the plugin's struct, valid until the call returns.
        let raw = unsafe { read_struct(batch) }?;
        // SAFETY: its columns, valid until the call returns.
        let (batch, full) = unsafe { read::batch(&raw, rows_max) }?;
        let (status, rows) = match it.batch(instance, &batch) {
            Err(admission) => (admitted(admission, false), 0),
            Ok(None) => (INVALID, 0),
            Ok(Some(_)) => (admitted(Admission::Open, full), batch.ids.len()),
        };
        // SAFETY: the plugin's room for the count, or null.
        unsafe { taken(taken_plugin, rows) };
        Ok(status)
    })
}

/// Rows to register, the buffer for their verdicts, and whether there were too many for one call.
///
/// # Safety
/// The pointers are the plugin's, valid until the call returns.
unsafe fn rows_and_verdicts<'a, T: raw::Plain>(
    rows: *const Array,
    verdicts: *const ArrayMut,
    limits: &Limits,
) -> Result<(raw::Structs<'a, T>, &'a mut [raw::Verdict], bool), Violation> {
    let rows_max = limits.register_rows_max as usize;
    // SAFETY: the caller promises it.
    let mut rows = unsafe { array(rows) }?;
    // SAFETY: null becomes nothing; else as the caller promises.
    let verdicts = unsafe { verdicts.as_ref() }.ok_or(Violation::NullPointer)?;
    if verdicts.len < rows.len {
        return Err(Violation::LengthMismatch);
    }
    let full = rows.len > rows_max as u64;
    rows.len = rows.len.min(rows_max as u64);
    let room = ArrayMut { len: rows.len, ..*verdicts };
    // SAFETY: the caller promises it; the length became smaller at most.
    let rows = unsafe { rows.structs(rows_max) }?;
    // SAFETY: as above.
    let verdicts = unsafe { room.column(rows_max) }?;
    Ok((rows, verdicts, full))
}

impl Refusal {
    /// Records the violation and returns the verdict.
    fn note(self, refused: &mut Vec<Violation>) -> plugin_abi::DropReason {
        refused.extend(self.violation);
        self.reason
    }
}
