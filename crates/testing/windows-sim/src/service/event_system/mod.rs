//! The COM+ event system [MS-COMEV]: an object that keeps subscriptions, subscriptions before and after they are stored, and
//! collections of them. Who calls subscribers is [`crate::server::EventPublisher`].

mod collection;
mod subscription;
mod system;

use std::sync::Arc;

use super::objects::ComClass;

pub use self::system::NAME;

/// The classes of the event system.
#[must_use]
pub fn classes() -> Vec<Arc<dyn ComClass>> {
    vec![
        Arc::new(system::EventSystem),
        Arc::new(subscription::EventSubscription),
        Arc::new(collection::EventCollection),
        Arc::new(collection::EventEnumerator),
    ]
}
