//! The targets, and how they fare: a [`TargetRegistry`] holds the state of every target. The log has one line for each
//! change of it, and none per collection.
//!
//! A [`JobObserver`] hears of a module's collections and enters them; what it hears also decides when the schedule asks
//! next and when series that outlived a failure go. A [`PluginCollector`] begins collections, a [`TimedStore`] measures
//! what their values cost, over all targets in [`Costs`].
//!
//! | module | what it does |
//! | --- | --- |
//! | [`schedule`] | when which target is asked |
//! | [`storage`] | files that sources keep of targets |

mod account;
mod collector;
mod costs;
mod health;
mod metrics;
mod observer;
mod registry;
pub mod schedule;
mod sink;
pub mod storage;

pub use self::account::{Down, JobStatus, StageCost, ending, help, next_step};
pub use self::collector::{PluginCollector, begin, failure_of};
pub use self::costs::{Costs, METRICS as COST_METRICS, PluginCosts};
pub use self::health::{TargetHealth, count_by_health};
pub use self::metrics::{
    FILE_METRICS, MEMORY_METRICS, PLUGIN_METRICS, PluginSource, Plugins, TARGET_METRICS,
};
pub use self::observer::{AlertLines, JobObserver, Reporter};
pub use self::registry::{OperatingSystem, TargetRegistry, TargetState, TargetStatus};
pub use self::sink::TimedStore;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

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
struct Changes(Mutex<VecDeque<Arc<Change>>>);

impl Changes {
    fn push(&self, target: &str, turn: Turn) {
        let change = Arc::new(Change { target: target.to_owned(), at: Instant::now(), turn });
        let mut changes = self.0.lock();
        if changes.len() == CHANGES_MAX {
            changes.pop_front();
        }
        changes.push_back(change);
    }

    fn newest_first(&self) -> Vec<Arc<Change>> {
        self.0.lock().iter().rev().cloned().collect()
    }
}
