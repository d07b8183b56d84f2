use std::sync::atomic::{AtomicU64, Ordering};

/// What checking the batches of a collection takes, reckoned from the largest of them.
///
/// A look at the clock costs as much as checking a small batch, so not every batch is timed: one is when it has more
/// rows than any before it in the collection. The others count as if each of their rows had taken as long.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    rows: AtomicU64,
    rows_max: AtomicU64,
    timed_rows: AtomicU64,
    timed_ns: AtomicU64,
}

impl Checks {
    /// When a batch of so many rows came, where it is to be timed; then [`Checks::end`] follows.
    pub(crate) fn begin(&self, rows: u64, now_ns: impl FnOnce() -> u64) -> Option<u64> {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        (self.rows_max.fetch_max(rows, Ordering::Relaxed) < rows).then(now_ns)
    }

    /// A batch that came at `began_ns` is checked.
    pub(crate) fn end(&self, rows: u64, began_ns: u64, now_ns: u64) {
        self.timed_rows.fetch_add(rows, Ordering::Relaxed);
        self.timed_ns.fetch_add(now_ns.saturating_sub(began_ns), Ordering::Relaxed);
    }

    /// What checking took since this was asked last, in nanoseconds; nothing where there was no row.
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
        // The next collection begins anew, and a clock that goes back takes nothing.
        assert_eq!(checks.begin(1, || 7), Some(7));
        checks.end(1, 7, 5);
        assert_eq!(checks.take_ns(), Some(0));
    }
}
