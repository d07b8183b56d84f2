//! Sends families, series and values to the host.

mod histograms;

use plugin_abi::raw::{
    ACCEPTED, Array, Batch, FULL, OK, Plain, VALUE_F64, VALUE_I64, VALUE_U64, struct_size,
};
use plugin_abi::{FamilyDef, FamilyId, SeriesDef, SeriesId};

use self::histograms::HistogramColumn;
use crate::host;

/// Times of a value; zero means "now" and "as before".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// When it was measured, in Unix nanoseconds.
    pub time_unix_nanos: i64,
    /// When it was reset, in Unix nanoseconds, if the source saw the reset.
    pub start_unix_nanos: i64,
}

impl Stamp {
    /// Adds the times of row number `rows` to columns that are not longer than that.
    fn enter(self, rows: usize, times: &mut Vec<i64>, starts: &mut Vec<i64>) {
        for (column, time) in [(times, self.time_unix_nanos), (starts, self.start_unix_nanos)] {
            if time != 0 {
                column.resize(rows, 0);
                column.push(time);
            }
        }
    }
}

/// Sends families, series and values to the host. Values are sent in batches from reused buffers, so that a steady
/// state allocates nothing.
#[derive(Debug)]
pub struct Output {
    instance: u64,
    f64: Column<f64>,
    u64: Column<u64>,
    i64: Column<i64>,
    histograms: Vec<HistogramColumn>,
    rejected: u64,
}

impl Output {
    pub(crate) fn new(instance: u64) -> Self {
        Self {
            instance,
            f64: Column::default(),
            u64: Column::default(),
            i64: Column::default(),
            histograms: Vec::new(),
            rejected: 0,
        }
    }

