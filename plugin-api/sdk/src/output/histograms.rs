//! Sends histograms to the host.

use plugin_abi::raw::{ACCEPTED, Array, FULL, HistogramBatch, OK, struct_size};

use plugin_abi::{FamilyDef, FamilyId, SeriesId};

use super::{BATCH_ROWS, HistogramId, Output, Stamp, filled, in_parts};
use crate::host;

impl Output {
    /// Registers families of histograms, once for the instance's life: [`FamilyDef::histogram`]. `None` for dropped ones.
    #[must_use]
    pub fn register_histograms(&mut self, families: &[FamilyDef<'_>]) -> Vec<Option<HistogramId>> {
        let ids = in_parts(families, |part, ids| {
            host::register_families(self.instance, part, |verdict| {
                ids.push((verdict.verdict == ACCEPTED).then_some(FamilyId(verdict.id)));
            })
        });
        let known = ids.into_iter().zip(families);
        known
            .map(|(id, family)| Some(HistogramId { family: id?, buckets: family.bounds.len() + 1 }))
            .collect()
    }

    /// A histogram of the family: the observations in each bucket since the series began (not cumulative; one count
    /// for each bound and one for +Inf), and their sum. Another number of counts is rejected.
    pub fn push_histogram(&mut self, id: HistogramId, series: SeriesId, counts: &[u64], sum: f64) {
        self.push_histogram_at(id, series, counts, sum, Stamp::default());
    }

    /// As [`Output::push_histogram`], with times.
    pub fn push_histogram_at(
        &mut self,
        id: HistogramId,
        series: SeriesId,
        counts: &[u64],
        sum: f64,
        stamp: Stamp,
    ) {
        if counts.len() != id.buckets {
            self.rejected += 1;
            return;
        }
        let place = self.histograms.iter().position(|column| column.id == id).unwrap_or_else(|| {
            self.histograms.push(HistogramColumn::new(id));
            self.histograms.len() - 1
        });
        let column = &mut self.histograms[place];
        column.push(series, counts, sum, stamp);
        if column.ids.len() >= BATCH_ROWS || column.counts.len() >= BATCH_COUNTS {
            self.rejected += column.flush(self.instance);
        }
    }

    pub(super) fn flush_histograms(&mut self) {
        for column in &mut self.histograms {
            self.rejected += column.flush(self.instance);
        }
    }
}

/// The histograms of one family.
#[derive(Debug)]
pub(super) struct HistogramColumn {
    id: HistogramId,
    ids: Vec<u32>,
    /// INVARIANT: as many for each of `ids` as the family has buckets.
    counts: Vec<u64>,
    sums: Vec<f64>,
    /// INVARIANT: not longer than `ids`; rows after its end have none.
    times: Vec<i64>,
    starts: Vec<i64>,
}

impl HistogramColumn {
    fn new(id: HistogramId) -> Self {
        let (ids, counts, sums) = (Vec::new(), Vec::new(), Vec::new());
        Self { id, ids, counts, sums, times: Vec::new(), starts: Vec::new() }
    }

    fn push(&mut self, series: SeriesId, counts: &[u64], sum: f64, stamp: Stamp) {
        stamp.enter(self.ids.len(), &mut self.times, &mut self.starts);
        self.ids.push(series.0);
        self.counts.extend_from_slice(counts);
        self.sums.push(sum);
    }

    /// Sends the rows and returns the number of rejected ones.
    fn flush(&mut self, instance: u64) -> u64 {
        let rows = self.ids.len();
        let (times, starts) = (filled(&mut self.times, rows), filled(&mut self.starts, rows));
        let mut from = 0;
        while from < rows {
            let batch = HistogramBatch {
                size: struct_size::<HistogramBatch>(),
                family: self.id.family.0,
                ids: Array::of(&self.ids[from..]),
                counts: Array::of(&self.counts[from * self.id.buckets..]),
                sums: Array::of(&self.sums[from..]),
                timestamps: times.map_or(Array::EMPTY, |times| Array::of(&times[from..])),
                start_times: starts.map_or(Array::EMPTY, |starts| Array::of(&starts[from..])),
            };
            match host::histograms(instance, &batch) {
                (OK, _) => from = rows,
                (FULL, taken) if taken > 0 => from += taken,
                _ => break,
            }
        }
        self.clear();
        rows.saturating_sub(from) as u64
    }

    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.counts.clear();
        self.sums.clear();
        self.times.clear();
        self.starts.clear();
    }
}

/// Maximum counts per batch: the limit of a host.
const BATCH_COUNTS: usize = 65_536;
