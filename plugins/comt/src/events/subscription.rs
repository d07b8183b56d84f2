//! The subscription of one target: stored at the host's event system, verified, stored again when it is gone, removed at the
//! end.

use std::time::Duration;

use std::net::IpAddr;
use std::sync::Arc;

use dcom::callbacks::{AdvertisedAddress, Event, EventCounts, Subscriber};
use dcom::client::Object;
use host_session::{Recovery, SessionError, Target};
use plugin_sdk::{Collection, Coverage, Failure, GeneralReason, Stage};
use plugin_session::{AttemptError, HostSource, KeptConnection, ObjectConnection, TransportSettings};
use tokio::time::{Instant, timeout_at};
use wire::Guid;

use super::event_system::{EVENT_SYSTEM, SUBSCRIPTION};
use super::{SubscriptionId, event_system, listener};
use crate::events::listener::Listening;
use crate::reasons::CALL_BACK_UNREACHABLE;

/// How often the store is asked whether it has the subscription while events come.
const CHECK_EVERY: Duration = Duration::from_secs(600);
/// How often a host that sends no events is asked to call all subscribers: that is work for it.
const VERIFY_EVERY: Duration = Duration::from_secs(600);

/// The subscription of one target.
#[derive(Debug)]
pub(crate) struct Subscription {
    name: String,
    /// The event system, which is kept; and a subscription while it is made.
    system: ObjectConnection,
    object: ObjectConnection,
    own: Option<Own>,
    stored: Option<Stored>,
    verified: Option<Instant>,
    /// Whether no events come, so that each collection looks after the subscription.
    is_silent: bool,
    /// The host could not call back, and no event has come since.
    unreachable: Option<Failure>,
    /// An object that is activated after this is used in the next collection.
    half: Instant,
}

/// When the host was seen to have it.
#[derive(Clone, Copy, Debug)]
struct Stored {
    checked: Instant,
}

impl Subscription {
    /// A target without a subscription. `name` is the target's.
    pub(crate) fn new(name: String, target: &Target, transport: &TransportSettings) -> Self {
        let connection = |service| ObjectConnection::new(target.clone(), service, transport.clone());
        Self {
            name,
            system: connection(EVENT_SYSTEM),
            object: connection(SUBSCRIPTION),
            own: None,
            stored: None,
            verified: None,
            is_silent: true,
            unreachable: None,
            half: Instant::now(),
        }
    }

    pub(crate) fn reconfigure(&mut self, transport: &TransportSettings) {
        self.system.reconfigure(transport.clone());
        self.object.reconfigure(transport.clone());
    }

    /// Sees to it that the host has the subscription, within a part of the collection's time.
    ///
    /// # Errors
    /// If it has not. [`unreachable`](Self::unreachable) tells what else is wrong.
    pub(crate) async fn keep(&mut self, is_silent: bool, collection: &mut Collection) -> Result<(), Failure> {
        self.is_silent = is_silent;
        if !is_silent {
            self.unreachable = None;
        }
        let (now, time) = (Instant::now(), collection.remaining() / 2);
        let by = now + time;
        self.half = now + time / 2;
        match timeout_at(by, plugin_session::collect(self, collection)).await {
            Ok(kept) => kept.map(drop),
            Err(_passed) => {
                let message = "the host's event system took more than half of the collection's time";
                Err(Failure::new(collection.stages().current(), GeneralReason::Timeout, message))
            }
        }
    }

    /// The failure of a host that has the subscription and cannot call back.
    pub(crate) const fn unreachable(&self) -> Option<&Failure> {
        self.unreachable.as_ref()
    }

    /// The newest event that was not taken yet.
    pub(crate) fn take(&self) -> Option<Event> {
        self.own.as_ref()?.subscriber().take()
    }

    /// Why a connection of the host was refused last.
    pub(crate) fn last_refusal(&self) -> Option<String> {
        self.own.as_ref()?.subscriber().last_refusal()
    }

    /// What became of events, and of callers that are no target.
    pub(crate) fn counts(&self) -> (EventCounts, u64) {
        let Some(own) = &self.own else { return <(EventCounts, u64)>::default() };
        (own.subscriber().counts(), own.unknown_peers())
    }

