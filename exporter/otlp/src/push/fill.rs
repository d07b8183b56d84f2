//! The task that fills an endpoint's queue.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use parking_lot::{Mutex, MutexGuard};
use support::telemetry::unix_nanos;
use tokio::sync::{Notify, watch};

use super::OtlpEndpoint;
use super::Shared;
use super::Signal;
use super::counts::{Counts, Loss};
use super::queue::{Item, Queue};

/// The queue between the two tasks.
pub(super) struct SharedQueue {
    queue: Mutex<Queue>,
    pub(super) filled: Notify,
    counts: Arc<Counts>,
}

impl SharedQueue {
    pub(super) fn new(settings: &OtlpEndpoint, counts: &Arc<Counts>) -> Arc<Self> {
        let queue = Mutex::new(Queue::new(u64::from(settings.queue_points)));
        Arc::new(Self { queue, filled: Notify::new(), counts: Arc::clone(counts) })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock()
    }

    fn show(&self, queue: &Queue) {
        self.counts.of(Signal::Metrics).queued.store(queue.points(), Ordering::Relaxed);
        self.counts.queue_rounds.store(queue.rounds() as u64, Ordering::Relaxed);
    }

    /// The oldest round, and since when it waits in Unix nanoseconds.
    pub(super) fn pop(&self) -> Option<(Vec<Item>, u64)> {
        let mut queue = self.queue();
        let round = queue.pop_since();
        self.show(&queue);
        round
    }
}

/// Takes a round at each interval, and one at the end.
pub(super) async fn fill(
    queue: Arc<SharedQueue>,
    settings: Arc<OtlpEndpoint>,
    shared: Shared,
    mut stop: watch::Receiver<bool>,
) {
    let mut stopping = false;
    while !stopping {
        let wait = until_next(shared.clock.now(), settings.interval, &settings.name);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = stop.wait_for(|stop| *stop) => stopping = true,
        }
        let now = unix_nanos(shared.clock.now());
        let items = shared.supply.items(now);
        let mut rounds = queue.queue();
        let dropped = rounds.push(items, now);
        queue.show(&rounds);
        drop(rounds);
        queue.counts.of(Signal::Metrics).lose(dropped, Loss::QueueFull);
        queue.filled.notify_one();
    }
}

/// Rounds are aligned to the clock, so that several exporters' points fall together, and shifted a little by the
/// endpoint's name, so that their requests do not.
fn until_next(now: SystemTime, interval: Duration, name: &str) -> Duration {
    let shift_max = (interval / 10).min(Duration::from_secs(5)).as_nanos().max(1);
    let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(name);
    let shift = u128::from(hash) % shift_max;
    let interval = interval.as_nanos().max(1);
    let now = u128::from(unix_nanos(now));
    let past = (now + interval - shift % interval) % interval;
    Duration::from_nanos(u64::try_from(interval - past).unwrap_or(u64::MAX))
}
