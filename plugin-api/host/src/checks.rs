use std::sync::atomic::{AtomicU64, Ordering};

/// The time of checking the batches of a collection, estimated from the largest ones.
///
/// Reading the clock takes as long as checking a small batch, so not every batch is timed, but only one with more
/// rows than any before it in the collection. The time of the others is estimated from its time per row.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    rows: AtomicU64,
    rows_max: AtomicU64,
    timed_rows: AtomicU64,
    timed_ns: AtomicU64,
}

impl Checks {
    /// The start time of a batch with this number of rows, if it is timed; call [`Checks::end`] then.
    pub(crate) fn begin(&self, rows: u64, now_ns: impl FnOnce() -> u64) -> Option<u64> {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        (self.rows_max.fetch_max(rows, Ordering::Relaxed) < rows).then(now_ns)
    }

    /// A batch that came at `began_ns` is checked.
    pub(crate) fn end(&self, rows: u64, began_ns: u64, now_ns: u64) {
        self.timed_rows.fetch_add(rows, Ordering::Relaxed);
        self.timed_ns.fetch_add(now_ns.saturating_sub(began_ns), Ordering::Relaxed);
    }

    /// The time of checks since the last call, in nanoseconds; `None` if there were no rows.
    pub(crate) fn take_ns(&self) -> Option<u64> {
        let take = |figure: &AtomicU64| u128::from(figure.swap(0, Ordering::Relaxed));
        self.rows_max.store(0, Ordering::Relaxed);
        let (rows, timed_rows, timed_ns) = (take(&self.rows), take(&self.timed_rows), take(&self.timed_ns));
        let took_ns = (timed_ns * rows).checked_div(timed_rows)?;
        Some(u64::try_from(took_ns).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_batch_that_is_larger_than_those_before_it_is_timed_and_the_others_count_by_their_rows() {
        let checks = Checks::default();
        assert_eq!(checks.take_ns(), None);
        for (rows, is_timed) in [(0, false), (10, true), (10, false), (4, false), (50, true), (26, false)] {
            let began = checks.begin(rows, || 1_000);
            assert_eq!(began.is_some(), is_timed, "{rows}");
            began.into_iter().for_each(|began| checks.end(rows, began, began + 3 * rows));
        }
        assert_eq!(checks.take_ns(), Some(300));
        // The next collection starts from zero, and a clock that goes back counts as zero.
        assert_eq!(checks.begin(1, || 7), Some(7));
        checks.end(1, 7, 5);
        assert_eq!(checks.take_ns(), Some(0));
    }
}
