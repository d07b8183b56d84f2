//! The host calls: its COM+ event system tells a subscriber of ours the whole state of the host. See `subscription` for how a
//! host comes to know the subscriber.
//!
//! | module | job |
//! | --- | --- |
//! | `listener` | where hosts call back, for all targets |
//! | `subscription` | the subscription of one target, with its identifier, from one collection to the next |
//! | `event_system` | the calls of the host's event system |
//! | `state` | an event as figures |
//! | `changes` | what changed from one state to the next |

pub(crate) mod changes;
pub(crate) mod event_system;
pub(crate) mod listener;
pub(crate) mod state;
mod subscription;

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use dcom::callbacks::{Event, EventRefusal};
use host_session::Target;
use parking_lot::{Mutex, MutexGuard};
use plugin_sdk::{Collection, Failure, GeneralReason};
use plugin_session::{Backoff, TransportSettings};
use tokio::time::Instant;
use wire::Guid;

use self::subscription::Subscription;
use super::reasons::EVENT_LISTENER_FAILED;
use crate::model::{HostFigures, Limits};

/// What a host sent, and its subscription.
#[derive(Debug)]
pub(crate) struct Events {
    subscription: Subscription,
    limits: Limits,
    max_age: Duration,
    newest: Option<Newest>,
    unreadable: u64,
    /// When the host had the subscription for the first time.
    subscribed: Option<Instant>,
    backoff: Backoff,
    /// Whether the host calls, as the log has it.
    logged: Option<bool>,
    refusals: RefusalLog,
    /// Whether the log has it that the subscription could not be removed.
    is_leaving: bool,
}

/// The last state that the host sent.
#[derive(Debug)]
struct Newest {
    figures: HostFigures,
    received: Instant,
    received_unix_seconds: f64,
}

/// What became of events, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EventTotals {
    /// Whether the host's state comes from events now.
    pub(crate) is_up: bool,
    pub(crate) taken: u64,
    pub(crate) superseded: u64,
    /// In the order of [`REFUSALS`].
    pub(crate) refused: [u64; REFUSALS.len()],
    pub(crate) last_unix_seconds: Option<f64>,
    /// Connections of addresses of no target, at the listener of all targets.
    pub(crate) unknown_peers: u64,
}

impl Events {
    /// Nothing was sent yet. `name` is the target's.
    pub(crate) fn new(
        name: String,
        target: &Target,
        transport: &TransportSettings,
        limits: Limits,
        max_age: Duration,
    ) -> Self {
        Self {
            subscription: Subscription::new(name, target, transport),
            limits,
            max_age,
            newest: None,
            unreadable: 0,
            subscribed: None,
            backoff: Backoff::default(),
            logged: None,
            refusals: RefusalLog::default(),
            is_leaving: false,
        }
    }

    pub(crate) fn reconfigure(&mut self, transport: &TransportSettings, limits: Limits, max_age: Duration) {
        self.subscription.reconfigure(transport);
        self.max_age = max_age;
        self.backoff.cut_short();
        if limits != self.limits {
            // It was cut off at the old ones.
            (self.limits, self.newest) = (limits, None);
        }
    }

    /// Takes the newest event, and looks after the subscription. Returns whether [`newest`](Self::newest) is the state of now.
    pub(crate) async fn step(&mut self, collection: &mut Collection) -> bool {
        let is_told = self.take() || self.is_young(Instant::now());
        self.is_leaving = false;
        let now = collection.began();
        if self.backoff.check(now).is_ok() {
            match self.subscription.keep(!is_told, collection).await {
                Ok(()) => {
                    self.backoff.succeeded();
                    self.subscribed.get_or_insert_with(Instant::now);
                }
                Err(failure) => {
                    if failure.reason == GeneralReason::Timeout.into() {
                        // A slow host is no refusal.
                        self.backoff.gave_some();
                    }
                    self.backoff.fail(now, &failure);
                    if failure.reason == EVENT_LISTENER_FAILED {
                        // The host has nothing to do with it, and its object is kept.
                        self.backoff.cut_short();
                    }
                }
            }
        }
        // The host may have called meanwhile.
        let is_told = self.take() || is_told;
        self.log(is_told);
        let counts = self.subscription.counts().0;
        self.refusals.log(counts.refused, || self.subscription.last_refusal(), Instant::now());
        is_told
    }

    /// The last state that the host sent.
    pub(crate) fn newest(&self) -> Option<&HostFigures> {
        self.newest.as_ref().map(|newest| &newest.figures)
    }

