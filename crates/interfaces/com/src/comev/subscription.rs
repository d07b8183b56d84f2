//! [MS-COMEV] 3.1.4.4, 3.1.4.8 and 3.1.4.9: a subscription, which is an object of the host until it is stored. What is
//! set and what is got is `value`. BSTRs that were not set are empty or nothing; a BOOL is 0 or another number.

use crate::oaut::{Bstr, IDispatch, IDispatchServer, Variant};
use rpc::ndr::InterfacePointer;
use wire::HResult;

rpc::interface! {
    /// [MS-COMEV] 3.1.4.4: who wants which events.
    pub orpc interface IEventSubscription: IDispatch("4a6b0e15-2e38-11d1-9965-00c04fbbb345") -> HResult {
        /// [MS-COMEV] 3.1.4.4.1: the GUID of the subscription, in braces.
        7 => get_SubscriptionID as get_subscription_id() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.4.2: sets it. A subscription without one gets one when it is stored.
        8 => put_SubscriptionID as put_subscription_id(value: Bstr);

        /// [MS-COMEV] 3.1.4.4.3: its name.
        9 => get_SubscriptionName as get_subscription_name() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.4.4: sets it. A subscription has to have one.
        10 => put_SubscriptionName as put_subscription_name(value: Bstr);

        /// [MS-COMEV] 3.1.4.4.5: the GUID of a publisher, in braces.
        11 => get_PublisherID as get_publisher_id() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.4.6: sets it.
        12 => put_PublisherID as put_publisher_id(value: Bstr);

        /// [MS-COMEV] 3.1.4.4.7: the GUID of an event class, in braces.
        13 => get_EventClassID as get_event_class_id() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.4.8: sets it.
        14 => put_EventClassID as put_event_class_id(value: Bstr);

        /// [MS-COMEV] 3.1.4.4.9: the method that is called; none is any.
        15 => get_MethodName as get_method_name() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.4.10: sets it.
        16 => put_MethodName as put_method_name(value: Bstr);

        /// [MS-COMEV] 3.1.4.4.11: the class of a subscriber that is created for each event.
        17 => get_SubscriberCLSID as get_subscriber_clsid() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.4.12: sets it.
        18 => put_SubscriberCLSID as put_subscriber_clsid(value: Bstr);

        /// [MS-COMEV] 3.1.4.4.13: the subscriber.
        19 => get_SubscriberInterface as get_subscriber_interface() -> (value: Option<Box<InterfacePointer<'stub>>>);

        /// [MS-COMEV] 3.1.4.4.14: sets it. With it the subscription is transient: it goes when the event system ends.
        20 => put_SubscriberInterface as put_subscriber_interface(value: Option<Box<InterfacePointer<'stub>>>);

        /// [MS-COMEV] 3.1.4.4.15: whether it counts only while its owner is logged on.
        21 => get_PerUser as get_per_user() -> (value: i32);

        /// [MS-COMEV] 3.1.4.4.16: sets it.
        22 => put_PerUser as put_per_user(value: i32);

        /// [MS-COMEV] 3.1.4.4.17: the owner's SID.
        23 => get_OwnerSID as get_owner_sid() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.4.18: sets it.
        24 => put_OwnerSID as put_owner_sid(value: Bstr);

        /// [MS-COMEV] 3.1.4.4.19: whether events are delivered.
        25 => get_Enabled as get_enabled() -> (value: i32);

        /// [MS-COMEV] 3.1.4.4.20: sets it.
        26 => put_Enabled as put_enabled(value: i32);

        /// [MS-COMEV] 3.1.4.4.21: a text.
        27 => get_Description as get_description() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.4.22: sets it.
        28 => put_Description as put_description(value: Bstr);

        /// [MS-COMEV] 3.1.4.4.23: the host of the subscriber, at most 255 characters.
        29 => get_MachineName as get_machine_name() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.4.24: sets it.
        30 => put_MachineName as put_machine_name(value: Bstr);

        /// [MS-COMEV] 3.1.4.4.25: a property of the filter of the publisher.
        31 => GetPublisherProperty(#[ndr(name = "bstrPropertyName")] name: Bstr) -> (
            #[ndr(name = "propertyValue")] value: Option<Box<Variant<'stub>>>,
        );

        /// [MS-COMEV] 3.1.4.4.26: sets it.
        32 => PutPublisherProperty(
            #[ndr(name = "bstrPropertyName")] name: Bstr,
            #[ndr(name = "propertyValue")] value: Option<Box<Variant<'stub>>>,
        );

        /// [MS-COMEV] 3.1.4.4.27: removes it.
        33 => RemovePublisherProperty(#[ndr(name = "bstrPropertyName")] name: Bstr);

        /// [MS-COMEV] 3.1.4.4.28: all of them, an [`IEventObjectCollection`](crate::comev::IEventObjectCollection).
        34 => GetPublisherPropertyCollection() -> (collection: Option<Box<InterfacePointer<'stub>>>);

        /// [MS-COMEV] 3.1.4.4.29: a property of the subscriber.
        35 => GetSubscriberProperty(#[ndr(name = "bstrPropertyName")] name: Bstr) -> (
            #[ndr(name = "propertyValue")] value: Option<Box<Variant<'stub>>>,
        );

        /// [MS-COMEV] 3.1.4.4.30: sets it.
        36 => PutSubscriberProperty(
            #[ndr(name = "bstrPropertyName")] name: Bstr,
            #[ndr(name = "propertyValue")] value: Option<Box<Variant<'stub>>>,
        );

        /// [MS-COMEV] 3.1.4.4.31: removes it.
        37 => RemoveSubscriberProperty(#[ndr(name = "bstrPropertyName")] name: Bstr);

        /// [MS-COMEV] 3.1.4.4.32: all of them, an [`IEventObjectCollection`](crate::comev::IEventObjectCollection).
        38 => GetSubscriberPropertyCollection() -> (collection: Option<Box<InterfacePointer<'stub>>>);

        /// [MS-COMEV] 3.1.4.4.33: the interface that is called.
        39 => get_InterfaceID as get_interface_id() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.4.34: sets it.
        40 => put_InterfaceID as put_interface_id(value: Bstr);
    }
}

rpc::interface! {
    /// See section 3.1.4.8 of [MS-COMEV].
    pub orpc interface IEventSubscription2: IEventSubscription("4a6b0e16-2e38-11d1-9965-00c04fbbb345") -> HResult {
        /// [MS-COMEV] 3.1.4.8.1: which events: see [`query`](crate::comev::query).
        41 => get_FilterCriteria as get_filter_criteria() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.8.2: sets it.
        42 => put_FilterCriteria as put_filter_criteria(value: Bstr);

        /// [MS-COMEV] 3.1.4.8.3: the name of a subscriber that is found for each event.
        43 => get_SubscriberMoniker as get_subscriber_moniker() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.8.4: sets it.
        44 => put_SubscriberMoniker as put_subscriber_moniker(value: Bstr);
    }
}

rpc::interface! {
    /// [MS-COMEV] 3.1.4.9: of event systems of version 2, [`crate::comev::VERSION_WITH_PARTITIONS`].
    pub orpc interface IEventSubscription3: IEventSubscription2("fbc1d17d-c498-43a0-81af-423ddd530af6") -> HResult {
        /// [MS-COMEV] 3.1.4.9.1: the partition of the event class, a GUID in braces.
        45 => get_EventClassPartitionID as get_event_class_partition_id() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.9.2: sets it.
        46 => put_EventClassPartitionID as put_event_class_partition_id(value: Bstr);

        /// [MS-COMEV] 3.1.4.9.3: the application of the event class, a GUID in braces.
        47 => get_EventClassApplicationID as get_event_class_application_id() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.9.4: sets it.
        48 => put_EventClassApplicationID as put_event_class_application_id(value: Bstr);

        /// [MS-COMEV] 3.1.4.9.5: the partition of the subscriber, a GUID in braces.
        49 => get_SubscriberPartitionID as get_subscriber_partition_id() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.9.6: sets it.
        50 => put_SubscriberPartitionID as put_subscriber_partition_id(value: Bstr);

        /// [MS-COMEV] 3.1.4.9.7: the application of the subscriber, a GUID in braces.
        51 => get_SubscriberApplicationID as get_subscriber_application_id() -> (value: Bstr);

        /// [MS-COMEV] 3.1.4.9.8: sets it.
        52 => put_SubscriberApplicationID as put_subscriber_application_id(value: Bstr);
    }
}
