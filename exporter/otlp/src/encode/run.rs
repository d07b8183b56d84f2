//! Runs of series: the inner loop.

use std::sync::Arc;

use series::model::{Block, Chunk, HistogramPoint, Values};

use super::change::Before;
use super::templates::{HistogramNumbers, Numbers, Template};
use super::writing::Writing;
use super::{Number, Part, Position, Temporality, growth};

/// Series of one chunk from the position on.
pub(super) struct Run<'a> {
    pub(super) part: &'a Part,
    pub(super) temporality: Temporality,
    pub(super) at: Position,
    pub(super) block: &'a Block,
    pub(super) chunk: &'a Arc<Chunk>,
    pub(super) template: &'a Template,
}

impl Run<'_> {
    /// Copies points as they are in the template, as many as have a value and fit, then fills their numbers in.
    /// Answers the series to go on with.
    pub(super) fn write(&self, writing: &mut Writing<'_>, numbers: impl Fn(u32) -> Option<Numbers>) -> usize {
        let (ids, ends) = (self.chunk.ids(), &self.template.ends);
        let mut series = self.at.series;
        while series < ids.len() {
            if numbers(ids[series]).is_none() {
                series += 1;
                continue;
            }
            let begin = self.template.begin(series);
            if !self.begin_point(writing, ends[series] as usize - begin) {
                return series;
            }
            let room = writing.bytes_max.saturating_sub(writing.out.len());
            let ahead = &ends[series..ids.len().min(series + RUN_POINTS_MAX)];
            let fit = ahead.partition_point(|&end| end as usize - begin <= room).max(1);
            let end = ends[series + fit - 1] as usize;
            let at = writing.out.len();
            writing.out.extend_from_slice(&self.template.points[begin..end]);
            let filled = self.fill(&mut writing.out[at..], series, fit, &numbers);
            writing.points += filled as u64;
            series += filled;
            writing.out.truncate(at + self.template.begin(series) - begin);
        }
        series
    }

    /// Fills in `count` points that were copied to `out`, up to the first that has no value.
    #[inline]
    fn fill(
        &self,
        out: &mut [u8],
        from: usize,
        count: usize,
        numbers: impl Fn(u32) -> Option<Numbers>,
    ) -> usize {
        let first = self.template.begin(from);
        let mut begin = first;
        let series = self.chunk.ids()[from..from + count].iter().zip(&self.template.ends[from..from + count]);
        for (index, (&id, &end)) in series.enumerate() {
            let Some(numbers) = numbers(id) else { return index };
            self.template.fill(out, begin - first, numbers);
            begin = end as usize;
        }
        count
    }

    /// The same for what counters grew by.
    pub(super) fn write_growth(&self, before: Option<&Before>, writing: &mut Writing<'_>) -> usize {
        match before {
            None => self.chunk.len(),
            Some(before) if before.keeps_ids_of(self.chunk) => {
                self.write(writing, |id| self.growth(before, id, Some(id)))
            }
            Some(before) => self.write_moved_growth(before, writing),
        }
    }

    /// The same for series whose ids may be others than before, one by one.
    fn write_moved_growth(&self, before: &Before, writing: &mut Writing<'_>) -> usize {
        for (series, (id, prefix)) in self.chunk.iter().enumerate().skip(self.at.series) {
            let Some(numbers) = self.growth(before, id, before.id_of(prefix)) else { continue };
            let (begin, end) = (self.template.begin(series), self.template.ends[series] as usize);
            if !self.begin_point(writing, end - begin) {
                return series;
            }
            let at = writing.out.len();
            writing.out.extend_from_slice(&self.template.points[begin..end]);
            self.template.fill(writing.out, at, numbers);
            writing.points += 1;
        }
        self.chunk.len()
    }

    /// What a series grew by since it had the id `then`.
    #[inline]
    fn growth(&self, before: &Before, id: u32, then: Option<u32>) -> Option<Numbers> {
        let (time, now) = (self.part.time_unix_nanos, self.part.snapshot.values().value(id)?);
        let then = then.and_then(|then| Some((before.values().value(then)?, then)));
        let (start, value) = match then.filter(|&(_, then)| self.counts_on(before, id, then)) {
            Some((then, _)) => (before.time_unix_nanos, growth(then, now)?),
            None => (self.began_since(before, id)?, now),
        };
        Some(Numbers { start, time, value: Number::of(value) })
    }

    /// Whether a series counts from the same start as then. Start times are the host's, so that they are compared with each
    /// other only.
    #[inline]
    fn counts_on(&self, before: &Before, id: u32, then: u32) -> bool {
        let start = self.part.snapshot.values().start_time_unix_nanos(id);
        start == before.values().start_time_unix_nanos(then)
    }

    /// When a series began, if that was between the last export and this one: then all that it counted is growth. What
    /// another one, which began earlier, counted before the last export nobody knows.
    fn began_since(&self, before: &Before, id: u32) -> Option<u64> {
        let time = self.part.time_unix_nanos;
        Some(start(self.part.snapshot.values(), id, time)).filter(|&start| start > before.time_unix_nanos)
    }

    fn begin_point(&self, writing: &mut Writing<'_>, bytes: usize) -> bool {
        let metric = (self.at.part, (self.at.block, false));
        writing.begin_point(metric, self.part, self.block.family(), self.temporality, bytes)
    }
}

