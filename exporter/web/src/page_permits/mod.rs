//! How many pages of metrics, or files, are sent at a time, and which one is ended when another reader needs its permit.
//!
//! Whoever reads slowly must not keep others from reading. A request without a permit waits for one; the peer that has
//! the fewest pages comes first. A peer never has all permits. A page whose reader takes nothing is ended as soon as
//! somebody waits for its permit, and a page that takes very long gives way to a peer that has fewer pages.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use http_server::PeerKey;
use parking_lot::{Mutex, MutexGuard};
use support::telemetry::log::Throttle;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tracing::warn;

/// A page is stalled when its reader took less than [`PROGRESS_BYTES`] in this time.
const STALLED_AFTER: Duration = Duration::from_secs(1);
/// Fewer bytes are no progress: otherwise a byte now and then would be enough to keep a permit.
const PROGRESS_BYTES: u64 = 16 << 10;
/// A page that takes longer gives way to a peer that has fewer pages. Prometheus gives up after this by default.
const LONG: Duration = Duration::from_secs(10);
/// Maximum waiting time for a permit.
const WAIT_MAX: Duration = Duration::from_secs(3);
/// Requests that wait, of all peers.
const WAITING_MAX: usize = 256;
/// Requests of one peer that wait.
const WAITING_PER_PEER: usize = 16;

/// The permits of all pages of metrics.
pub(super) struct PagePermits {
    began: Instant,
    warnings: Throttle,
    state: Mutex<State>,
}

/// No permit became free in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoPermit;

/// A page may be written for as long as this lives.
pub(super) struct PagePermit {
    permits: Arc<PagePermits>,
    id: u64,
    page: Arc<PageProgress>,
}

struct State {
    permits_max: usize,
    next_id: u64,
    /// Pages that have a permit.
    pages: HashMap<u64, Arc<PageProgress>>,
    /// Requests that wait for one, the oldest first.
    waiting: Vec<(u64, Arc<PageProgress>)>,
}

/// A page, or a request for one.
struct PageProgress {
    peer: PeerKey,
    /// Notified when it gets its permit.
    granted: Notify,
    /// Ends the answer while it is sent.
    end: Arc<Notify>,
    is_ended: AtomicBool,
    /// Times in milliseconds since the permits were made.
    granted_ms: AtomicU64,
    progress_ms: AtomicU64,
    /// Taken since the last progress.
    taken_bytes: AtomicU64,
}

impl PagePermits {
    pub(super) fn new(permits_max: usize) -> Arc<Self> {
        let state = State { permits_max, next_id: 0, pages: HashMap::new(), waiting: Vec::new() };
        Arc::new(Self { began: Instant::now(), warnings: Throttle::default(), state: Mutex::new(state) })
    }

    /// Sets the maximum of concurrent pages; pages in progress continue.
    pub(super) fn set_max(&self, permits_max: usize) {
        self.state().permits_max = permits_max;
    }

    /// A permit for a page of `peer`, as soon as there is one. `end` is notified if the page is ended for another one.
    pub(super) async fn acquire(
        self: &Arc<Self>,
        peer: PeerKey,
        end: Arc<Notify>,
    ) -> Result<PagePermit, NoPermit> {
        let give_up = Instant::now() + WAIT_MAX;
        let permit = self.enter(peer, end)?;
        loop {
            let next_ms = self.state().assign(self.now_ms());
            if self.state().pages.contains_key(&permit.id) {
                return Ok(permit);
            }
            if Instant::now() >= give_up {
                return Err(NoPermit);
            }
            let next = next_ms.map(|ms| self.began + Duration::from_millis(ms));
            let until = next.map_or(give_up, |next| next.min(give_up));
            // Whichever comes first, the state is looked at again.
            let _ = timeout_at(until, permit.page.granted.notified()).await;
        }
    }

