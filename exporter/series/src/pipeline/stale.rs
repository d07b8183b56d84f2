//! Which failures series may outlive.

/// Collections that fail one after the other; another such row is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailureStreak(u64);

/// The current streak of failures.
#[derive(Debug, Default)]
pub(super) struct Stale {
    /// How many rows there were.
    rows: u64,
    is_failing: bool,
    /// Series of this row outlive nothing any more.
    is_expired: bool,
    /// The blocks of the layout that the last collection brought all the same.
    covered: Vec<u32>,
}

impl Stale {
    /// One more collection failed, but for the blocks `covered`. Answers the row that began, if one did.
    pub(super) fn fail(&mut self, covered: &[u32]) -> Option<FailureStreak> {
        self.covered.clear();
        self.covered.extend_from_slice(covered);
        if std::mem::replace(&mut self.is_failing, true) {
            return None;
        }
        self.rows += 1;
        Some(FailureStreak(self.rows))
    }

    /// A collection succeeded.
    pub(super) fn end(&mut self) {
        (self.is_failing, self.is_expired) = (false, false);
    }

    /// Series outlive this row no longer. Answers the blocks that the last collection brought all the same; nothing
    /// where the row is over.
    pub(super) fn expire(&mut self, FailureStreak(row): FailureStreak) -> Option<&[u32]> {
        if !self.is_failing || self.rows != row {
            return None;
        }
        self.is_expired = true;
        Some(&self.covered)
    }

    /// Whether series outlive nothing any more until a collection succeeds.
    pub(super) fn is_expired(&self) -> bool {
        self.is_expired
    }
}
