//! Subscribers of the COM+ tracker: objects that take the state of a host.

use core::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use com::comt::tracking::check_frame;
use com::comt::{
    IComTrackingInfoEvents, IComTrackingInfoEventsServer, OnNewTrackingInfoReply, OnNewTrackingInfoRequest,
};
use com::dcom::wire::Objref;
use dcerpc::{FaultStatus, SyntaxId};
use parking_lot::{Mutex, MutexGuard};
use rpc::orpc::{IUnknown, IUnknownServer, ObjectInterface};
use rpc::{Interface, ServerResult};
use tokio::sync::Notify;
use tokio::time::Instant;
use wire::{Guid, HResult};

use crate::callbacks::exporter::Exporter;
use crate::callbacks::table::UnknownPeers;
use crate::callbacks::{AdvertisedAddress, Export, ExportedObject, NoRandomness};
use crate::rpc_server::{Call, Refusal};

/// How much of events is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubscriberLimits {
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
    pool: Arc<Pool>,
}

/// Memory for events that are not taken yet, of all targets. Half of it is shares of equal size, one for each target; what
/// exceeds a share is taken from the other half, so that some targets cannot take the memory of others.
#[derive(Debug)]
struct Pool {
    limits: SubscriberLimits,
    targets: AtomicUsize,
    kept_bytes: AtomicUsize,
    bytes_above_shares: AtomicUsize,
}

/// What an event has of a [`Pool`].
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    bytes: usize,
    above_share: usize,
}

impl Pool {
    fn keep(&self, bytes: usize) -> Option<Kept> {
        let half = self.limits.all_bytes_max / 2;
        let share = half / self.targets.load(Ordering::Relaxed).max(1);
        let kept = Kept { bytes, above_share: bytes.saturating_sub(share) };
        let all = self.kept_bytes.fetch_add(kept.bytes, Ordering::Relaxed) + kept.bytes;
        let above = self.bytes_above_shares.fetch_add(kept.above_share, Ordering::Relaxed) + kept.above_share;
        if all <= self.limits.all_bytes_max && (kept.above_share == 0 || above <= half) {
            return Some(kept);
        }
        self.give_back(kept);
        None
    }

    fn take_again(&self, kept: Kept) {
        self.kept_bytes.fetch_add(kept.bytes, Ordering::Relaxed);
        self.bytes_above_shares.fetch_add(kept.above_share, Ordering::Relaxed);
    }

    fn give_back(&self, kept: Kept) {
        self.kept_bytes.fetch_sub(kept.bytes, Ordering::Relaxed);
        self.bytes_above_shares.fetch_sub(kept.above_share, Ordering::Relaxed);
    }
}

impl Subscribers {
    /// What an [`Exporter`] of them has to be made with.
    pub const INTERFACES: &'static [SyntaxId] = &[IComTrackingInfoEvents::SYNTAX_ID];

    #[must_use]
    pub fn new(exporter: Exporter, limits: SubscriberLimits) -> Self {
        let none = AtomicUsize::default;
        let pool = Pool { limits, targets: none(), kept_bytes: none(), bytes_above_shares: none() };
        Self { exporter, pool: Arc::new(pool) }
    }

    /// A subscriber for a target with these addresses, which is told where to call.
    ///
    /// # Errors
    /// When its identifiers could be guessed.
    pub fn subscribe(
        &self,
        addresses: impl IntoIterator<Item = IpAddr>,
        address: AdvertisedAddress,
    ) -> Result<Subscriber, NoRandomness> {
        self.pool.targets.fetch_add(1, Ordering::Relaxed);
        let pool = Arc::clone(&self.pool);
        let mailbox = Arc::new(Mailbox { pool, state: Mutex::default(), arrived: Notify::new() });
        let object = Arc::clone(&mailbox) as Arc<dyn ExportedObject>;
        Ok(Subscriber { export: self.exporter.export(object, addresses, address)?, mailbox })
    }

    /// Connections from addresses that are no target's.
    #[must_use]
    pub fn unknown_peers(&self) -> UnknownPeers {
        self.exporter.unknown_peers()
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
    /// What [`com::comt::tracking::read`] reads. Nobody checked it.
    pub bytes: Vec<u8>,
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
    /// It is no call of the method, or no collection.
    Malformed,
    /// It has no state.
    Empty,
    /// It is too long.
    Size,
    /// All targets together have too much that nobody took, and this one more than its share.
    Memory,
    /// A connection of the target wanted to authenticate in a way that is not taken.
    Authentication,
    /// The target has too many connections, or more than its share of all.
    Connections,
    /// Calls that targets did not finish need too much memory, and those of this one the most.
    Unfinished,
    /// A connection of the target was too slow.
    Slow,
    /// A connection of the target violated the protocol.
    Protocol,
}

impl EventRefusal {
    pub const ALL: [Self; 10] = [
        Self::Address,
        Self::Malformed,
        Self::Empty,
        Self::Size,
        Self::Memory,
        Self::Authentication,
        Self::Connections,
        Self::Unfinished,
        Self::Slow,
        Self::Protocol,
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
            Self::Connections => "connections",
            Self::Unfinished => "unfinished",
            Self::Slow => "slow",
            Self::Protocol => "protocol",
        }
    }

