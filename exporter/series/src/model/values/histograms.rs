//! Histograms by series id: where their counts stand, storing them, and reading them.

use std::collections::HashMap;

use plugin_abi::{HistogramBatch, ValueKind};

use super::{PRESENT, RETIRED, Roster, Scattered, Values, tag};
use crate::model::HistogramPoint;

/// Where the counts of a series stand, and after them its sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    at: u32,
    /// How many counts; 0: the series is no histogram.
    buckets: u32,
}

/// Allocates slots. A returned slot is reused for the next histogram with the same number of buckets.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    free: HashMap<u32, Vec<u32>>,
    /// Where the next new slot begins.
    end: u32,
}

impl Slots {
    /// Allocates counts and a sum; `None` if there is no more space.
    pub(crate) fn take(&mut self, roster: &mut Roster, id: u32, buckets: usize) -> Option<()> {
        let buckets = u32::try_from(buckets).ok()?;
        let at = match self.free.get_mut(&buckets).and_then(Vec::pop) {
            Some(at) => at,
            None => {
                let at = self.end;
                self.end = at.checked_add(buckets)?.checked_add(1)?;
                at
            }
        };
        roster.set_slot(id, Slot { at, buckets });
        roster.cells = self.end as usize;
        Some(())
    }

    /// Takes the slot of a series back, if it has one.
    pub(crate) fn give_back(&mut self, roster: &mut Roster, id: u32) {
        let slot = roster.slot(id);
        if slot.buckets > 0 {
            self.free.entry(slot.buckets).or_default().push(slot.at);
            roster.set_slot(id, Slot::default());
        }
    }
}

impl Slot {
    fn sum(self) -> usize {
        self.at as usize + self.buckets as usize
    }

    fn counts(self) -> std::ops::Range<usize> {
        self.at as usize..self.sum()
    }
}

impl Roster {
    fn slot(&self, id: u32) -> Slot {
        self.slots.get(id as usize).copied().unwrap_or_default()
    }

    fn set_slot(&mut self, id: u32, slot: Slot) {
        let index = id as usize;
        if index >= self.slots.len() {
            self.slots.resize(index + 1, Slot::default());
        }
        self.slots[index] = slot;
    }
}

impl Values {
    /// The histogram of a series, if it is one and the collection brought it.
    #[must_use]
    pub fn histogram(&self, id: u32) -> Option<HistogramPoint<'_>> {
        let index = id as usize;
        if self.roster.states.get(index) != Some(&PRESENT_HISTOGRAM) {
            return None;
        }
        let (slot, count) = (self.roster.slot(id), *self.bits.get(index)?);
        let sum = f64::from_bits(*self.cells.get(slot.sum())?);
        Some(HistogramPoint { counts: self.cells.get(slot.counts())?, sum, count })
    }

    /// Has the series of `id`, which was admitted, stand where it is in `roster`.
    pub(crate) fn place_histogram(&mut self, id: u32, roster: &Roster) {
        self.roster.set_slot(id, roster.slot(id));
        self.roster.cells = roster.cells;
        self.cells.resize(roster.cells, 0);
    }

    /// Stores histograms by id, and their start times where they are known. `is_of_family` says whether a series is of the
    /// batch's family.
    pub(crate) fn scatter_histograms(
        &mut self,
        batch: &HistogramBatch<'_>,
        is_of_family: impl Fn(u32) -> bool,
    ) -> Scattered {
        let mut outcome = Scattered::default();
        let rows = batch.ids.iter().zip(batch.counts.chunks_exact(batch.buckets)).zip(batch.sums);
        for (row, ((&id, counts), &sum)) in rows.enumerate() {
            let state = self.roster.states.get(id as usize).copied().unwrap_or(RETIRED);
            if state == RETIRED {
                outcome.retired += 1;
            } else if state | PRESENT == PRESENT_HISTOGRAM
                && is_of_family(id)
                && self.store_histogram(id, counts, sum)
            {
                outcome.stored += 1;
                let start = batch.start_times.and_then(|starts| starts.get(row)).copied().unwrap_or(0);
                if start != 0 {
                    self.roster.set_start(id, start);
                }
            } else {
                outcome.wrong_kind += 1;
            }
        }
        outcome
    }

    /// Answers whether it has as many buckets as the series.
    fn store_histogram(&mut self, id: u32, counts: &[u64], sum: f64) -> bool {
        let (index, slot) = (id as usize, self.roster.slot(id));
        if counts.len() != slot.buckets as usize {
            return false;
        }
        self.cells[slot.counts()].copy_from_slice(counts);
        self.cells[slot.sum()] = sum.to_bits();
        self.bits[index] = counts.iter().fold(0, |total: u64, &count| total.saturating_add(count));
        self.roster.states[index] = PRESENT_HISTOGRAM;
        true
    }

    /// The counts and the sum of a series whose value is taken over.
    pub(super) fn inherit_cells(&mut self, id: u32, from: &Self) {
        let (slot, old) = (self.roster.slot(id), from.roster.slot(id));
        if self.roster.states[id as usize] == PRESENT_HISTOGRAM && slot == old {
            let cells = slot.at as usize..=slot.sum();
            self.cells[cells.clone()].copy_from_slice(&from.cells[cells]);
        }
    }
}

const PRESENT_HISTOGRAM: u8 = PRESENT | tag(ValueKind::Histogram);
