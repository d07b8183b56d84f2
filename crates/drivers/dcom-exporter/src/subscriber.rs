//! Subscribers of the COM+ tracker: objects that take the state of a host.

use core::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dcerpc::{FaultStatus, SyntaxId};
use ms_comt::{
    IComTrackingInfoEvents, IComTrackingInfoEventsServer, OnNewTrackingInfoReply, OnNewTrackingInfoRequest,
};
use ms_dcom::wire::Objref;
use ms_dtyp::{Guid, HResult};
use rpc_server::{Call, Refusal};
use rpc_stub::orpc::{IUnknown, IUnknownServer, ObjectInterface};
use rpc_stub::{Interface, ServerResult};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::export::Export;
use crate::exporter::Exporter;
use crate::object::ExportedObject;
use crate::random::NoRandomness;
use crate::table::Strangers;
use crate::told::Told;

/// How much of events is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubscriberLimits {
    /// The longest event.
    pub event_bytes_max: usize,
    /// All events that are not taken yet.
    pub all_bytes_max: usize,
}

impl Default for SubscriberLimits {
    /// 4 MiB; 256 MiB.
    fn default() -> Self {
        Self { event_bytes_max: 4 << 20, all_bytes_max: 256 << 20 }
    }
}

/// The subscribers of all targets.
#[derive(Clone, Debug)]
pub struct Subscribers {
    exporter: Exporter,
    limits: SubscriberLimits,
    kept_bytes: Arc<AtomicUsize>,
}

impl Subscribers {
    /// What an [`Exporter`] of them has to be made with.
    pub const INTERFACES: &'static [SyntaxId] = &[IComTrackingInfoEvents::SYNTAX_ID];

    /// No subscribers yet.
    #[must_use]
    pub fn new(exporter: Exporter, limits: SubscriberLimits) -> Self {
        Self { exporter, limits, kept_bytes: Arc::default() }
    }

    /// A subscriber for a target with these addresses, which is told where to call.
    ///
    /// # Errors
    /// When its identifiers could be guessed.
    pub fn subscribe(
        &self,
        addresses: impl IntoIterator<Item = IpAddr>,
        told: Told,
    ) -> Result<Subscriber, NoRandomness> {
        let mailbox = Arc::new(Mailbox {
            limits: self.limits,
            kept_bytes: Arc::clone(&self.kept_bytes),
            state: Mutex::default(),
            arrived: Notify::new(),
        });
        let object = Arc::clone(&mailbox) as Arc<dyn ExportedObject>;
        Ok(Subscriber { export: self.exporter.export(object, addresses, told)?, mailbox })
    }

    /// Connections from addresses that are no target's.
    #[must_use]
    pub fn strangers(&self) -> Strangers {
        self.exporter.strangers()
    }
}

/// The subscriber of one target. It takes no more events when this is dropped.
pub struct Subscriber {
    export: Export,
    mailbox: Arc<Mailbox>,
}

/// The state of a host.
#[derive(Clone, PartialEq, Eq)]
pub struct Event {
    /// What [`ms_comt::tracking::read`] reads. Nobody checked it.
    pub bytes: Vec<u8>,
    /// When it came.
    pub received: Instant,
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event").field("bytes", &self.bytes.len()).field("received", &self.received).finish()
    }
}

/// Why an event was refused. A closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventRefusal {
    /// It came from an address that is not the target's.
    Address,
    /// It is no call of the method.
    Malformed,
    /// It has no state.
    Empty,
    /// It is too long.
    Size,
    /// All targets together have too much that nobody took.
    Memory,
    /// A connection of the target wanted to authenticate.
    Authentication,
    /// A connection of the target was refused or ended for another reason: too many, too slow, or not the protocol.
    Connection,
}

impl EventRefusal {
    /// All reasons.
    pub const ALL: [Self; 7] = [
        Self::Address,
        Self::Malformed,
        Self::Empty,
        Self::Size,
        Self::Memory,
        Self::Authentication,
        Self::Connection,
    ];

    /// The word for labels and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Malformed => "malformed",
            Self::Empty => "empty",
            Self::Size => "size",
            Self::Memory => "memory",
            Self::Authentication => "authentication",
            Self::Connection => "connection",
        }
    }
}

/// What became of the events of a target. Only ever counted up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct EventCounts {
    /// Events that were taken.
    pub taken: u64,
    /// Events that a newer one replaced before they were taken.
    pub superseded: u64,
    /// By reason, in the order of [`EventRefusal::ALL`].
    pub refused: [u64; EventRefusal::ALL.len()],
    /// When the last one came that was not refused.
    pub last: Option<Instant>,
}

impl EventCounts {
    /// Events that were refused for this reason.
    #[must_use]
    pub const fn refused_for(&self, reason: EventRefusal) -> u64 {
        self.refused[reason as usize]
    }
}

