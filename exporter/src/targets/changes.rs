use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

use super::account::Down;

/// Maximum of changes that are kept, over all targets.
pub const CHANGES_MAX: usize = 200;

/// A target's state became another.
#[derive(Clone, Debug)]
pub struct Change {
    pub target: String,
    pub at: Instant,
    pub turn: Turn,
}

/// What a target's state became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is down, or down for another reason.
    Down(Down),
    /// It is partial, or partial for another reason; nothing where a module matches nothing.
    Partial(Option<Down>),
    /// It is up again.
    Up,
}

/// The last [`CHANGES_MAX`] changes.
#[derive(Debug, Default)]
pub(super) struct Changes(Mutex<VecDeque<Arc<Change>>>);

impl Changes {
    pub(super) fn push(&self, target: &str, turn: Turn) {
        let change = Arc::new(Change { target: target.to_owned(), at: Instant::now(), turn });
        let mut changes = self.0.lock();
        if changes.len() == CHANGES_MAX {
            changes.pop_front();
        }
        changes.push_back(change);
    }

    pub(super) fn newest_first(&self) -> Vec<Arc<Change>> {
        self.0.lock().iter().rev().cloned().collect()
    }
}