    /// That of a connection that was refused or ended. `None` if nothing was lost with it.
    const fn of_connection(reason: Refusal) -> Option<Self> {
        Some(match reason {
            // The event system calls again when there is something to tell.
            Refusal::Idle => return None,
            Refusal::Address => Self::Address,
            Refusal::Authentication => Self::Authentication,
            Refusal::Connections | Refusal::PeerConnections => Self::Connections,
            Refusal::PendingBytes => Self::Unfinished,
            Refusal::SlowBind | Refusal::SlowRequest | Refusal::SlowReader => Self::Slow,
            Refusal::TooLarge => Self::Size,
            Refusal::Protocol => Self::Protocol,
        })
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
        let (event, kept) = state.event.take()?;
        state.counts.taken += 1;
        drop(state);
        self.mailbox.pool.give_back(kept);
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

    /// Why a connection was refused or ended last, for people.
    #[must_use]
    pub fn last_refusal(&self) -> Option<String> {
        self.mailbox.state().last_refusal.clone()
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
    pool: Arc<Pool>,
    state: Mutex<State>,
    arrived: Notify,
}

#[derive(Default)]
struct State {
    event: Option<(Event, Kept)>,
    counts: EventCounts,
    last_refusal: Option<String>,
}

impl Mailbox {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn refuse(&self, reason: EventRefusal) {
        self.state().counts.refused[reason as usize] += 1;
    }

    fn put(&self, bytes: &[u8]) -> Result<(), EventRefusal> {
        if bytes.len() > self.pool.limits.event_bytes_max {
            return Err(EventRefusal::Size);
        }
        let mut state = self.state();
        let before = state.event.as_ref().map_or(Kept::default(), |(_, kept)| *kept);
        self.pool.give_back(before);
        let Some(kept) = self.pool.keep(bytes.len()) else {
            // The one before stays. Another event may have taken its place meanwhile: that is no more than one event too much.
            self.pool.take_again(before);
            return Err(EventRefusal::Memory);
        };
        let received = Instant::now();
        let event = Event { bytes: bytes.to_vec(), received };
        state.counts.superseded += u64::from(state.event.replace((event, kept)).is_some());
        state.counts.last = Some(received);
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let kept = self.state().event.as_ref().map_or(Kept::default(), |(_, kept)| *kept);
        self.pool.give_back(kept);
        self.pool.targets.fetch_sub(1, Ordering::Relaxed);
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

    fn connection_refused(&self, reason: Refusal, error: Option<&dcerpc::Error>) {
        let Some(refusal) = EventRefusal::of_connection(reason) else { return };
        let mut state = self.state();
        state.counts.refused[refusal as usize] += 1;
        state.last_refusal = Some(sentence(reason, error));
    }
}

/// A reason with the causes of its error. They have names that the peer chose.
fn sentence(reason: Refusal, error: Option<&dcerpc::Error>) -> String {
    let mut sentence = reason.to_string();
    let mut cause = error.map(|error| error as &dyn core::error::Error);
    while let Some(error) = cause {
        sentence = format!("{sentence}: {error}");
        cause = error.source();
    }
    sentence.chars().take(SENTENCE_MAX).map(|it| if it.is_control() { '?' } else { it }).collect()
}

const SENTENCE_MAX: usize = 300;

struct Delivery<'a>(&'a Mailbox);

impl IUnknownServer for Delivery<'_> {}

impl IComTrackingInfoEventsServer for Delivery<'_> {
    //= [MS-COMT] 3.2.5.1.1
    //# the client MUST attempt to unmarshal the TrackingInfoCollection OBJREF_CUSTOM received in pToplevelCollection and fail the
    //# call if it cannot
    /// What is in the collection is kept as it came, so that the host does not wait for its reader.
    fn on_new_tracking_info(
        &mut self,
        request: &OnNewTrackingInfoRequest<'_>,
    ) -> ServerResult<OnNewTrackingInfoReply, HResult> {
        let put = match request.event() {
            Ok(bytes) if check_frame(bytes).is_err() => Err(EventRefusal::Malformed),
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