/// When a series began to count; 0 is "unknown", as is what a clock that is ahead places at the point's time or after it.
#[inline]
pub(super) fn start(values: &Values, id: u32, time: u64) -> u64 {
    let start = values.start_time_unix_nanos(id).and_then(|start| u64::try_from(start).ok());
    start.filter(|&start| start < time).unwrap_or(0)
}

/// How many points are copied at a time: they are still in the processor's nearest cache when they are filled in,
/// and little was copied in vain where one has no value.
const RUN_POINTS_MAX: usize = 32;

/// Takes the numbers and the counts of a histogram.
type Out<'a> = dyn FnMut(HistogramNumbers, &mut dyn Iterator<Item = u64>) + 'a;

impl Run<'_> {
    /// Writes histograms as they are, as many as fit. Answers the series to go on with.
    pub(crate) fn write_histograms(&self, writing: &mut Writing<'_>) -> usize {
        let (values, time) = (self.part.snapshot.values(), self.part.time_unix_nanos);
        self.write_each(writing, |id, _, now, out| {
            let numbers =
                HistogramNumbers { start: start(values, id, time), time, count: now.count, sum: now.sum };
            out(numbers, &mut now.counts.iter().copied());
            true
        })
    }

    /// The same for what they grew by, as with counters.
    pub(crate) fn write_histogram_growth(&self, before: Option<&Before>, writing: &mut Writing<'_>) -> usize {
        let time = self.part.time_unix_nanos;
        self.write_each(writing, |id, prefix, now, out| {
            let Some(before) = before else { return false };
            let then = if before.keeps_ids_of(self.chunk) { Some(id) } else { before.id_of(prefix) };
            let then = then.filter(|&then| self.counts_on(before, id, then));
            match then.and_then(|then| before.values().histogram(then)) {
                Some(then) if has_grown(&then, now) => {
                    let sum = now.sum - then.sum;
                    let sum = if self.block.family().bounds.are_signed() { sum } else { sum.max(0.0) };
                    let (start, count) = (before.time_unix_nanos, now.count - then.count);
                    let numbers = HistogramNumbers { start, time, count, sum };
                    out(numbers, &mut now.counts.iter().zip(then.counts).map(|(now, then)| now - then));
                }
                Some(_fallen) => return false,
                None => {
                    let Some(start) = self.began_since(before, id) else { return false };
                    let numbers = HistogramNumbers { start, time, count: now.count, sum: now.sum };
                    out(numbers, &mut now.counts.iter().copied());
                }
            }
            true
        })
    }

    /// Has `write` say the numbers of each series; where it says none, the series is left out.
    fn write_each(
        &self,
        writing: &mut Writing<'_>,
        write: impl Fn(u32, &[u8], &HistogramPoint<'_>, &mut Out<'_>) -> bool,
    ) -> usize {
        for (series, (id, prefix)) in self.chunk.iter().enumerate().skip(self.at.series) {
            let Some(now) = self.part.snapshot.values().histogram(id) else { continue };
            let (begin, end) = (self.template.begin(series), self.template.ends[series] as usize);
            let mut is_full = false;
            let written = write(id, prefix, &now, &mut |numbers, counts| {
                if !self.begin_point(writing, end - begin) {
                    is_full = true;
                    return;
                }
                let at = writing.out.len();
                writing.out.extend_from_slice(&self.template.points[begin..end]);
                self.template.fill_histogram(&mut writing.out[at..], numbers, counts);
            });
            if is_full {
                return series;
            }
            writing.points += u64::from(written);
        }
        self.chunk.len()
    }
}

/// Whether nothing in it fell: else it began again, or has other bounds.
fn has_grown(then: &HistogramPoint<'_>, now: &HistogramPoint<'_>) -> bool {
    then.counts.len() == now.counts.len() && then.counts.iter().zip(now.counts).all(|(then, now)| then <= now)
}
