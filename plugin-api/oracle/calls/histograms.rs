#![expect(unsafe_code, reason = "calls the functions of the host's table")]
// UNSAFETY: as in the module above.

use plugin_abi::raw::{self, Array, FULL, HISTOGRAM_BOUNDS_MAX, KIND_HISTOGRAM, OK, STALE};
use test_support::oracle::Input;

use super::{COMPLETE, Plugin, id, size};
use crate::plugin::expected;
use crate::plugin::guest::LIMITS;
use crate::plugin::memory::Memory;

/// The bounds of a family of this kind. They mostly ascend, but now and then by
/// nothing, backwards, or to where no number is.
pub(super) fn bounds(memory: &mut Memory, input: &mut Input<'_>, kind: u32) -> Array {
    if kind != KIND_HISTOGRAM {
        return Array::EMPTY;
    }
    let mut last = f64::from(input.byte().cast_signed() >> 4);
    memory.column(input, HISTOGRAM_BOUNDS_MAX, 0.0, |_, input| {
        last += match input.byte() {
            0 => f64::INFINITY,
            1 => f64::NAN,
            step => f64::from(step.cast_signed()) + 100.0,
        };
        last
    })
}

impl Plugin {
    pub(super) fn histograms(&self, memory: &mut Memory, input: &mut Input<'_>) -> i32 {
        let (token, rows_max) = (self.token(input), LIMITS.batch_rows_max);
        let mut given = Vec::new();
        // One row is read whatever the limit.
        let counts_max = rows_max.max(HISTOGRAM_BOUNDS_MAX + 1);
        let mut raw = raw::HistogramBatch {
            size: size::<raw::HistogramBatch>(input),
            family: id(input) & 7,
            ids: memory.column(input, rows_max, 0, |_, input| {
                given.push(id(input));
                given[given.len() - 1]
            }),
            counts: memory.column(input, counts_max, 0_u64, |_, input| match input.byte() {
                0..16 => input.number(),
                few => few.into(),
            }),
            sums: memory.column(input, rows_max, 0.0, |_, input| match input.byte() {
                0 => f64::from_bits(input.number()),
                few => f64::from(few.cast_signed()),
            }),
            timestamps: memory.column(input, rows_max, 0, |_, input| input.number()),
            start_times: memory.column(input, rows_max, 0, |_, input| input.number()),
        };
        given.resize(rows_max as usize, 0);
        let families = self.watch.0.recorded().families;
        let buckets = families.get(raw.family as usize).map_or(0, |family| family.bounds.len() as u64 + 1);
        // Columns that fit each other are rare by themselves.
        let rows = raw.ids.len;
        let columns = [
            (&mut raw.sums, rows),
            (&mut raw.counts, rows.wrapping_mul(buckets)),
            (&mut raw.timestamps, rows),
            (&mut raw.start_times, rows),
        ];
        let mended = input.byte();
        for (bit, (column, len)) in columns.into_iter().enumerate() {
            match mended >> (2 * bit) & 3 {
                0 => {}
                1 if bit > 1 => *column = Array::EMPTY,
                _ => column.len = len,
            }
        }
        let mut taken = u64::MAX;
        let histograms = self.host.histograms.expect(COMPLETE);
        // SAFETY: see UNSAFETY above; columns have room for as many rows as the host may read, whatever they say.
        let status = unsafe { histograms(token, &raw const raw, &raw mut taken) };
        let series = self.watch.0.recorded().series.len();
        let (right, rows) = expected::histograms(&raw, &given, series, &families);
        assert_eq!(status, if token == self.token { right } else { STALE }, "{raw:?}");
        assert!(![OK, FULL].contains(&status) || taken == rows, "{taken} of {rows} rows");
        status
    }
}
