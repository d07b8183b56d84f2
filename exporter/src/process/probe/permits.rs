//! How many probes run at a time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// Places for probes that run. Hosts that do not answer hold theirs for as long as a probe may take, so that they have a part
/// of them only: what was connected before always finds one.
#[derive(Clone)]
pub(super) struct Places {
    all: Arc<Semaphore>,
    /// Of them, for hosts that were not asked yet.
    unknown: Arc<Semaphore>,
    /// Of them, for hosts that failed the last time.
    failing: Arc<Semaphore>,
}

/// What is known of a host before it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acquaintance {
    /// It answered the last time.
    Connected,
    /// It was not asked yet.
    Unknown,
    /// It did not answer the last time.
    Failing,
}

/// A place, until it is dropped.
pub(super) struct Place {
    _all: OwnedSemaphorePermit,
    _part: Option<OwnedSemaphorePermit>,
}

impl Places {
    /// So many, and parts of them.
    pub(super) fn new(max: u32) -> Self {
        let part = |share: u32| Arc::new(Semaphore::new((max / share).max(1) as usize));
        Self { all: part(1), unknown: part(2), failing: part(4) }
    }

    /// A place for a host, if there is one by then.
    pub(super) async fn place(&self, host: Acquaintance, by: Instant) -> Option<Place> {
        let part = match host {
            Acquaintance::Connected => None,
            Acquaintance::Unknown => Some(&self.unknown),
            Acquaintance::Failing => Some(&self.failing),
        };
        let waits = async {
            // The part comes first: who waits for it keeps nobody from the rest.
            let part = match part {
                Some(part) => Some(Arc::clone(part).acquire_owned().await.ok()?),
                None => None,
            };
            Some(Place { _all: Arc::clone(&self.all).acquire_owned().await.ok()?, _part: part })
        };
        timeout_at(by, waits).await.ok()?
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Acquaintance::{Connected, Failing, Unknown};
    use super::*;

    async fn taken(places: &Places, host: Acquaintance, wanted: usize) -> Vec<Place> {
        let mut taken = Vec::new();
        for _ in 0..wanted {
            taken.extend(places.place(host, Instant::now() + Duration::from_millis(1)).await);
        }
        taken
    }

    #[tokio::test(start_paused = true)]
    async fn hosts_that_hang_leave_places_for_those_that_answer() {
        for max in [1, 2, 4, 64] {
            let places = Places::new(max);
            let max = max as usize;
            let hanging = taken(&places, Failing, 70).await;
            assert_eq!(hanging.len(), (max / 4).max(1));
            let new = taken(&places, Unknown, 70).await;
            assert_eq!(new.len(), (max / 2).max(1).min(max - hanging.len()));
            let good = taken(&places, Connected, 70).await;
            assert_eq!(good.len(), max - hanging.len() - new.len(), "{max}");
            assert!(max < 4 || good.len() >= max / 4);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_finds_no_place_waits_for_one() {
        let places = Places::new(1);
        let first = taken(&places, Unknown, 1).await;
        let waiting = {
            let places = places.clone();
            tokio::spawn(async move {
                places.place(Connected, Instant::now() + Duration::from_secs(5)).await.is_some()
            })
        };
        tokio::time::sleep(Duration::from_secs(3)).await;
        drop(first);
        assert!(waiting.await.is_ok_and(|found| found));
    }
}
