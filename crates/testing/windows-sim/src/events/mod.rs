//! The store of the host's COM+ event system [MS-COMEV]: subscriptions, and what selects them.

mod criteria;
mod subscription;

use std::collections::BTreeSet;

use parking_lot::{Mutex, MutexGuard};
use wire::Guid;

pub use self::criteria::{Criteria, CriteriaError};
pub use self::subscription::{Column, Subscription};

/// Subscriptions that a host has at a time.
const SUBSCRIPTIONS_MAX: usize = 1024;

/// From a start of the event system to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Run(u64);

/// The subscriptions of a host.
#[derive(Debug, Default)]
pub struct EventStore(Mutex<Stored>);

#[derive(Debug, Default)]
struct Stored {
    run: Run,
    /// INVARIANT: each has an id, which no other has.
    subscriptions: Vec<Subscription>,
    /// Those that did not answer the last event.
    unreachable: BTreeSet<Guid>,
}

impl EventStore {
    /// The current run of the event system. Its objects of an earlier one are gone.
    #[must_use]
    pub fn run(&self) -> Run {
        self.stored().run
    }

    /// Starts the event system again: transient subscriptions and all of its objects are gone.
    pub fn restart(&self) {
        let mut stored = self.stored();
        stored.run.0 += 1;
        stored.subscriptions.retain(|subscription| !subscription.is_transient());
    }

    /// Stores a subscription in place of the one with its id, and returns it with an id. `None` if there are too many.
    pub fn store(&self, mut subscription: Subscription) -> Option<Subscription> {
        if subscription.guid(Column::SubscriptionId).is_none() {
            let id = format!("{{{}}}", super::random_guid()).to_uppercase();
            let _ = subscription.set_text(Column::SubscriptionId, id);
        }
        let id = subscription.guid(Column::SubscriptionId);
        let mut stored = self.stored();
        let is_full = stored.subscriptions.len() >= SUBSCRIPTIONS_MAX;
        let known = stored.subscriptions.iter_mut().find(|known| known.guid(Column::SubscriptionId) == id);
        match known {
            Some(known) => known.clone_from(&subscription),
            None if is_full => return None,
            None => stored.subscriptions.push(subscription.clone()),
        }
        Some(subscription)
    }

    /// The subscriptions that are meant.
    #[must_use]
    pub fn query(&self, criteria: &Criteria) -> Vec<Subscription> {
        let stored = self.stored();
        stored.subscriptions.iter().filter(|one| criteria.selects(one)).cloned().collect()
    }

    /// Removes the subscriptions that are meant, and returns how many.
    pub fn remove(&self, criteria: &Criteria) -> usize {
        let mut stored = self.stored();
        let before = stored.subscriptions.len();
        stored.subscriptions.retain(|subscription| !criteria.selects(subscription));
        before - stored.subscriptions.len()
    }

    /// Says whether the subscriber with this id answered the last event.
    pub fn set_reachable(&self, id: Guid, is_reachable: bool) {
        let mut stored = self.stored();
        if is_reachable {
            stored.unreachable.remove(&id);
        } else if stored.subscriptions.iter().any(|one| one.guid(Column::SubscriptionId) == Some(id)) {
            stored.unreachable.insert(id);
        }
    }

    /// Removes the transient subscribers that did not answer the last event.
    pub fn remove_unreachable(&self) {
        let mut stored = self.stored();
        let unreachable = std::mem::take(&mut stored.unreachable);
        stored.subscriptions.retain(|one| {
            !one.is_transient()
                || one.guid(Column::SubscriptionId).is_none_or(|id| !unreachable.contains(&id))
        });
    }

    fn stored(&self) -> MutexGuard<'_, Stored> {
        self.0.lock()
    }
}
