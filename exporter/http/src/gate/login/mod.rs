//! Basic authentication (RFC 7617) against bcrypt hashes.
//!
//! A comparison takes tens of milliseconds on purpose, so its verdict is kept: who was let in is let in again for the
//! price of a MAC, until the hash changes. Verdicts are keyed by a MAC under a key of this process over user, hash and
//! password, so that memory holds no password and no two triples are mixed up. Wrong passwords have a room of their
//! own, and cannot push out the good ones. An unknown user costs as much time as a known one.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use config::web_file::Users;
use hmac::{Hmac, KeyInit, Mac};
use parking_lot::{Mutex, MutexGuard};
use sha2::Sha256;
use tokio::sync::oneshot;
use tokio::time::Instant;
use zeroize::Zeroizing;

use crate::peers::PeerKey;

/// Maximum waiting time; then the peer must retry.
const WAIT_MAX: Duration = Duration::from_secs(5);
/// Maximum kept verdicts of each kind.
const VERDICTS_MAX: usize = 1024;
/// A user with a password in base64 has no more.
const CREDENTIALS_BYTES_MAX: usize = 4096;

/// What is said of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// User and password are good.
    Accepted,
    Rejected,
    Missing,
    /// Too many passwords are being compared, or too many of this peer wait for that.
    Busy,
}

/// Compares passwords, and remembers what came out.
pub(crate) struct Login {
    /// `None` if the kernel gave no random bytes; then nothing is kept.
    key: Option<Key>,
    kept: Arc<Mutex<Kept>>,
    queue: Arc<LoginQueue>,
}

type Key = [u8; 32];

#[derive(Default)]
struct Kept {
    accepted: Room,
    rejected: Room,
}

/// A limited set of keys; the oldest one is dropped first.
#[derive(Default)]
struct Room {
    keys: HashSet<Key>,
    order: VecDeque<Key>,
}

impl Default for Login {
    fn default() -> Self {
        Self { key: random_key(), kept: Arc::default(), queue: Arc::default() }
    }
}

impl Login {
    /// Judges the value of the `Authorization` of a request of `peer`.
    pub(crate) async fn judge(&self, users: &Users, header: Option<&[u8]>, peer: PeerKey) -> Verdict {
        let Some(given) = header.and_then(Given::read) else { return Verdict::Missing };
        let known = users.hash(&given.user).map(Arc::clone);
        let is_known = known.is_some();
        let hash = known.unwrap_or_else(|| nobody(users.cost()).into());
        let key = self.key.as_ref().map(|key| given.key(key, &hash));
        if let Some(verdict) = key.and_then(|key| self.kept().verdict(&key)) {
            return verdict;
        }
        let wait = self.queue.acquire(peer);
        let Ok(Some(permit)) = tokio::time::timeout(WAIT_MAX, wait).await else { return Verdict::Busy };
        // Another request may have waited for the same.
        if let Some(verdict) = key.and_then(|key| self.kept().verdict(&key)) {
            return verdict;
        }
        let kept = Arc::clone(&self.kept);
        let compared = tokio::task::spawn_blocking(move || {
            let matches = bcrypt::verify(&*given.password, &hash).unwrap_or(false);
            let is_good = matches && is_known;
            // Stored here, because the requester may be gone at the end.
            if let Some(key) = key {
                kept.lock().keep(key, is_good);
            }
            if !is_good {
                permit.count_failure();
            }
            drop(permit);
            if is_good { Verdict::Accepted } else { Verdict::Rejected }
        });
        compared.await.unwrap_or(Verdict::Busy)
    }

    fn kept(&self) -> parking_lot::MutexGuard<'_, Kept> {
        self.kept.lock()
    }
}

impl Kept {
    fn verdict(&self, key: &Key) -> Option<Verdict> {
        if self.accepted.keys.contains(key) {
            Some(Verdict::Accepted)
        } else {
            self.rejected.keys.contains(key).then_some(Verdict::Rejected)
        }
    }

    fn keep(&mut self, key: Key, is_good: bool) {
        if is_good { self.accepted.keep(key) } else { self.rejected.keep(key) }
    }
}

impl Room {
    fn keep(&mut self, key: Key) {
        if !self.keys.insert(key) {
            return;
        }
        self.order.push_back(key);
        if self.order.len() > VERDICTS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys.remove(&oldest);
        }
    }
}

/// The credentials of a request.
struct Given {
    user: String,
    password: Zeroizing<Vec<u8>>,
}

impl Given {
    fn read(header: &[u8]) -> Option<Self> {
        let (scheme, rest) = header.split_at_checked(6)?;
        if !scheme.eq_ignore_ascii_case(b"Basic ") || rest.len() > CREDENTIALS_BYTES_MAX {
            return None;
        }
        let decoded = Zeroizing::new(STANDARD.decode(rest.trim_ascii()).ok()?);
        let colon = decoded.iter().position(|byte| *byte == b':')?;
        let user = String::from_utf8(decoded[..colon].to_vec()).ok()?;
        Some(Self { user, password: Zeroizing::new(decoded[colon + 1..].to_vec()) })
    }

    fn key(&self, of_process: &Key, hash: &str) -> Key {
        let mut mac = Hmac::<Sha256>::new_from_slice(of_process).expect("HMAC takes a key of any length");
        for part in [self.user.as_bytes(), hash.as_bytes(), &self.password] {
            // The lengths keep the parts apart.
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

/// User and password in the value of `Authorization`, for the laws about that.
pub(crate) fn credentials(header: &[u8]) -> Option<(String, Vec<u8>)> {
    Given::read(header).map(|given| (given.user, given.password.to_vec()))
}

/// A key of this process.
fn random_key() -> Option<Key> {
    let mut key = Key::default();
    getrandom::fill(&mut key).ok()?;
    Some(key)
}

/// A hash that matches no password, with the cost of the users' hashes.
fn nobody(cost: u32) -> String {
    format!("$2b${cost:02}$abcdefghijklmnopqrstuuABCDEFGHIJKLMNOPQRSTUVWXYZ01232")
}

/// Comparisons at a time; each keeps a core busy.
const COMPARISONS_MAX: usize = 2;
/// Requests of one peer that wait. All of them that carry one password are answered after one comparison, so that a
/// collector which asks for many pages at once is not refused for long.
const WAITING_PER_PEER: usize = 64;
/// Wrong passwords of a peer count until it gave none for this time.
const FAILURES_FORGOTTEN_AFTER: Duration = Duration::from_secs(600);
/// PeerLimits whose wrong passwords are counted.
const FAILING_PEERS_MAX: usize = 1024;

/// Requests whose passwords have to be compared. A peer has one comparison at a time. The next one is of the peer with
/// the fewest wrong passwords lately, and of peers with as many, of the request that waits for longest. So guesses
/// keep nobody waiting who gave no wrong password. There is a limit on how many requests of one peer wait, and none on
/// those of all peers, which would let a few of them lock the others out.
#[derive(Default)]
struct LoginQueue(Mutex<State>);

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
struct LoginPermit {
    queue: Arc<LoginQueue>,
    peer: PeerKey,
}

impl LoginQueue {
    /// A permit for `peer` when it is its turn; whoever gives up waiting drops the future. `None` at once where too many
    /// requests of the peer wait.
    async fn acquire(self: &Arc<Self>, peer: PeerKey) -> Option<LoginPermit> {
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
    fn count_failure(&self) {
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

#[cfg(test)]
mod tests;
