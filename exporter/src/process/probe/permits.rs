//! How many collections for probes run at a time.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use http_server::PeerKey;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// Permits for collections. Hosts that do not answer hold theirs for as long as a probe may take, so that they get a part of
/// them only, and hosts of one peer half of that part: what was reached before always finds one, and so do hosts of others.
#[derive(Clone)]
pub(super) struct Permits {
    all: Arc<Semaphore>,
    /// Of them, for hosts that were not asked yet.
    unknown: Part,
    /// Of them, for hosts that failed the last time.
    unreachable: Part,
}

/// A part of the permits, of which each peer has a share.
#[derive(Clone)]
struct Part {
    permits: Arc<Semaphore>,
    share: usize,
    shares: Arc<Mutex<HashMap<PeerKey, Weak<Semaphore>>>>,
}

/// What is known of a host before it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reachability {
    /// It answered the last time.
    Reachable,
    /// It was not asked yet.
    Unknown,
    /// It did not answer the last time.
    Unreachable,
}

/// Held while a collection runs.
pub(super) struct Permit {
    _all: OwnedSemaphorePermit,
    _part: Option<[OwnedSemaphorePermit; 2]>,
}

impl Permits {
    /// So many, and parts of them.
    pub(super) fn new(max: u32) -> Self {
        let part = |divisor: u32| (max / divisor).max(1) as usize;
        Self {
            all: Arc::new(Semaphore::new(part(1))),
            unknown: Part::new(part(2), part(4)),
            unreachable: Part::new(part(4), part(8)),
        }
    }

    /// A permit for a host that `peer` asks for, if there is one by then.
    pub(super) async fn acquire(&self, host: Reachability, peer: PeerKey, by: Instant) -> Option<Permit> {
        let part = match host {
            Reachability::Reachable => None,
            Reachability::Unknown => Some(&self.unknown),
            Reachability::Unreachable => Some(&self.unreachable),
        };
        let waits = async {
            // The part comes first: who waits for it keeps nobody from the rest.
            let part = match part {
                Some(part) => Some(part.acquire(peer).await?),
                None => None,
            };
            Some(Permit { _all: Arc::clone(&self.all).acquire_owned().await.ok()?, _part: part })
        };
        timeout_at(by, waits).await.ok()?
    }
}

impl Part {
    fn new(max: usize, share: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(max)), share, shares: Arc::default() }
    }

    async fn acquire(&self, peer: PeerKey) -> Option<[OwnedSemaphorePermit; 2]> {
        let share = self.share_of(peer).acquire_owned().await.ok()?;
        Some([share, Arc::clone(&self.permits).acquire_owned().await.ok()?])
    }

    fn share_of(&self, peer: PeerKey) -> Arc<Semaphore> {
        let mut shares = self.shares.lock();
        if let Some(share) = shares.get(&peer).and_then(Weak::upgrade) {
            return share;
        }
        if shares.len() >= CLEAR_AT {
            shares.retain(|_, share| share.strong_count() > 0);
        }
        let share = Arc::new(Semaphore::new(self.share));
        shares.insert(peer, Arc::downgrade(&share));
        share
    }
}

/// Shares that nobody holds are removed when there are so many.
const CLEAR_AT: usize = 1024;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Reachability::{Reachable, Unknown, Unreachable};
    use super::*;

    fn peer(last: u8) -> PeerKey {
        PeerKey::of([192, 0, 2, last].into())
    }

    async fn taken(permits: &Permits, host: Reachability, last: u8, wanted: usize) -> Vec<Permit> {
        let mut taken = Vec::new();
        for _ in 0..wanted {
            let by = Instant::now() + Duration::from_millis(1);
            taken.extend(permits.acquire(host, peer(last), by).await);
        }
        taken
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_that_hang_leave_permits_for_those_that_answer() {
        for max in [1, 2, 4, 64] {
            let permits = Permits::new(max);
            let max = max as usize;
            let mut held = Vec::new();
            for (host, divisor) in [(Unreachable, 4), (Unknown, 2)] {
                let part = (max / divisor).max(1).min(max - held.len());
                let share = (max / divisor / 2).max(1);
                for asking in [1, 2, 3] {
                    let left = part.min(max - held.len());
                    let own = taken(&permits, host, asking, 70).await;
                    assert!(own.len() <= share, "{host:?}: {} of {max} for one peer", own.len());
                    assert!(asking > 1 || own.len() == share.min(left), "{host:?} of {max}");
                    held.extend(own);
                }
            }
            assert_eq!(held.len(), (max / 4).max(1) + (max / 2).max(1).min(max - (max / 4).max(1)));
            let good = taken(&permits, Reachable, 1, 70).await;
            assert_eq!(good.len(), max - held.len(), "{max}");
            assert!(max < 4 || good.len() >= max / 4);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_peer_whose_hosts_hang_takes_no_permit_from_another() {
        for host in [Unknown, Unreachable] {
            let permits = Permits::new(64);
            let first = taken(&permits, host, 1, 70).await;
            let second = taken(&permits, host, 2, 70).await;
            assert_eq!(first.len(), second.len(), "{host:?}");
            drop(first);
            assert!(!taken(&permits, host, 3, 1).await.is_empty());
            assert!(taken(&permits, host, 2, 1).await.is_empty(), "its share is used up");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_finds_no_permit_waits_for_one() {
        let permits = Permits::new(1);
        let first = taken(&permits, Unknown, 1, 1).await;
        let waiting = {
            let permits = permits.clone();
            let by = Instant::now() + Duration::from_secs(5);
            tokio::spawn(async move { permits.acquire(Reachable, peer(1), by).await.is_some() })
        };
        tokio::time::sleep(Duration::from_secs(3)).await;
        drop(first);
        assert!(waiting.await.is_ok_and(|found| found));
    }
}