    /// Why the host does not call.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.subscription.unreachable().or(self.backoff.failure())
    }

    pub(crate) fn totals(&self, is_up: bool) -> EventTotals {
        let (counts, unknown_peers) = self.subscription.counts();
        let mut refused = [self.unreadable; REFUSALS.len()];
        for (refused, count) in refused.iter_mut().zip(counts.refused) {
            *refused = count;
        }
        EventTotals {
            is_up,
            taken: counts.taken.saturating_sub(self.unreadable),
            superseded: counts.superseded,
            refused,
            last_unix_seconds: self.newest.as_ref().map(|newest| newest.received_unix_seconds),
            unknown_peers,
        }
    }

    /// Removes the subscription in a collection, or tries it again in a later one. Returns whether there is none any more.
    pub(crate) async fn leave(&mut self, collection: &Collection) -> bool {
        // An attempt counts as failed until it succeeds.
        if self.backoff.begin(collection.began()).is_err() {
            return false;
        }
        let has_left = self.subscription.leave(collection).await;
        if has_left {
            if self.is_leaving {
                tracing::info!("Subscription of COM+ events removed from the host");
            }
        } else {
            if !std::mem::replace(&mut self.is_leaving, true) {
                tracing::warn!(
                    "Subscription of COM+ events not removed from the host, which does not answer; tried again in 10 minutes \
                     at the latest"
                );
            }
        }
        has_left
    }

    pub(crate) async fn end(&mut self, deadline: Instant) {
        self.subscription.end(deadline).await;
    }

    /// Takes an event if there is one. Returns whether it is a state.
    fn take(&mut self) -> bool {
        let Some(Event { bytes, received }) = self.subscription.take() else { return false };
        match state::figures_of(&bytes, &self.limits) {
            Ok(figures) => {
                let received_unix_seconds = unix_seconds(received);
                self.newest = Some(Newest { figures, received, received_unix_seconds });
                true
            }
            Err(error) => {
                self.unreadable += 1;
                tracing::debug!(%error, bytes = bytes.len(), "Event cannot be read");
                false
            }
        }
    }

    /// Whether the newest state may be shown again.
    fn is_young(&self, now: Instant) -> bool {
        self.newest
            .as_ref()
            .is_some_and(|newest| now.saturating_duration_since(newest.received) < self.max_age)
    }

    /// Logs that events come, or that they do not come any more. A new subscription has some time before that.
    fn log(&mut self, is_told: bool) {
        let is_late = || self.subscribed.is_some_and(|subscribed| subscribed.elapsed() >= self.max_age);
        if self.logged == Some(is_told) || (!is_told && self.logged.is_none() && !is_late()) {
            return;
        }
        self.logged = Some(is_told);
        if is_told {
            tracing::info!("COM+ events of the host arrive");
        } else {
            let max_age = self.max_age;
            tracing::warn!(?max_age, "COM+ events of the host do not arrive; it is polled");
        }
    }
}

/// Says once that call-backs of the host are refused, by reason, and once that they are not any more.
#[derive(Debug, Default)]
struct RefusalLog {
    seen: [u64; EventRefusal::ALL.len()],
    /// When the last one came, of those that were said.
    said: [Option<Instant>; EventRefusal::ALL.len()],
}

/// Time without a refusal after which it is over.
const REFUSAL_OVER: Duration = Duration::from_secs(600);

impl RefusalLog {
    fn log(
        &mut self,
        refused: [u64; EventRefusal::ALL.len()],
        last: impl Fn() -> Option<String>,
        now: Instant,
    ) {
        let slots = self.seen.iter_mut().zip(&mut self.said);
        for ((reason, count), (seen, said)) in EventRefusal::ALL.iter().zip(refused).zip(slots) {
            // A subscriber that is made again counts from 0 again.
            let is_new = count > std::mem::replace(seen, count);
            match said {
                None if is_new => {
                    let (reason, next_step) = (reason.as_str(), next_step(*reason));
                    let last = last().unwrap_or_default();
                    tracing::warn!(reason, count, last, next_step, "Call-backs of the host are refused");
                }
                Some(at) if !is_new && now.saturating_duration_since(*at) >= REFUSAL_OVER => {
                    tracing::info!(
                        reason = reason.as_str(),
                        count,
                        "Call-backs of the host are refused no more"
                    );
                    *said = None;
                }
                _ => {}
            }
            if is_new {
                *said = Some(now);
            }
        }
    }
}

const fn next_step(reason: EventRefusal) -> &'static str {
    match reason {
        EventRefusal::Authentication => {
            "the host authenticates with Kerberos, or signs its calls with keys that only its domain knows: set `mode: poll` \
             in the module, and report it with the version of the host's Windows"
        }
        EventRefusal::Memory | EventRefusal::Size => {
            "events are taken at collections: collect the target more often, or set `mode: poll` in the module"
        }
        EventRefusal::Connections | EventRefusal::Unfinished | EventRefusal::Slow => {
            "the host takes more of the listener than its share, or the network is slow: look at what else calls from its \
             addresses"
        }
        EventRefusal::Address => {
            "another target calls with this host's reference: look at what runs at its address"
        }
        EventRefusal::Malformed | EventRefusal::Empty | EventRefusal::Protocol => {
            "report it with a network capture and the version of the host's Windows, unless something else calls from the \
             host's addresses"
        }
    }
}