    /// Puts a request at the end of the queue.
    fn enter(self: &Arc<Self>, peer: PeerKey, end: Arc<Notify>) -> Result<PagePermit, NoPermit> {
        let mut state = self.state();
        let of_peer = state.waiting.iter().filter(|(_, page)| page.peer == peer).count();
        if of_peer >= WAITING_PER_PEER || state.waiting.len() >= WAITING_MAX {
            return Err(NoPermit);
        }
        let page = Arc::new(PageProgress {
            peer,
            granted: Notify::new(),
            end,
            is_ended: AtomicBool::new(false),
            granted_ms: AtomicU64::new(0),
            progress_ms: AtomicU64::new(0),
            taken_bytes: AtomicU64::new(0),
        });
        let id = state.next_id;
        state.next_id += 1;
        state.waiting.push((id, Arc::clone(&page)));
        Ok(PagePermit { permits: Arc::clone(self), id, page })
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl PagePermit {
    /// The reader has taken what was written before, and these bytes follow.
    pub(super) fn wrote(&self, bytes: u64) {
        let taken = self.page.taken_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if taken >= PROGRESS_BYTES {
            self.page.taken_bytes.store(0, Ordering::Relaxed);
            self.page.progress_ms.store(self.permits.now_ms(), Ordering::Relaxed);
        }
    }

    /// Whether the page was ended for another reader.
    pub(super) fn is_ended(&self) -> bool {
        self.page.is_ended.load(Ordering::Relaxed)
    }

    /// Says that the page was ended after these bytes.
    pub(super) fn report_ended(&self, sent_bytes: u64) {
        let next_step = "if this peer is yours, find out why it reads so slowly, or raise `web.max_scrapes`";
        if let Some(held_back) = self.permits.warnings.pass() {
            warn!(
                peer = %self.page.peer,
                sent_bytes,
                more_since_last_line = held_back,
                next_step,
                "Page of /metrics ended in favour of another reader: its own took too little"
            );
        }
    }

    /// Says that the file was ended before these bytes.
    pub(super) fn report_ended_file(&self, left_bytes: u64) {
        let next_step =
            "if this peer is yours, let it read fewer files at a time; a reader may go on with `Range`";
        if let Some(held_back) = self.permits.warnings.pass() {
            warn!(
                peer = %self.page.peer,
                left_bytes,
                more_since_last_line = held_back,
                next_step,
                "Download of a file ended in favour of another reader: its own took too little, or has many"
            );
        }
    }
}

impl Drop for PagePermit {
    fn drop(&mut self) {
        let now_ms = self.permits.now_ms();
        let mut state = self.permits.state();
        state.pages.remove(&self.id);
        state.waiting.retain(|(id, _)| *id != self.id);
        state.assign(now_ms);
    }
}

impl State {
    /// Gives available permits to waiters. Returns when the next page may be aborted.
    fn assign(&mut self, now_ms: u64) -> Option<u64> {
        while let Some(index) = self.next_served(now_ms) {
            let (id, page) = self.waiting.remove(index);
            page.granted_ms.store(now_ms, Ordering::Relaxed);
            page.progress_ms.store(now_ms, Ordering::Relaxed);
            page.granted.notify_one();
            self.pages.insert(id, page);
        }
        let limits = self.pages.values().flat_map(|page| [page.stalled_at_ms(), page.long_at_ms()]);
        limits.filter(|at_ms| *at_ms > now_ms).min()
    }

    /// The waiter that gets the next permit, which is available when this returns.
    fn next_served(&mut self, now_ms: u64) -> Option<usize> {
        if self.waiting.is_empty() {
            return None;
        }
        let mut pages_of: HashMap<PeerKey, usize> = HashMap::new();
        self.pages.values().for_each(|page| *pages_of.entry(page.peer).or_default() += 1);
        let pages_of = |peer: PeerKey| pages_of.get(&peer).copied().unwrap_or(0);
        let mut order: Vec<usize> = (0..self.waiting.len()).collect();
        order.sort_by_key(|index| pages_of(self.waiting[*index].1.peer));
        order.into_iter().find(|index| {
            let peer = self.waiting[*index].1.peer;
            if pages_of(peer) < self.share() && self.pages.len() < self.permits_max {
                return true;
            }
            let Some(id) = self.ended_for(peer, pages_of, now_ms) else { return false };
            if let Some(page) = self.pages.remove(&id) {
                page.is_ended.store(true, Ordering::Relaxed);
                page.end.notify_one();
            }
            true
        })
    }

    /// The page that makes room for one of `peer`: of those that may be ended, the slowest one of the peer that has the
    /// most. A peer that has its share can end its own pages only.
    fn ended_for(&self, peer: PeerKey, pages_of: impl Fn(PeerKey) -> usize, now_ms: u64) -> Option<u64> {
        let own = pages_of(peer);
        let may_end = self.pages.iter().filter(|(_, page)| {
            let is_stalled = page.stalled_at_ms() <= now_ms;
            let gives_way = page.long_at_ms() <= now_ms && pages_of(page.peer) > own;
            let is_own = page.peer == peer;
            if own < self.share() { is_stalled || gives_way } else { is_stalled && is_own }
        });
        let slowest = may_end
            .min_by_key(|(id, page)| (std::cmp::Reverse(pages_of(page.peer)), page.stalled_at_ms(), **id));
        slowest.map(|(id, _)| *id)
    }

    /// Permits that one peer may have: of four or more, a quarter is left to the others.
    fn share(&self) -> usize {
        self.permits_max - self.permits_max / 4
    }
}

impl PageProgress {
    fn stalled_at_ms(&self) -> u64 {
        self.progress_ms.load(Ordering::Relaxed) + ms(STALLED_AFTER)
    }

    fn long_at_ms(&self) -> u64 {
        self.granted_ms.load(Ordering::Relaxed) + ms(LONG)
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
