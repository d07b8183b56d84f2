//! When a set starts, and what happens to that when the clock is set.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use super::SetDefinition;

/// Which scheduled starts are due, so that none is handled twice, whatever becomes of the clock.
///
/// A start is known by its moment. A clock that is set back shows earlier moments again: those that were handled are passed
/// over, and those that were only skipped when it was set forward are due again.
#[derive(Clone, Debug)]
pub(super) struct Starts {
    /// Starts until here were looked for.
    considered: Timestamp,
    /// The newest ones that were handled, at most [`HANDLED_MAX`].
    handled: VecDeque<Timestamp>,
    /// The first after `considered` that was not handled.
    upcoming: Option<Timestamp>,
}

/// Starts that are due at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DueStarts {
    /// The newest one, which is handled now.
    pub(super) latest: Timestamp,
    /// How many there were before it.
    pub(super) earlier: u64,
}

impl Starts {
    /// Looks for starts after a moment.
    pub(super) fn new(definition: &SetDefinition, considered: Timestamp, handled: &[Timestamp]) -> Self {
        let newest = &handled[handled.len().saturating_sub(HANDLED_MAX)..];
        let mut starts = Self { considered, handled: newest.iter().copied().collect(), upcoming: None };
        starts.upcoming = starts.search(definition);
        starts
    }

    pub(super) const fn upcoming(&self) -> Option<Timestamp> {
        self.upcoming
    }

    pub(super) const fn considered(&self) -> Timestamp {
        self.considered
    }

    pub(super) fn handled(&self) -> Vec<Timestamp> {
        self.handled.iter().copied().collect()
    }

    /// Another definition holds from now on.
    pub(super) fn redefine(&mut self, definition: &SetDefinition, now: Timestamp) {
        self.considered = now;
        self.upcoming = self.search(definition);
    }

    /// Takes those that are due.
    pub(super) fn take_due(&mut self, definition: &SetDefinition, now: Timestamp) -> Option<DueStarts> {
        if now < self.considered {
            self.redefine(definition, now);
            return None;
        }
        let mut due: Option<DueStarts> = None;
        while let Some(latest) = self.upcoming.filter(|start| *start <= now) {
            let earlier = due.map_or(0, |due| due.earlier + 1);
            due = Some(DueStarts { latest, earlier });
            // The last of them is wanted, however many there are.
            let skipped = if earlier < COUNTED_MAX { None } else { now.checked_sub(RECENT).ok() };
            self.considered = skipped.map_or(latest, |skipped| skipped.max(latest));
            self.upcoming = self.search(definition);
        }
        self.considered = now;
        if let Some(due) = due {
            if self.handled.len() >= HANDLED_MAX {
                self.handled.pop_front();
            }
            self.handled.push_back(due.latest);
        }
        due
    }

    fn search(&self, definition: &SetDefinition) -> Option<Timestamp> {
        let mut start = definition.next_start(self.considered)?;
        while self.handled.contains(&start) {
            start = definition.next_start(start)?;
        }
        Some(start)
    }
}

/// A set that starts once a day remembers four months.
const HANDLED_MAX: usize = 128;
/// More are not counted one by one.
const COUNTED_MAX: u64 = 10_000;
/// Within this, a schedule that is not over has a start.
const RECENT: SignedDuration = SignedDuration::from_hours(9 * 24);