impl Subscriber {
    /// The SubscriberInterface of a subscription ([MS-COMEV] 3.1.4.4.14): an `IUnknown`, which the event system asks for the
    /// interface of the events.
    #[must_use]
    pub fn objref(&self) -> Objref<'static> {
        match self.export.objref(IUnknown::IID) {
            Some(objref) => objref,
            None => unreachable!("every object has IUnknown"),
        }
    }

    /// The newest event that was not taken yet.
    #[must_use]
    pub fn take(&self) -> Option<Event> {
        let mut state = self.mailbox.state();
        let event = state.event.take()?;
        state.counts.taken += 1;
        drop(state);
        self.mailbox.kept_bytes.fetch_sub(event.bytes.len(), Ordering::Relaxed);
        Some(event)
    }

    /// Waits until there is an event to take. Of several that wait, one is woken.
    pub async fn arrived(&self) {
        while self.mailbox.state().event.is_none() {
            self.mailbox.arrived.notified().await;
        }
    }

    /// What became of its events.
    #[must_use]
    pub fn counts(&self) -> EventCounts {
        self.mailbox.state().counts
    }

    /// Changes the addresses of the target.
    pub fn set_addresses(&self, addresses: impl IntoIterator<Item = IpAddr>) {
        self.export.set_addresses(addresses);
    }
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber")
            .field("export", &self.export)
            .field("counts", &self.counts())
            .finish_non_exhaustive()
    }
}

/// The object that is called: it keeps the newest event.
struct Mailbox {
    limits: SubscriberLimits,
    /// Of all targets.
    kept_bytes: Arc<AtomicUsize>,
    state: Mutex<State>,
    arrived: Notify,
}

#[derive(Default)]
struct State {
    event: Option<Event>,
    counts: EventCounts,
}

impl Mailbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refuse(&self, reason: EventRefusal) {
        self.state().counts.refused[reason as usize] += 1;
    }

    fn put(&self, bytes: &[u8]) -> Result<(), EventRefusal> {
        if bytes.len() > self.limits.event_bytes_max {
            return Err(EventRefusal::Size);
        }
        let mut state = self.state();
        let before = state.event.as_ref().map_or(0, |event| event.bytes.len());
        let kept = self.kept_bytes.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len() - before;
        if kept > self.limits.all_bytes_max {
            self.kept_bytes.fetch_sub(bytes.len(), Ordering::Relaxed);
            return Err(EventRefusal::Memory);
        }
        self.kept_bytes.fetch_sub(before, Ordering::Relaxed);
        let received = Instant::now();
        let event = Event { bytes: bytes.to_vec(), received };
        state.counts.superseded += u64::from(state.event.replace(event).is_some());
        state.counts.last = Some(received);
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let kept = self.state().event.as_ref().map_or(0, |event| event.bytes.len());
        self.kept_bytes.fetch_sub(kept, Ordering::Relaxed);
    }
}

impl ExportedObject for Mailbox {
    fn iid(&self) -> Guid {
        IComTrackingInfoEvents::IID
    }

    fn call(&self, call: &Call<'_>) -> Result<Vec<u8>, FaultStatus> {
        let mut delivery = Delivery(self);
        let answer = IComTrackingInfoEvents::dispatch(&mut delivery, &call.info, call.opnum, call.stub);
        if answer.is_err() {
            self.refuse(EventRefusal::Malformed);
        }
        answer
    }

    fn refused(&self, _: IpAddr) {
        self.refuse(EventRefusal::Address);
    }

    fn connection_refused(&self, reason: Refusal) {
        match reason {
            // The event system calls again when there is something to tell.
            Refusal::Idle => {}
            Refusal::Authentication => self.refuse(EventRefusal::Authentication),
            _ => self.refuse(EventRefusal::Connection),
        }
    }
}

/// One call.
struct Delivery<'a>(&'a Mailbox);

impl IUnknownServer for Delivery<'_> {}

impl IComTrackingInfoEventsServer for Delivery<'_> {
    //= [MS-COMT] 3.2.5.1.1
    /// The event is kept as it came, so that the host does not wait for its reader.
    fn on_new_tracking_info(
        &mut self,
        request: &OnNewTrackingInfoRequest<'_>,
    ) -> ServerResult<OnNewTrackingInfoReply, HResult> {
        let put = match request.event() {
            Ok(bytes) => self.0.put(bytes),
            Err(_null) => Err(EventRefusal::Empty),
        };
        match put {
            Ok(()) => Ok(OnNewTrackingInfoReply { status: HResult::S_OK }),
            Err(reason) => {
                self.0.refuse(reason);
                let status = match reason {
                    EventRefusal::Memory => HResult::E_OUTOFMEMORY,
                    _ => HResult::E_INVALIDARG,
                };
                Err(status.into())
            }
        }
    }
}