    /// Registers families, once for the instance's life. `None` for dropped ones: do not send them, and do not
    /// register series of them.
    #[must_use]
    pub fn register_families(&mut self, families: &[FamilyDef<'_>]) -> Vec<Option<FamilyId>> {
        in_parts(families, |part, ids| {
            host::register_families(self.instance, part, |verdict| {
                ids.push((verdict.verdict == ACCEPTED).then_some(FamilyId(verdict.id)));
            })
        })
    }

    /// Registers series, once until they are retired. `None` for dropped ones.
    #[must_use]
    pub fn register_series(&mut self, series: &[SeriesDef<'_>]) -> Vec<Option<SeriesId>> {
        in_parts(series, |part, ids| {
            host::register_series(self.instance, part, |verdict| {
                ids.push((verdict.verdict == ACCEPTED).then_some(SeriesId(verdict.id)));
            })
        })
    }

    /// Ends series. Values that were pushed for them are sent first.
    pub fn retire(&mut self, ids: &[SeriesId]) {
        if ids.is_empty() {
            return;
        }
        self.flush();
        let ids: Vec<u32> = ids.iter().map(|id| id.0).collect();
        for chunk in ids.chunks(REGISTER_ROWS) {
            host::retire(self.instance, chunk);
        }
    }

    /// A value of a family of [`crate::ValueKind::F64`].
    #[inline]
    pub fn push_f64(&mut self, id: SeriesId, value: f64) {
        self.rejected += self.f64.push(self.instance, VALUE_F64, id, value);
    }

    /// A value of a family of [`crate::ValueKind::U64`].
    #[inline]
    pub fn push_u64(&mut self, id: SeriesId, value: u64) {
        self.rejected += self.u64.push(self.instance, VALUE_U64, id, value);
    }

    /// A value of a family of [`crate::ValueKind::I64`].
    #[inline]
    pub fn push_i64(&mut self, id: SeriesId, value: i64) {
        self.rejected += self.i64.push(self.instance, VALUE_I64, id, value);
    }

    /// As [`Output::push_f64`], with times.
    pub fn push_f64_at(&mut self, id: SeriesId, value: f64, stamp: Stamp) {
        self.f64.stamp(stamp);
        self.rejected += self.f64.push(self.instance, VALUE_F64, id, value);
    }

    /// As [`Output::push_u64`], with times.
    pub fn push_u64_at(&mut self, id: SeriesId, value: u64, stamp: Stamp) {
        self.u64.stamp(stamp);
        self.rejected += self.u64.push(self.instance, VALUE_U64, id, value);
    }

    /// As [`Output::push_i64`], with times.
    pub fn push_i64_at(&mut self, id: SeriesId, value: i64, stamp: Stamp) {
        self.i64.stamp(stamp);
        self.rejected += self.i64.push(self.instance, VALUE_I64, id, value);
    }

    /// Sends values that are in columns already, without copying, after all pushed ones. Rows that only one of the
    /// columns has are rejected.
    pub fn send_f64(&mut self, ids: &[SeriesId], values: &[f64]) {
        self.rejected += self.f64.flush(self.instance, VALUE_F64);
        let rows = ids.len().min(values.len());
        let columns = Columns { ids: &ids[..rows], values: &values[..rows], times: None, starts: None };
        let taken = columns.send(self.instance, VALUE_F64);
        self.rejected += (ids.len().max(values.len()) - taken) as u64;
    }

    /// Sends the buffered values. Called automatically when a buffer is full and before a collection is completed.
    pub fn flush(&mut self) {
        self.rejected += self.f64.flush(self.instance, VALUE_F64);
        self.rejected += self.u64.flush(self.instance, VALUE_U64);
        self.rejected += self.i64.flush(self.instance, VALUE_I64);
        self.flush_histograms();
    }

    /// Drops the buffered values: the collection failed.
    pub(crate) fn clear(&mut self) {
        self.f64.clear();
        self.u64.clear();
        self.i64.clear();
        self.histograms.iter_mut().for_each(HistogramColumn::clear);
    }

    /// How many values the host has rejected so far (the instance was stopped, or a value was invalid).
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejected
    }
}

#[derive(Debug)]
struct Column<T> {
    ids: Vec<u32>,
    values: Vec<T>,
    /// INVARIANT: not longer than `ids`; rows after its end have none. Most rows have none.
    times: Vec<i64>,
    starts: Vec<i64>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { ids: Vec::new(), values: Vec::new(), times: Vec::new(), starts: Vec::new() }
    }
}

impl<T: Plain> Column<T> {
    #[inline]
    fn push(&mut self, instance: u64, value_kind: u32, id: SeriesId, value: T) -> u64 {
        self.ids.push(id.0);
        self.values.push(value);
        if self.ids.len() < BATCH_ROWS { 0 } else { self.flush(instance, value_kind) }
    }

    /// Adds the times of the row that is pushed next.
    fn stamp(&mut self, stamp: Stamp) {
        stamp.enter(self.ids.len(), &mut self.times, &mut self.starts);
    }

    /// Sends the column and returns the number of rejected rows.
    fn flush(&mut self, instance: u64, value_kind: u32) -> u64 {
        let rows = self.ids.len();
        let columns = Columns {
            ids: &self.ids,
            values: &self.values,
            times: filled(&mut self.times, rows),
            starts: filled(&mut self.starts, rows),
        };
        let taken = columns.send(instance, value_kind);
        let rejected = self.ids.len().saturating_sub(taken) as u64;
        self.clear();
        rejected
    }

    fn clear(&mut self) {
        self.ids.clear();
        self.values.clear();
        self.times.clear();
        self.starts.clear();
    }
}

/// The column with all rows, if any has a time.
fn filled(column: &mut Vec<i64>, rows: usize) -> Option<&[i64]> {
    if column.is_empty() {
        return None;
    }
    column.resize(rows, 0);
    Some(column)
}

/// Rows to send. INVARIANT: all columns have one length.
struct Columns<'a, I, T> {
    ids: &'a [I],
    values: &'a [T],
    times: Option<&'a [i64]>,
    starts: Option<&'a [i64]>,
}

