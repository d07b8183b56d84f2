use std::collections::BTreeMap;

use wire::Guid;

/// [MS-COMEV] 3.1.1.2: a subscription. A property that was not set has no value.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Subscription {
    texts: BTreeMap<Column, String>,
    /// Whether it counts only while its owner is logged on.
    pub per_user: Option<bool>,
    /// Whether events are delivered.
    pub enabled: Option<bool>,
    /// SubscriberInterface: the OBJREF of an object that is called. It makes the subscription transient.
    pub subscriber: Option<Vec<u8>>,
}

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident = $word:literal,)*) => {
        /// [MS-COMEV] 2.2.1 KNOWNCOLUMNID: a property that is a text.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Column { $($(#[$doc])* $name,)* }

        impl Column {
            /// Its name in criteria; case does not matter.
            pub(super) fn parse(word: &str) -> Option<Self> {
                $(if word.eq_ignore_ascii_case($word) { return Some(Self::$name); })*
                None
            }
        }
    };
}

columns! {
    SubscriptionId = "SUBSCRIPTIONID",
    SubscriptionName = "SUBSCRIPTIONNAME",
    PublisherId = "PUBLISHERID",
    EventClassId = "EVENTCLASSID",
    /// Not one of the columns of the document; Windows names it so.
    MethodName = "METHODNAME",
    SubscriberClsid = "SUBSCRIBERCLSID",
    OwnerSid = "OWNERSID",
    Description = "DESCRIPTION",
    MachineName = "MACHINENAME",
    InterfaceId = "INTERFACEID",
    FilterCriteria = "FILTERCRITERIA",
    SubscriberMoniker = "SUBSCRIBERMONIKER",
    EventClassPartitionId = "EVENTCLASSPARTITIONID",
    EventClassApplicationId = "EVENTCLASSAPPLICATIONID",
    SubscriberPartitionId = "SUBSCRIBERPARTITIONID",
    SubscriberApplicationId = "SUBSCRIBERAPPLICATIONID",
}

/// The longest text that a property holds.
const TEXT_BYTES_MAX: usize = 4096;

impl Subscription {
    /// A property, if it was set.
    #[must_use]
    pub fn text(&self, column: Column) -> Option<&str> {
        self.texts.get(&column).map(String::as_str)
    }

    /// Sets a property; false if the value is none that it can have.
    #[must_use]
    pub fn set_text(&mut self, column: Column, value: String) -> bool {
        let is_valid = value.len() <= TEXT_BYTES_MAX
            && match column {
                Column::SubscriptionId
                | Column::EventClassId
                | Column::InterfaceId
                | Column::PublisherId
                | Column::SubscriberClsid => braced(&value).is_some(),
                Column::MachineName => value.chars().count() <= 255,
                _ => true,
            };
        if is_valid {
            self.texts.insert(column, value);
        }
        is_valid
    }

    /// The GUID that a property holds in braces.
    #[must_use]
    pub fn guid(&self, column: Column) -> Option<Guid> {
        self.text(column).and_then(braced)
    }

    /// Whether it goes with the event system.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        self.subscriber.is_some()
    }

    /// [MS-COMEV] 3.1.4.1.2: whether it can be stored: what has to be set is set, and it is either transient or persistent.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let has = |column| self.text(column).is_some_and(|text| !text.is_empty());
        let is_persistent = has(Column::SubscriberClsid) || has(Column::SubscriberMoniker);
        let events = [Column::EventClassId, Column::PublisherId, Column::InterfaceId];
        has(Column::SubscriptionName)
            && events.into_iter().any(has)
            && (self.subscriber.is_some() != is_persistent)
    }
}

/// [MS-COMEV] 2.2.3: a GUID in braces.
pub(super) fn braced(text: &str) -> Option<Guid> {
    text.strip_prefix('{')?.strip_suffix('}')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "{ECABB0C3-7F19-11D2-978E-0000F8757E2A}";

    #[test]
    fn a_subscription_is_stored_with_a_name_a_source_and_one_kind_of_subscriber() {
        let mut subscription = Subscription::default();
        assert!(subscription.set_text(Column::SubscriptionName, "exporter".to_owned()));
        subscription.subscriber = Some(vec![1]);
        assert!(!subscription.is_complete(), "of which events");
        assert!(!subscription.set_text(Column::EventClassId, "tracker".to_owned()), "it is no GUID");
        assert!(subscription.set_text(Column::EventClassId, ID.to_owned()));
        assert!(subscription.is_complete() && subscription.is_transient());
        assert!(subscription.set_text(Column::SubscriberMoniker, "queue:".to_owned()));
        assert!(!subscription.is_complete(), "transient and persistent");
        subscription.subscriber = None;
        assert!(subscription.is_complete());
    }
}
