//! All targets at a glance, the failing ones first.

use super::Entry;
use super::groups::Groups;
use super::wanted::Wanted;
use crate::targets::{JobStatus, TargetHealth};

/// The counts of the whole fleet, and the targets that a reader asked for.
pub(super) struct Fleet {
    /// Targets by state, in the order of [`TargetHealth::ALL`].
    pub(super) counts: [usize; TargetHealth::ALL.len()],
    pub(super) series: usize,
    pub(super) collections: u64,
    /// Indexes of the requested targets: the failing ones first, then in the order of the configuration.
    pub(super) wanted: Vec<(TargetHealth, usize)>,
    /// The failures of these targets, grouped.
    pub(super) groups: Groups,
}

impl Fleet {
    pub(super) fn look(entries: &[Entry], wanted: &Wanted) -> Self {
        let mut fleet = Self {
            counts: [0; TargetHealth::ALL.len()],
            series: 0,
            collections: 0,
            wanted: Vec::new(),
            groups: Groups::default(),
        };
        let needle = wanted.text.to_lowercase();
        for (index, entry) in entries.iter().enumerate() {
            entry.read(|status| {
                let state = status.health();
                fleet.counts[state as usize] += 1;
                fleet.series += status.series();
                fleet.collections += status.jobs.iter().map(JobStatus::collections).sum::<u64>();
                let is_wanted = wanted.state.is_none_or(|wanted| wanted == state);
                if is_wanted && wanted.has_cause(status) && wanted.has_text(&needle, entry, status) {
                    fleet.wanted.push((state, index));
                    if let Some(down) = status.trouble() {
                        fleet.groups.enter(state, down, index);
                    }
                }
            });
        }
        fleet.wanted.sort_unstable();
        fleet
    }

    pub(super) fn count(&self, state: TargetHealth) -> usize {
        self.counts[state as usize]
    }
}