    /// Removes the subscription in a part of a collection. Returns whether there is none any more.
    pub(crate) async fn leave(&mut self, collection: &Collection) -> bool {
        let Some(id) = self.own.as_ref().map(Own::id) else { return true };
        let by = Instant::now() + collection.remaining() / 4;
        let Ok(Ok(mut system)) = timeout_at(by, self.system.take(collection, by)).await else { return false };
        match forget(&mut system, id, by).await {
            Ok(true) => {
                (self.own, self.stored) = (None, None);
                let _ = system.release(by).await;
                true
            }
            Ok(false) => {
                self.system.put_back(system);
                false
            }
            Err(error) => {
                let _ = self.system.fail(system, &error);
                false
            }
        }
    }

    /// Removes the subscription, if the event system can still be called.
    pub(crate) async fn end(&mut self, deadline: Instant) {
        let Some(own) = self.own.take() else { return };
        self.stored = None;
        let Some(mut system) = self.system.take_kept() else {
            tracing::debug!(id = %own.id(), "Subscription not removed: the event system is not connected");
            return;
        };
        match event_system::remove(&mut system, own.id(), deadline).await {
            Ok(_) => drop(system.release(deadline).await),
            Err(error) => tracing::debug!(id = %own.id(), %error, "Subscription not removed"),
        }
    }

