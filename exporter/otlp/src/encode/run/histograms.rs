//! Histograms, one by one.

use series::model::HistogramPoint;

use super::{Run, start};
use crate::encode::change::Before;
use crate::encode::templates::HistogramNumbers;
use crate::encode::writing::Writing;

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
