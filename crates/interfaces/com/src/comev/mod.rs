//! The COM+ Event System Protocol [MS-COMEV], client and server, without I/O, as far as a subscriber needs it.
//!
//! A subscriber activates the event system ([`ids::EVENT_SYSTEM_CLASS`]) and a subscription
//! ([`ids::EVENT_SUBSCRIPTION_CLASS`]), both objects of the host; it sets the properties of the subscription, among them
//! a reference to an object of its own that the host calls with each event; and it stores the subscription. Such a
//! subscription is transient: it goes when the event system ends, and is then stored again. At the end it is removed:
//!
//! ```
//! use com::comev::{IEventSystem, RemoveRequest, prog_id, query};
//! use wire::Guid;
//! use com::oaut::Bstr;
//! use rpc::orpc::Proxy;
//!
//! # async fn remove<C: rpc::Channel>(mut event_system: Proxy<C, IEventSystem>, id: Guid) -> Option<()> {
//! let prog_id = Bstr::new(prog_id::EVENT_SUBSCRIPTION_COLLECTION).ok()?;
//! let criteria = Bstr::new(&query::by_subscription_id(id)).ok()?;
//! event_system.call(&RemoveRequest { prog_id, criteria }).await.ok()?;
//! # Some(()) }
//! ```
//!
//! Where to look: [`ids`] for classes and names, [`subscription`] for the many properties, [`query`] for criteria.
//! Requirements that are not met are in `gaps.toml`.

mod collection;
mod event_system;
pub mod ids;
pub mod query;
pub mod subscription;

pub use self::collection::*;
pub use self::event_system::*;
pub use self::ids::{prog_id, status};
pub use self::subscription::{
    IEventSubscription, IEventSubscription2, IEventSubscription2Server, IEventSubscription3,
    IEventSubscription3Server, IEventSubscriptionServer,
};

/// [MS-COMEV] 3.1.4.10.1: the version of an event system whose event classes and subscriptions have partitions and
/// applications.
pub const VERSION_WITH_PARTITIONS: i32 = 2;
