//! The series of one instance of an alert.

use std::time::Duration;

use pla_engine::{AlertState, Judgement};
use plugin_sdk::{Output, SeriesId};

/// What is shown and reported of one instance of an alert.
#[derive(Debug)]
pub(crate) struct AlertRow {
    /// What is known of it.
    pub(crate) judgement: Judgement,
    /// The collection that knew it last.
    pub(crate) round: u64,
    /// When it was last reported that it fires.
    pub(crate) reported: Option<Duration>,
    /// When it came into its state, in Unix seconds.
    changed_at: f64,
    /// The state that its series has as a label.
    shown_state: AlertState,
    /// By family. `None` where it has no series yet, and no id where the exporter dropped it.
    series: [Option<Option<SeriesId>>; OF_ROWS],
}

/// The series of one instance: firing, state, value, triggered, last change.
pub(crate) const OF_ROWS: usize = 5;
/// That of the state, which has it as a label.
const STATE: usize = 1;
const VALUE: usize = 2;

impl AlertRow {
    pub(crate) const fn new(judgement: Judgement, round: u64, unix_s: f64) -> Self {
        Self {
            judgement,
            round,
            reported: None,
            changed_at: unix_s,
            shown_state: judgement.state,
            series: [None; OF_ROWS],
        }
    }

    pub(crate) fn update(&mut self, judgement: Judgement, round: u64, unix_s: f64) {
        if judgement.state != self.judgement.state {
            self.changed_at = unix_s;
        }
        (self.judgement, self.round) = (judgement, round);
    }

    /// The series of a state that it is not in any more.
    pub(crate) fn take_outdated_state(&mut self) -> Option<SeriesId> {
        if self.shown_state == self.judgement.state {
            return None;
        }
        self.shown_state = self.judgement.state;
        self.series[STATE].take().flatten()
    }

    /// Those that it needs and has not: their places, their families, and the state if it is a label.
    pub(crate) fn missing(&self) -> impl Iterator<Item = (usize, usize, Option<AlertState>)> {
        (0..OF_ROWS).filter(|slot| self.series[*slot].is_none()).filter_map(|slot| match slot {
            STATE => Some((slot, slot, Some(self.shown_state))),
            VALUE => self.judgement.value.map(|_| (slot, slot, None)),
            _ => Some((slot, slot, None)),
        })
    }

    pub(crate) fn registered(&mut self, slot: usize, id: Option<SeriesId>) {
        self.series[slot] = Some(id);
    }

    pub(crate) fn push(&self, output: &mut Output) {
        let Self { judgement, changed_at, series, .. } = self;
        let [firing, state, value, triggered, changed] = series.map(Option::flatten);
        let fires = u64::from(judgement.state == AlertState::Firing);
        for (id, count) in [(firing, fires), (state, 1), (triggered, judgement.triggered)] {
            if let Some(id) = id {
                output.push_u64(id, count);
            }
        }
        for (id, number) in [(value, judgement.value), (changed, Some(*changed_at))] {
            if let (Some(id), Some(number)) = (id, number) {
                output.push_f64(id, number);
            }
        }
    }

    /// All of its series.
    pub(crate) fn ids(&self) -> impl Iterator<Item = SeriesId> {
        self.series.into_iter().flatten().flatten()
    }
}
