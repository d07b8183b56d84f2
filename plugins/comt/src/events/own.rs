//! This side of a subscription: the object that the host calls, and where.

use std::net::IpAddr;
use std::sync::Arc;

use dcom::callbacks::{Subscriber, Told};
use plugin_sdk::{Failure, Stage};
use wire::Guid;

use super::identity::SubscriptionId;
use super::listener::{self, Listening};
use crate::reasons::CALL_BACK_UNREACHABLE;

/// The subscriber of one target.
#[derive(Debug)]
pub(super) struct Own {
    listening: Arc<Listening>,
    subscriber: Subscriber,
    told: Told,
    id: SubscriptionId,
}

impl Own {
    /// A subscriber for the target `name`, which has these addresses and is reached at `towards`.
    pub(super) fn new(
        listening: Arc<Listening>,
        name: &str,
        addresses: Vec<IpAddr>,
        towards: IpAddr,
    ) -> Result<Self, Failure> {
        let told = listening.told(towards).map_err(listener::failed)?;
        let subscriber = listening.subscribe(addresses, told.clone()).map_err(listener::failed)?;
        let id = SubscriptionId::of(&listening.place(&told), name);
        Ok(Self { listening, subscriber, told, id })
    }

    pub(super) const fn subscriber(&self) -> &Subscriber {
        &self.subscriber
    }

    pub(super) const fn id(&self) -> Guid {
        self.id.guid()
    }

    /// Whether a host that is reached at `towards` would be told the same place.
    pub(super) fn is_told(&self, towards: IpAddr) -> bool {
        self.listening.told(towards).is_ok_and(|told| told == self.told)
    }

    /// Where the host calls, for people.
    pub(super) fn place(&self) -> String {
        self.listening.place(&self.told)
    }

    /// Connections of addresses of no target.
    pub(super) fn strangers(&self) -> u64 {
        self.listening.strangers().connections
    }

    /// The failure of a host that does not get through.
    pub(super) fn not_called(&self, what: &str) -> Failure {
        let strangers = self.listening.strangers();
        let more = strangers.last.map(|last| {
            let number = strangers.connections;
            format!("; {number} connections of addresses of no target were refused, the last of {last}")
        });
        let refused =
            self.subscriber.last_refusal().map(|last| format!("; its last call was refused: {last}"));
        let more = [more, refused].map(Option::unwrap_or_default).concat();
        let message = format!("{what}; it was told to call {}{more}", self.place());
        Failure::new(Stage::Plugin, CALL_BACK_UNREACHABLE, message)
    }
}