impl<I: Plain, T: Plain> Columns<'_, I, T> {
    /// Sends them in as many batches as the host needs, and returns the number of accepted rows.
    fn send(&self, instance: u64, value_kind: u32) -> usize {
        let mut from = 0;
        while from < self.ids.len() {
            let batch = Batch {
                size: struct_size::<Batch>(),
                value_kind,
                ids: Array::of(&self.ids[from..]),
                values: Array::of(&self.values[from..]),
                timestamps: self.times.map_or(Array::EMPTY, |times| Array::of(&times[from..])),
                start_times: self.starts.map_or(Array::EMPTY, |starts| Array::of(&starts[from..])),
            };
            match host::batch(instance, &batch) {
                (OK, _) => from = self.ids.len(),
                (FULL, taken) if taken > 0 => from += taken,
                _ => break,
            }
        }
        from
    }
}

/// Offers `rows` in parts, as many as the host takes at once; rows without a verdict count as dropped.
fn in_parts<T, I: Clone>(rows: &[T], offer: impl Fn(&[T], &mut Vec<Option<I>>) -> usize) -> Vec<Option<I>> {
    let mut ids = Vec::with_capacity(rows.len());
    let mut rest = rows;
    while !rest.is_empty() {
        let taken = offer(&rest[..rest.len().min(REGISTER_ROWS)], &mut ids);
        if taken == 0 {
            break;
        }
        rest = &rest[taken..];
    }
    ids.resize(rows.len(), None);
    ids
}

const BATCH_ROWS: usize = 8_192;
const REGISTER_ROWS: usize = 4_096;

/// A family of histograms that the host accepted: observations, such as the durations of calls, counted in buckets.
///
/// ```
/// use plugin_sdk::{Buckets, FamilyDef, HistogramId, Output, SeriesDef, SeriesId};
///
/// struct Calls { buckets: Buckets, known: Option<(HistogramId, SeriesId)> }
///
/// const DURATIONS: FamilyDef<'static> = FamilyDef {
///     item: "Duration", unit: "seconds", help: "How long calls took.",
///     ..FamilyDef::histogram("rpc", "Calls", &[0.01, 0.1, 1.0])
/// };
///
/// impl Calls {
///     fn send(&mut self, output: &mut Output) {
///         if self.known.is_none() && let Some(id) = output.register_histograms(&[DURATIONS])[0] {
///             let series = SeriesDef { family: id.family(), labels: &[], start: None };
///             self.known = output.register_series(&[series])[0].map(|series| (id, series));
///         }
///         if let Some((id, series)) = self.known {
///             output.push_histogram(id, series, self.buckets.counts(), self.buckets.sum());
///         }
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HistogramId {
    pub(crate) family: FamilyId,
    /// How many counts each histogram has.
    pub(crate) buckets: usize,
}

impl HistogramId {
    /// The family, for the series in it.
    #[must_use]
    pub fn family(self) -> FamilyId {
        self.family
    }
}

/// Observations that a source counts by itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets {
    bounds: Vec<f64>,
    counts: Vec<u64>,
    sum: f64,
}

impl Buckets {
    /// Empty buckets with these bounds, which are those of the family.
    #[must_use]
    pub fn new(bounds: &[f64]) -> Self {
        Self { bounds: bounds.to_vec(), counts: vec![0; bounds.len() + 1], sum: 0.0 }
    }

    /// Counts an observation. Ignores it if it, or the new sum, is not finite.
    pub fn observe(&mut self, value: f64) {
        let sum = self.sum + value;
        if sum.is_finite() {
            self.sum = sum;
            self.counts[self.bounds.partition_point(|&bound| bound < value)] += 1;
        }
    }

    /// The observations in each bucket, not cumulative; the last bucket ends at +Inf.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The sum of the observations.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.sum
    }
}
