use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::resolver::LookupError;
use crate::resolver::servers::Found;

/// How a look-up ended.
pub(crate) type Outcome = Result<Found, LookupError>;

/// The look-ups in flight, one per name.
pub(crate) struct Flights {
    in_flight_max: usize,
    by_name: Mutex<HashMap<String, Weak<Flight>>>,
}

/// A look-up in flight. It is cancelled when the last caller drops it.
pub(crate) struct Flight {
    began: Instant,
    outcome: watch::Receiver<Option<Outcome>>,
    make_room: Arc<Notify>,
    task: AbortHandle,
}

enum Entered {
    Flight(Arc<Flight>),
    FullUntil(Instant),
}

impl Flights {
    pub(crate) fn new(in_flight_max: usize) -> Self {
        Self { in_flight_max: in_flight_max.max(1), by_name: Mutex::default() }
    }

    /// The look-up of `name` that is in flight, or a new one that is made by `lookup`.
    ///
    /// When there are too many, the oldest one ends, but not before [`SHORTEST`], which is longer than a name
    /// server needs for a cached answer. New look-ups may wait for that long.
    pub(crate) async fn enter<F>(&self, name: &str, lookup: impl Fn() -> F) -> Arc<Flight>
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        loop {
            match self.try_enter(name, &lookup) {
                Entered::Flight(flight) => return flight,
                Entered::FullUntil(later) => sleep_until(later).await,
            }
        }
    }

    fn try_enter<F>(&self, name: &str, lookup: impl Fn() -> F) -> Entered
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let mut flights = self.by_name.lock();
        if let Some(flight) = flights.get(name).and_then(Weak::upgrade)
            && flight.is_under_way()
        {
            return Entered::Flight(flight);
        }
        if flights.len() >= self.in_flight_max {
            flights.retain(|_, flight| flight.upgrade().is_some_and(|flight| flight.is_under_way()));
        }
        if flights.len() >= self.in_flight_max {
            let oldest = flights.iter().filter_map(|(name, flight)| Some((name, flight.upgrade()?)));
            let oldest = oldest.min_by_key(|(_, flight)| flight.began);
            if let Some((name, flight)) = oldest.map(|(name, flight)| (name.clone(), flight)) {
                if flight.began.elapsed() < SHORTEST {
                    return Entered::FullUntil(flight.began + SHORTEST);
                }
                flight.make_room.notify_one();
                flights.remove(&name);
            }
        }
        let flight = Arc::new(Flight::begin(lookup()));
        flights.insert(name.to_owned(), Arc::downgrade(&flight));
        Entered::Flight(flight)
    }
}

impl Flight {
    fn begin(lookup: impl Future<Output = Outcome> + Send + 'static) -> Self {
        let (end, outcome) = watch::channel(None);
        let make_room = Arc::new(Notify::new());
        let asked_for_room = Arc::clone(&make_room);
        let task = tokio::spawn(async move {
            let outcome = tokio::select! {
                outcome = timeout(LONGEST, lookup) => outcome.unwrap_or(Err(LookupError::TimedOut)),
                () = asked_for_room.notified() => Err(LookupError::TimedOut),
            };
            // The caller may have dropped it.
            let _ = end.send(Some(outcome));
        });
        Self { began: Instant::now(), outcome, make_room, task: task.abort_handle() }
    }

    /// Waits for its outcome.
    pub(crate) async fn ended(&self) -> Outcome {
        let mut outcome = self.outcome.clone();
        let ended = outcome.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        ended.unwrap_or_else(|| Err(LookupError::ServerFailed("the look-up was interrupted".to_owned())))
    }

    fn is_under_way(&self) -> bool {
        self.outcome.borrow().is_none() && !self.task.is_finished()
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Minimum time of a look-up, even if others wait.
const SHORTEST: Duration = Duration::from_millis(250);
/// Maximum time of a look-up, over all name servers and search domains.
const LONGEST: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn those_who_want_one_name_share_its_lookup_and_it_ends_with_the_last_of_them() {
        let (flights, begun) = (Flights::new(10), AtomicUsize::new(0));
        let (alive, gone) = (Arc::new(()), Arc::new(()));
        let held = Arc::downgrade(&alive);
        let lookup = || {
            begun.fetch_add(1, Ordering::SeqCst);
            let alive = Arc::clone(&alive);
            async move {
                pending::<()>().await;
                drop(alive);
                unreachable!("it never ends")
            }
        };
        let first = flights.enter("web1", lookup).await;
        let second = flights.enter("web1", lookup).await;
        assert_eq!(begun.load(Ordering::SeqCst), 1);
        drop((first, gone));
        assert!(second.is_under_way());
        drop(second);
        drop(alive);
        while held.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
        drop(flights.enter("web1", || async { Err(LookupError::TimedOut) }).await);
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_lookup_makes_room_when_there_are_too_many() {
        let flights = Flights::new(2);
        let silent = || pending::<Outcome>();
        let first = flights.enter("web1", silent).await;
        let began = Instant::now();
        // Of look-ups that began at the same instant either may be the oldest.
        tokio::time::advance(Duration::from_millis(1)).await;
        let second = flights.enter("web2", silent).await;
        let third = flights.enter("web3", silent).await;
        assert_eq!(began.elapsed(), SHORTEST);
        assert_eq!(first.ended().await.unwrap_err(), LookupError::TimedOut);
        assert!(second.is_under_way() && third.is_under_way());
    }

    #[tokio::test(start_paused = true)]
    async fn no_lookup_takes_for_ever() {
        let flight = Flights::new(1).enter("web1", pending::<Outcome>).await;
        assert_eq!(flight.ended().await.unwrap_err(), LookupError::TimedOut);
    }
}
