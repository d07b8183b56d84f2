//! How often which action of which alert was done, and how that ended.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What an alert does when it begins to fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// An event is reported.
    Event,
    /// A task is started.
    Task,
    /// A set is started.
    Trigger,
}

/// How an action ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ActionResult {
    /// It was done: a task ended with exit status 0.
    Done,
    /// The task could not be started, or ended in another way; the host did not start its set.
    Failed,
    /// The task ran for too long and was ended.
    TimedOut,
    /// The task was not started, because an argument cannot be passed on.
    Refused,
    /// The task, or the host's set, was not started, because it was a moment ago or too many wait; the set was running already.
    Skipped,
}

/// What is counted: alerts of a set that share a name are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) set: Arc<str>,
    pub(crate) alert: Arc<str>,
    pub(crate) action: Action,
}

/// The counts of one target.
#[derive(Debug, Default)]
pub(crate) struct Counts(HashMap<(Key, ActionResult), u64>);

impl Action {
    /// Its name in metrics.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Task => "task",
            Self::Trigger => "trigger",
        }
    }

    /// How it may end.
    const fn results(self) -> &'static [ActionResult] {
        use ActionResult::{Done, Failed, Refused, Skipped, TimedOut};
        match self {
            Self::Event => &[Done],
            Self::Task => &[Done, Failed, TimedOut, Refused, Skipped],
            Self::Trigger => &[Done, Failed, Skipped],
        }
    }
}

impl ActionResult {
    /// Its name in metrics.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Refused => "refused",
            Self::Skipped => "skipped",
        }
    }
}

impl Key {
    #[cfg(test)]
    pub(super) fn new(set: &str, alert: &str, action: Action) -> Self {
        Self { set: set.into(), alert: alert.into(), action }
    }
}

impl Counts {
    /// Takes what may be done. What was counted of it before goes on; the rest is forgotten.
    pub(super) fn select(&mut self, keys: impl Iterator<Item = Key>) {
        let keys: HashSet<Key> = keys.collect();
        self.0.retain(|(key, _), _| keys.contains(key));
        for key in keys {
            for result in key.action.results() {
                self.0.entry((key.clone(), *result)).or_default();
            }
        }
    }

    /// Counts an action, unless its alert has it no more.
    pub(super) fn add(&mut self, key: Key, result: ActionResult) {
        if let Some(count) = self.0.get_mut(&(key, result)) {
            *count += 1;
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&(Key, ActionResult), u64)> {
        self.0.iter().map(|(key, count)| (key, *count))
    }

    /// Whether something is counted.
    pub(crate) fn has(&self, key: &(Key, ActionResult)) -> bool {
        self.0.contains_key(key)
    }
}