/// The word of each reason for which events are refused: those of the subscriber, and bytes that cannot be read.
pub(crate) const REFUSALS: [&str; EventRefusal::ALL.len() + 1] = {
    let mut words = [UNREADABLE; EventRefusal::ALL.len() + 1];
    let mut index = 0;
    while index < EventRefusal::ALL.len() {
        words[index] = EventRefusal::ALL[index].as_str();
        index += 1;
    }
    words
};
const UNREADABLE: &str = "unreadable";

/// When that was, by the clock of this machine.
fn unix_seconds(received: Instant) -> f64 {
    let time = SystemTime::now().checked_sub(received.elapsed());
    let since = time.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or(0.0, |since| since.as_secs_f64())
}

// The identifier of a subscription: the same after each start of the exporter, so that a new subscription takes the place of
// one that a crash left behind.

/// The identifiers that this process uses now.
static USED_IDS: Mutex<BTreeSet<Guid>> = Mutex::new(BTreeSet::new());

/// An identifier that is used once in the process at a time.
#[derive(Debug)]
pub(crate) struct SubscriptionId(Guid);

impl SubscriptionId {
    /// The identifier of a target's subscription at an exporter that is called at `place`. A second subscription of the
    /// target gets another one, and so does one that is made before its predecessor ends.
    pub(crate) fn of(place: &str, target: &str) -> Self {
        let mut used = used_ids();
        let mut ordinal = 0_u32;
        loop {
            let id = guid_of(place, target, ordinal);
            if used.insert(id) {
                return Self(id);
            }
            ordinal += 1;
        }
    }

    pub(crate) const fn guid(&self) -> Guid {
        self.0
    }
}

impl Drop for SubscriptionId {
    fn drop(&mut self) {
        used_ids().remove(&self.0);
    }
}

fn used_ids() -> MutexGuard<'static, BTreeSet<Guid>> {
    USED_IDS.lock()
}

/// A GUID of version 8 (RFC 9562), made of the FNV-1a hash of 128 bits: nobody gains anything by another with the same one.
fn guid_of(place: &str, target: &str, ordinal: u32) -> Guid {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = (1 << 88) + 0x13b;
    let ordinal = ordinal.to_le_bytes();
    let parts = [b"perfmon-exporter comt events", place.as_bytes(), target.as_bytes(), &ordinal[..]];
    let hash = parts.iter().fold(BASIS, |hash, part| {
        // No text has this byte in UTF-8: it separates the parts.
        part.iter().chain(&[0xff]).fold(hash, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
    });
    Guid::from_u128(hash & !(0xf << 76) & !(3 << 62) | 8 << 76 | 2 << 62)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_that_are_counted_anew_are_no_news() {
        let mut log = RefusalLog::default();
        let counts = |first| {
            let mut counts = [0; EventRefusal::ALL.len()];
            counts[0] = first;
            counts
        };
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        log.log(counts(3), || None, at(0));
        assert_eq!(log.said[0], Some(at(0)));
        log.log(counts(0), || None, at(60));
        assert_eq!(log.said[0], Some(at(0)), "the subscriber is another, and nothing was refused");
        log.log(counts(1), || None, at(120));
        assert_eq!(log.said[0], Some(at(120)), "something was");
        log.log(counts(1), || None, at(120) + REFUSAL_OVER);
        assert_eq!(log.said, [None; EventRefusal::ALL.len()]);
    }

    #[test]
    fn an_identifier_depends_on_the_exporter_and_the_target_and_on_nothing_else() {
        let first = guid_of("192.0.2.7:135", "web1", 0);
        assert_eq!(first, guid_of("192.0.2.7:135", "web1", 0));
        let text = first.to_string();
        assert!(text[14..15] == *"8" && "89ab".contains(&text[19..20]), "{text}");
        for other in [
            guid_of("192.0.2.7:135", "web2", 0),
            guid_of("192.0.2.8:135", "web1", 0),
            guid_of("192.0.2.7:135", "web1", 1),
            guid_of("192.0.2.7:13", "5web1", 0),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn an_identifier_that_is_used_is_given_to_nobody_else() {
        let place = "of this test";
        let (first, second) = (SubscriptionId::of(place, "web1"), SubscriptionId::of(place, "web1"));
        assert_ne!(first.guid(), second.guid());
        let guid = first.guid();
        drop(first);
        assert_eq!(SubscriptionId::of(place, "web1").guid(), guid);
    }
}
