//! [MS-COMEV] 1.9: classes, and names of stores and of what is in them.

use wire::Guid;

/// Class of the event system: [`IEventSystem`](crate::comev::IEventSystem).
#[doc(alias = "CLSID_EventSystem")]
pub const EVENT_SYSTEM_CLASS: Guid = Guid::from_u128(0x4e14fba2_2e22_11d1_9964_00c04fbbb345);

/// Class of event classes.
#[doc(alias = "CLSID_EventClass")]
pub const EVENT_CLASS_CLASS: Guid = Guid::from_u128(0xcdbec9c0_7a68_11d1_88f9_0080c7d771bf);

/// Class of subscriptions: [`IEventSubscription`](crate::comev::IEventSubscription).
#[doc(alias = "CLSID_EventSubscription")]
pub const EVENT_SUBSCRIPTION_CLASS: Guid = Guid::from_u128(0x7542e960_79c7_11d1_88f9_0080c7d771bf);

#[doc(alias = "GUID_DefaultAppPartition")]
pub const DEFAULT_PARTITION: Guid = Guid::from_u128(0x41e90f3e_56c1_4633_81c3_6e8bac8bdd70);

/// [MS-COMEV] 3.1.4.1: what `prog_id` says.
pub mod prog_id {
    /// An event class that is stored.
    pub const EVENT_CLASS: &str = "EventSystem.EventClass";
    pub const EVENT_CLASS_COLLECTION: &str = "EventSystem.EventClassCollection";
    /// A subscription that is stored.
    pub const EVENT_SUBSCRIPTION: &str = "EventSystem.EventSubscription";
    pub const EVENT_SUBSCRIPTION_COLLECTION: &str = "EventSystem.EventSubscriptionCollection";
}

/// [MS-COMEV] 3.1.4.1: results of the event system.
pub mod status {
    use wire::HResult;

    /// The criteria have a wrong syntax.
    pub const EVENT_E_QUERYSYNTAX: HResult = HResult(0x8004_0203);
    /// The criteria name a property that does not exist.
    pub const EVENT_E_QUERYFIELD: HResult = HResult(0x8004_0204);
    /// The owner of a subscription for one user does not exist.
    pub const EVENT_E_INVALID_PER_USER_SID: HResult = HResult(0x8004_0207);
    /// Some of what fits could not be removed.
    pub const EVENT_E_NOT_ALL_REMOVED: HResult = HResult(0x8004_020b);
}
