//! Histograms, checked row by row.

use std::collections::HashMap;
use std::ops::Range;

use plugin_abi::raw::{ACCEPTED, Verdict as RawVerdict};
use plugin_abi::{BatchOutcome, DropReason, FamilyDef, HistogramBatch, Kind};

use crate::instance::{Admission, InstanceShared};
use crate::violation::Violation;

/// The shape of a family's histograms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// How many counts each has.
    pub(crate) buckets: usize,
    /// Whether observations, and so sums, may be negative.
    is_signed: bool,
}

/// The families of an instance that are histograms, by id.
#[derive(Default)]
pub(super) struct Shapes(HashMap<u32, Shape>);

impl Shapes {
    /// Adds the accepted ones of `rows`.
    pub(super) fn enter(&mut self, rows: &[Result<FamilyDef<'_>, DropReason>], verdicts: &[RawVerdict]) {
        for (row, verdict) in rows.iter().zip(verdicts) {
            if let Ok(FamilyDef { kind: Kind::Histogram, bounds, .. }) = row
                && verdict.verdict == ACCEPTED
            {
                let is_signed = bounds.first().is_some_and(|&bound| bound < 0.0);
                self.0.insert(verdict.id, Shape { buckets: bounds.len() + 1, is_signed });
            }
        }
    }
}

impl InstanceShared {
    /// The shape of a family's histograms.
    pub(crate) fn histogram_shape(&self, family: u32) -> Result<Shape, Violation> {
        let data = self.data.lock();
        match data.histograms.0.get(&family) {
            Some(shape) => Ok(*shape),
            None if family < data.families => Err(Violation::WrongValueKind),
            None => Err(Violation::IdOutOfRange),
        }
    }

    /// Takes histograms. `None` if an id was never assigned: the whole batch is refused. Invalid rows are dropped;
    /// the sink gets the valid runs between them without copying.
    pub(crate) fn histograms(
        &self,
        token: u64,
        batch: &HistogramBatch<'_>,
        shape: Shape,
    ) -> Result<Option<BatchOutcome>, Admission> {
        let counts = batch.counts.len() as u64;
        let began_ns = self.checks.begin(counts, || self.library.now_ns());
        let (mut sound, mut invalid) = (Vec::new(), 0);
        let outcome = {
            let data = self.data.lock();
            let admission = self.admits(token);
            if admission != Admission::Open {
                return Err(admission);
            }
            let beyond = batch.ids.iter().fold(false, |beyond, id| beyond | (*id >= data.series_end));
            if !beyond {
                invalid = sound_runs(batch, shape, &mut sound);
            }
            if let Some(began_ns) = began_ns {
                self.checks.end(counts, began_ns, self.library.now_ns());
            }
            (!beyond).then(|| {
                if invalid == 0 {
                    return self.sinks.data.histograms(batch);
                }
                let parts = sound.into_iter().map(|rows| self.sinks.data.histograms(&batch.rows(rows)));
                parts.fold(BatchOutcome::default(), add)
            })
        };
        match outcome {
            Some(outcome) => {
                self.violation(Violation::RetiredId, outcome.retired);
                self.violation(Violation::WrongValueKind, outcome.wrong_kind);
                self.violation(Violation::BadHistogram, invalid);
            }
            None => self.violation(Violation::IdOutOfRange, 1),
        }
        Ok(outcome)
    }
}

/// Returns the number of invalid rows. If there are any, appends the runs of valid ones.
fn sound_runs(batch: &HistogramBatch<'_>, shape: Shape, runs: &mut Vec<Range<usize>>) -> u64 {
    let rows = batch.sums.iter().zip(batch.counts.chunks_exact(batch.buckets));
    let (mut begin, mut invalid) = (0, 0);
    for (row, (&sum, counts)) in rows.enumerate() {
        if !is_sound(sum, counts, shape) {
            if begin < row {
                runs.push(begin..row);
            }
            (begin, invalid) = (row + 1, invalid + 1);
        }
    }
    if invalid > 0 && begin < batch.ids.len() {
        runs.push(begin..batch.ids.len());
    }
    invalid
}

fn is_sound(sum: f64, counts: &[u64], shape: Shape) -> bool {
    let adds_up = counts.iter().try_fold(0_u64, |total, &count| total.checked_add(count)).is_some();
    adds_up && sum.is_finite() && (shape.is_signed || sum >= 0.0)
}

fn add(one: BatchOutcome, other: BatchOutcome) -> BatchOutcome {
    BatchOutcome {
        stored: one.stored + other.stored,
        retired: one.retired + other.retired,
        wrong_kind: one.wrong_kind + other.wrong_kind,
    }
}
