//! Whose password is compared next.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::peers::PeerKey;

/// Comparisons at a time; each keeps a core busy.
const COMPARISONS_MAX: usize = 2;
/// Requests of one peer that wait. All of them that carry one password are answered after one comparison, so that a
/// collector which asks for many pages at once is not refused for long.
pub(super) const WAITING_PER_PEER: usize = 64;
/// Wrong passwords of a peer count until it gave none for this time.
const FAILURES_FORGOTTEN_AFTER: Duration = Duration::from_secs(600);
/// PeerLimits whose wrong passwords are counted.
const FAILING_PEERS_MAX: usize = 1024;

/// Requests whose passwords have to be compared. A peer has one comparison at a time. The next one is of the peer with
/// the fewest wrong passwords lately, and of peers with as many, of the request that waits for longest. So guesses
/// keep nobody waiting who gave no wrong password. There is a limit on how many requests of one peer wait, and none on
/// those of all peers, which would let a few of them lock the others out.
#[derive(Default)]
pub(super) struct LoginQueue(Mutex<State>);

#[derive(Default)]
struct State {
    comparing: Vec<PeerKey>,
    /// With the oldest one first.
    waiting: Vec<Waiter>,
    failures: HashMap<PeerKey, Failures>,
}

struct Waiter {
    peer: PeerKey,
    permit: oneshot::Sender<LoginPermit>,
}

struct Failures {
    count: u64,
    last: Instant,
}

/// A password of this peer may be compared for as long as this lives.
pub(super) struct LoginPermit {
    queue: Arc<LoginQueue>,
    peer: PeerKey,
}

impl LoginQueue {
    /// A permit for `peer` when it is its turn; whoever gives up waiting drops the future. `None` at once where too many
    /// requests of the peer wait.
    pub(super) async fn acquire(self: &Arc<Self>, peer: PeerKey) -> Option<LoginPermit> {
        let (permit, granted) = oneshot::channel();
        if !self.state().enter(Waiter { peer, permit }) {
            return None;
        }
        self.assign();
        granted.await.ok()
    }

    /// Gives available permits to waiters.
    fn assign(self: &Arc<Self>) {
        loop {
            let Some(Waiter { peer, permit }) = self.state().next(Instant::now()) else { return };
            // One whose waiter has just gone comes back, and its drop gives it to the next one.
            drop(permit.send(LoginPermit { queue: Arc::clone(self), peer }));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl LoginPermit {
    /// Notes that the password was wrong.
    pub(super) fn count_failure(&self) {
        self.queue.state().count_failure(self.peer, Instant::now());
    }
}

impl Drop for LoginPermit {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.comparing.retain(|peer| *peer != self.peer);
        drop(state);
        self.queue.assign();
    }
}

impl State {
    /// Puts a request at the end of the queue. Returns false where too many of its peer are in it.
    fn enter(&mut self, waiter: Waiter) -> bool {
        self.forget_gone();
        let of_peer = self.waiting.iter().filter(|other| other.peer == waiter.peer).count();
        let has_room = of_peer < WAITING_PER_PEER;
        if has_room {
            self.waiting.push(waiter);
        }
        has_room
    }

    /// Removes waiters that are gone.
    fn forget_gone(&mut self) {
        self.waiting.retain(|waiter| !waiter.permit.is_closed());
    }

    /// Takes the waiter whose turn it is; its peer counts as comparing from now on.
    fn next(&mut self, now: Instant) -> Option<Waiter> {
        self.forget_gone();
        if self.comparing.len() >= COMPARISONS_MAX {
            return None;
        }
        self.failures.retain(|_, failures| now < failures.last + FAILURES_FORGOTTEN_AFTER);
        let failures_of = |peer| self.failures.get(peer).map_or(0, |failures| failures.count);
        let may_go = |waiter: &Waiter| !self.comparing.contains(&waiter.peer);
        let waiting = self.waiting.iter().enumerate().filter(|(_, waiter)| may_go(waiter));
        let (index, _) = waiting.min_by_key(|(index, waiter)| (failures_of(&waiter.peer), *index))?;
        let next = self.waiting.remove(index);
        self.comparing.push(next.peer);
        Some(next)
    }

    fn count_failure(&mut self, peer: PeerKey, now: Instant) {
        if self.failures.len() >= FAILING_PEERS_MAX && !self.failures.contains_key(&peer) {
            let oldest = self.failures.iter().min_by_key(|(_, failures)| failures.last);
            if let Some(oldest) = oldest.map(|(peer, _)| *peer) {
                self.failures.remove(&oldest);
            }
        }
        let failures = self.failures.entry(peer).or_insert(Failures { count: 0, last: now });
        failures.count += 1;
        failures.last = now;
    }
}
