//! Which sets are judged: those that always are, and those that an alert started.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::counts::ActionResult;
use crate::model::{Origin, Set, Start};

/// The sets of a target.
#[derive(Debug, Default)]
pub(super) struct Triggers {
    sets: HashMap<String, Run>,
    /// The second set is not started by the first one.
    refused: HashSet<(String, String)>,
}

/// A set, and since when it is judged.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: Start,
    /// The host starts it, and whether it is judged here is another matter.
    is_of_host: bool,
    /// Zero is without an end.
    duration: Duration,
    since: Option<Duration>,
}

impl Triggers {
    /// Takes the sets as they are now. One that was started goes on, unless it starts in another way.
    pub(super) fn select<'a>(
        &mut self,
        sets: impl Iterator<Item = &'a Set>,
        refused: HashSet<(String, String)>,
    ) {
        let before = std::mem::take(&mut self.sets);
        let run = |set: &Set| {
            let since =
                before.get(&set.name).and_then(|run| run.since).filter(|_| set.start == Start::Triggered);
            let is_of_host = set.origin == Origin::Host;
            (set.name.clone(), Run { start: set.start, is_of_host, duration: set.duration, since })
        };
        self.sets = sets.map(run).collect();
        self.refused = refused;
    }

    /// Whether the alerts of a set are judged.
    pub(super) fn is_running(&self, set: &str) -> bool {
        self.sets.get(set).is_some_and(|run| run.start == Start::Always || run.since.is_some())
    }

    /// Whether a set is one that alerts start here.
    pub(super) fn has(&self, set: &str) -> bool {
        self.sets.get(set).is_some_and(|run| !run.is_of_host)
    }

    /// Stops the sets whose time has passed. Returns whether there was one.
    pub(super) fn expire(&mut self, now: Duration) -> bool {
        let mut has_stopped = false;
        for run in self.sets.values_mut().filter(|run| !run.duration.is_zero()) {
            if run.since.is_some_and(|since| now.saturating_sub(since) >= run.duration) {
                run.since = None;
                has_stopped = true;
            }
        }
        has_stopped
    }

    /// An alert of a set starts another one. One that runs goes on as if nothing had happened, so that it ends. Returns nothing
    /// if this is not done at all.
    pub(super) fn start(&mut self, from: &str, set: &str, now: Duration) -> Option<ActionResult> {
        if self.refused.contains(&(from.to_owned(), set.to_owned())) {
            return None;
        }
        let run = self.sets.get_mut(set)?;
        if run.start == Start::Always || run.since.is_some() {
            return Some(ActionResult::Skipped);
        }
        run.since = Some(now);
        Some(ActionResult::Done)
    }
}
