//! Runs of series: the inner loop.

mod histograms;

use std::sync::Arc;

use series::model::{Block, Chunk, Values};

use super::change::Before;
use super::templates::{Numbers, Template};
use super::writing::Writing;
use super::{Number, growth};
use super::{Part, Position, Temporality};

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