    /// Does what is due. `is_known` tells whether the object is that of an earlier collection.
    async fn ensure(
        &mut self,
        system: &mut Object,
        is_known: bool,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<(), Problem> {
        let now = Instant::now();
        if let (Some(own), Some(Stored { checked })) = (&self.own, self.stored) {
            let is_due = self.is_silent || !is_known || now - checked >= CHECK_EVERY;
            if !is_due {
                return Ok(());
            }
            let id = own.id();
            if self.is_silent && self.verified.is_none_or(|verified| now - verified >= VERIFY_EVERY) {
                self.verified = Some(now);
                match event_system::verify(system, deadline).await {
                    Ok(_) => {}
                    Err(error) if error.reason == host_session::Reason::Timeout => {
                        self.unreachable =
                            Some(own.not_called("the host does not get through to this exporter"));
                        return Err(error.into());
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            if event_system::is_stored(system, id, deadline).await? {
                self.stored = Some(Stored { checked: now });
                if !is_known {
                    // The host's name may stand for other addresses than before.
                    own.subscriber().set_addresses(self.system.addresses(deadline).await);
                }
                return Ok(());
            }
            self.stored = None;
            if is_known {
                self.unreachable = Some(own.not_called("the host removed the subscription"));
            } else {
                tracing::info!("Event system restarted; the subscription is stored again");
            }
        }
        self.store(system, is_known, collection, deadline).await
    }

    async fn store(
        &mut self,
        system: &mut Object,
        is_known: bool,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<(), Problem> {
        self.prepare(deadline).await?;
        self.check_time(!is_known)?;
        let Some(own) = &self.own else { return Ok(()) };
        let id = own.id();
        if event_system::remove(system, id, deadline).await? {
            tracing::debug!(%id, "Subscription of an earlier process removed");
        }
        let is_new = self.object.missing() != Recovery::Nothing;
        let mut object = self.object.take(collection, deadline).await?;
        collection.enter(Stage::Query);
        if let Err(failure) = self.check_time(is_new) {
            self.object.put_back(object);
            return Err(failure.into());
        }
        if let Err(error) = event_system::fill(&mut object, id, own.subscriber(), deadline).await {
            return Err(Problem::Attempt(self.object.fail(object, &error)));
        }
        let stored = event_system::store(system, &mut object, deadline).await;
        // The store has a copy of it.
        if let Err(error) = object.release(deadline).await {
            tracing::debug!(%error, "Subscription not given back");
        }
        stored?;
        self.stored = Some(Stored { checked: Instant::now() });
        tracing::debug!(%id, told = own.place(), "Subscribed");
        Ok(())
    }

    /// Whether there is time to use an object. One that is not new has its turn in any case, so that each collection gains
    /// something.
    fn check_time(&self, is_new: bool) -> Result<(), Failure> {
        if is_new && Instant::now() >= self.half {
            let message =
                "the host's event system is slow: the next collection goes on with the subscription";
            return Err(Failure::new(Stage::Query, GeneralReason::Timeout, message));
        }
        Ok(())
    }

    /// Makes the object that is called, or tells it the host's addresses of now.
    async fn prepare(&mut self, deadline: Instant) -> Result<(), Failure> {
        let addresses = self.system.addresses(deadline).await;
        let towards = self.system.reached().or(addresses.first().copied());
        let Some(towards) = towards else {
            let message = "the host has no address that calls could come from";
            return Err(Failure::new(Stage::Dns, GeneralReason::NameNotFound, message));
        };
        if let Some(own) = &self.own
            && own.is_told(towards)
        {
            own.subscriber().set_addresses(addresses);
            return Ok(());
        }
        self.own = Some(Own::new(listener::shared().await?, &self.name, addresses, towards)?);
        Ok(())
    }
}

/// Removes a subscription. Returns whether the store does not have it any more.
async fn forget(system: &mut Object, id: Guid, deadline: Instant) -> Result<bool, SessionError> {
    Ok(event_system::remove(system, id, deadline).await?
        || !event_system::is_stored(system, id, deadline).await?)
}

/// What a step failed of.
enum Problem {
    /// The event system's object.
    System(SessionError),
    Attempt(AttemptError),
}

impl From<SessionError> for Problem {
    fn from(error: SessionError) -> Self {
        Self::System(error)
    }
}

impl From<AttemptError> for Problem {
    fn from(error: AttemptError) -> Self {
        Self::Attempt(error)
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self::Attempt(failure.into())
    }
}

impl HostSource for Subscription {
    type Connection = ObjectConnection;

    fn connection(&mut self) -> &mut ObjectConnection {
        &mut self.system
    }

    async fn attempt(
        &mut self,
        collection: &mut Collection,
        deadline: Instant,
    ) -> Result<Coverage, AttemptError> {
        let is_known = self.system.missing() == Recovery::Nothing;
        let mut system = self.system.take(collection, deadline).await?;
        collection.enter(Stage::Query);
        let timer = system.start_stage(host_session::Stage::Query);
        let ensured = self.ensure(&mut system, is_known, collection, deadline).await;
        let report = system.stop_stage(timer);
        collection.stages().add(report.calls, report.received_bytes, report.sent_bytes);
        match ensured {
            Ok(()) => {
                self.system.put_back(system);
                Ok(Coverage::Full)
            }
            Err(Problem::System(error)) => Err(self.system.fail(system, &error)),
            Err(Problem::Attempt(error)) => {
                self.system.put_back(system);
                Err(error)
            }
        }
    }
}

/// The subscriber of one target.
#[derive(Debug)]
pub(super) struct Own {
    listening: Arc<Listening>,
    subscriber: Subscriber,
    advertised: AdvertisedAddress,
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
        let advertised = listening.advertised(towards).map_err(listener::failed)?;
        let subscriber = listening.subscribe(addresses, advertised.clone()).map_err(listener::failed)?;
        let id = SubscriptionId::of(&listening.place(&advertised), name);
        Ok(Self { listening, subscriber, advertised, id })
    }

    pub(super) const fn subscriber(&self) -> &Subscriber {
        &self.subscriber
    }

    pub(super) const fn id(&self) -> Guid {
        self.id.guid()
    }

    /// Whether a host that is reached at `towards` would get the same address.
    pub(super) fn is_told(&self, towards: IpAddr) -> bool {
        self.listening.advertised(towards).is_ok_and(|advertised| advertised == self.advertised)
    }

    /// Where the host calls, for people.
    pub(super) fn place(&self) -> String {
        self.listening.place(&self.advertised)
    }

    /// Connections of addresses of no target.
    pub(super) fn unknown_peers(&self) -> u64 {
        self.listening.unknown_peers().connections
    }

    /// The failure of a host that does not get through.
    fn not_called(&self, what: &str) -> Failure {
        let unknown_peers = self.listening.unknown_peers();
        let more = unknown_peers.last.map(|last| {
            let number = unknown_peers.connections;
            format!("; {number} connections of addresses of no target were refused, the last of {last}")
        });
        let refused =
            self.subscriber.last_refusal().map(|last| format!("; its last call was refused: {last}"));
        let more = [more, refused].map(Option::unwrap_or_default).concat();
        let message = format!("{what}; it was told to call {}{more}", self.place());
        Failure::new(Stage::Plugin, CALL_BACK_UNREACHABLE, message)
    }
}
