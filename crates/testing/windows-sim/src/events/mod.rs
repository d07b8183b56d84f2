//! The store of the host's COM+ event system [MS-COMEV]: subscriptions, and what selects them.

mod criteria;
mod store;
mod subscription;

pub use self::criteria::{Criteria, CriteriaError};
pub use self::store::{EventStore, Run};
pub use self::subscription::{Column, Subscription};
