//! One endpoint: the task that fills its queue, and the task that empties it.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use support::http_client::Connector;
use support::telemetry::unix_nanos;
use tokio::sync::{Notify, watch};
use tracing::{debug, warn};

use super::counts::{Counts, Loss};
use super::records::Records;
use super::sender::{Decided, Sender, Way};
use super::{Item, OtlpEndpoint, Queue, Shared, Signal, pack};
use crate::encode::{Earlier, Part, Request as Written, Requests, Temporality};

/// An endpoint that is about to begin.
pub struct Endpoint {
    pub settings: Arc<OtlpEndpoint>,
    pub connector: Arc<dyn Connector>,
    /// What it has in common with others.
    pub shared: Shared,
    /// Counts of its data.
    pub counts: Arc<Counts>,
    /// Its queue of log records, if it gets any.
    pub logs: Option<Arc<Records>>,
    /// Its queue of spans, if it gets any.
    pub traces: Option<Arc<Records>>,
    pub seed: u64,
}

impl Endpoint {
    /// Pushes until `stop`, then sends the queued data, each request once.
    pub async fn run(self, stop: watch::Receiver<bool>) {
        let queue = SharedQueue::new(&self.settings, &self.counts);
        let filling =
            fill_queue(Arc::clone(&queue), Arc::clone(&self.settings), self.shared.clone(), stop.clone());
        let delivery = Delivery {
            taken: HashMap::new(),
            request_bytes: RequestBytes::new(self.settings.request_bytes as usize),
            is_size_told: false,
            sender: self.sender(Signal::Metrics, &stop),
            shared: self.shared.clone(),
        };
        let logs = self.deliver(self.logs.as_ref(), Signal::Logs, &stop);
        let traces = self.deliver(self.traces.as_ref(), Signal::Traces, &stop);
        // The last round comes before the sender may end.
        tokio::join!(filling, delivery.run(queue), logs, traces);
    }

    async fn deliver(&self, records: Option<&Arc<Records>>, signal: Signal, stop: &watch::Receiver<bool>) {
        let Some(records) = records else { return };
        let sender = self.sender(signal, stop);
        records.deliver(sender, self.settings.request_bytes as usize, stop.clone()).await;
    }

    fn sender(&self, signal: Signal, stop: &watch::Receiver<bool>) -> Sender {
        let way = Way {
            settings: Arc::clone(&self.settings),
            connector: Arc::clone(&self.connector),
            clock: Arc::clone(&self.shared.clock),
            counts: Arc::clone(&self.counts),
            seed: self.seed ^ signal as u64,
        };
        Sender::new(way, signal, stop.clone())
    }
}

/// Where so many points in a row are too large, each alone, it is not their size: the rest of the round goes, too.
const ALONE_MAX: u32 = 20;

/// What sending needs to know from one round to the next.
struct Delivery {
    sender: Sender,
    shared: Shared,
    /// What each instance's series were when the collector took them last.
    taken: HashMap<u64, Earlier>,
    request_bytes: RequestBytes,
    /// The log has heard that a point alone is too large.
    is_size_told: bool,
}

impl Delivery {
    async fn run(mut self, queue: Arc<SharedQueue>) {
        loop {
            let Some((round, since_unix_nanos)) = queue.pop() else {
                // The last round is there by the time that this is seen: it is taken when `stop` is.
                let stopping = self.sender.is_stopping();
                if stopping && Arc::strong_count(&queue) == 1 {
                    return;
                }
                queue.filled.notified().await;
                continue;
            };
            self.send_round(round).await;
            let waited = unix_nanos(self.shared.clock.now()).saturating_sub(since_unix_nanos);
            self.sender.counts().waiting.took(Duration::from_nanos(waited));
        }
    }

    async fn send_round(&mut self, items: Vec<Item>) {
        let parts = items.iter().map(|item| Part {
            resource: Arc::clone(&item.resource),
            scope: Arc::clone(&item.scope),
            snapshot: Arc::clone(&item.snapshot),
            time_unix_nanos: item.time_unix_nanos,
            earlier: self.taken.get(&item.key).cloned(),
        });
        let mut requests = Requests::new(parts.collect(), self.sender.settings.temporality);
        let points: u64 = items.iter().map(|item| item.snapshot.points() as u64).sum();
        let (mut settled, mut sent, mut alone) = (0, 0, 0);
        loop {
            let job = Job {
                requests,
                request_bytes: self.request_bytes.get(),
                shared: self.shared.clone(),
                settings: Arc::clone(&self.sender.settings),
                counts: Arc::clone(&self.sender.all_counts),
            };
            let made = match tokio::task::spawn_blocking(|| job.make()).await {
                Ok(Ok(made)) => made,
                Ok(Err(error)) => return warn!(%error, "Failed to build an OTLP request"),
                Err(error) => return warn!(%error, "Failed to build an OTLP request"),
            };
            requests = made.requests;
            let Some((written, message_bytes, body)) = made.request else { break };
            match self.sender.send(written.points, &body).await {
                Decided::Done => {
                    self.request_bytes.take(message_bytes);
                    (sent, alone) = (sent + written.points, 0);
                    let done = items.get(settled..written.parts_done).unwrap_or_default();
                    done.iter().for_each(|item| self.settle(item));
                    settled = settled.max(written.parts_done);
                }
                Decided::TooLarge if written.points > 1 => {
                    self.request_bytes.too_large(message_bytes);
                    debug!(endpoint = self.sender.name(), bytes = message_bytes, "Request was too large");
                    requests.rewind();
                }
                Decided::TooLarge => {
                    self.request_bytes.too_large_alone();
                    (sent, alone) = (sent + 1, alone + 1);
                    self.too_large(1, message_bytes);
                    if alone == ALONE_MAX {
                        self.too_large(points.saturating_sub(sent), message_bytes);
                        break;
                    }
                }
                Decided::Stopped => return,
            }
        }
        items.get(settled..).unwrap_or_default().iter().for_each(|item| self.settle(item));
        // A chunk that is dropped here is made again when it is needed.
        self.shared.templates.lock().sweep();
    }

    /// Points that the collector finds too large, each by itself.
    fn too_large(&mut self, points: u64, bytes: usize) {
        self.sender.counts().lose(points, Loss::TooLarge);
        if !std::mem::replace(&mut self.is_size_told, true) {
            let next_step = "raise the request size limit of the collector, or of a proxy in front of it";
            let (endpoint, at) = (self.sender.name(), self.sender.at());
            warn!(endpoint, at, bytes, next_step, "A single point is too large for the collector");
        }
    }

    /// The collector has this now, or never will.
    fn settle(&mut self, item: &Item) {
        if item.ends {
            self.taken.remove(&item.key);
            return;
        }
        let (mut counts, mut counts_time_unix_nanos) = (Arc::clone(&item.snapshot), item.time_unix_nanos);
        // Increases of counters while a target was down are sent when it is up again.
        if let Some(before) = self.taken.get(&item.key)
            && item.snapshot.points() == 0
            && self.sender.settings.temporality == Temporality::Delta
        {
            counts = Arc::clone(&before.counts);
            counts_time_unix_nanos = before.counts_time_unix_nanos;
        }
        let earlier = Earlier { sent: Arc::clone(&item.snapshot), counts, counts_time_unix_nanos };
        self.taken.insert(item.key, earlier);
    }
}

/// The processor's part of a request, away from the tasks that wait.
struct Job {
    requests: Requests,
    request_bytes: usize,
    shared: Shared,
    settings: Arc<OtlpEndpoint>,
    counts: Arc<Counts>,
}

struct Made {
    requests: Requests,
    /// What it holds, its bytes before compression, and its body.
    request: Option<(Written, usize, Bytes)>,
}

impl Job {
    fn make(mut self) -> io::Result<Made> {
        let counts = self.counts.of(Signal::Metrics);
        let mut message = Vec::with_capacity(self.request_bytes);
        let written = counts.encoding.of(|| {
            let mut templates = self.shared.templates.lock();
            self.requests.next_request(&mut templates, self.request_bytes, &mut message)
        });
        let Some(written) = written else { return Ok(Made { requests: self.requests, request: None }) };
        let pack = || pack(&message, self.settings.protocol, self.settings.compression);
        let body = counts.compression.of(pack)?;
        Ok(Made { requests: self.requests, request: Some((written, message.len(), body)) })
    }
}

// The task that fills an endpoint's queue.

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
pub(super) async fn fill_queue(
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

// How large a request may be, as far as a collector is known to take it.

/// Found by halving what is too large, and grown again by what is taken.
///
/// A collector may refuse a request for something else than its size: one huge point in it, or a proxy before it that
/// is being replaced. What was learnt from that must not stay for ever, or each point would go out alone.
#[derive(Debug)]
pub(super) struct RequestBytes {
    configured: usize,
    now: usize,
    /// The largest that was taken.
    taken: usize,
    /// The smallest that was too large, until that is doubted.
    refused: Option<usize>,
    /// Requests that were taken since.
    taken_since: u32,
}

/// Number of requests after which a larger one is tried again.
const DOUBT_AFTER: u32 = 100;

impl RequestBytes {
    pub(super) fn new(configured: usize) -> Self {
        Self { configured, now: configured, taken: 0, refused: None, taken_since: 0 }
    }

    /// Of the next request.
    pub(super) fn get(&self) -> usize {
        self.now
    }

    /// A request with more than one point in it was too large.
    pub(super) fn too_large(&mut self, bytes: usize) {
        let known = if self.taken < bytes { self.taken } else { 0 };
        self.taken = known;
        self.now = known.max(bytes.min(self.now) / 2);
        (self.refused, self.taken_since) = (Some(bytes), 0);
    }

    /// A single point was too large, which says nothing about others.
    pub(super) fn too_large_alone(&mut self) {
        self.refused = None;
    }

    pub(super) fn take(&mut self, bytes: usize) {
        self.taken = self.taken.max(bytes);
        self.taken_since += 1;
        if self.taken_since >= DOUBT_AFTER {
            self.refused = None;
        }
        // A small one says nothing about larger ones.
        if bytes < self.now / 2 {
            return;
        }
        self.now = match self.refused {
            None => self.now.saturating_mul(2),
            // Half-way, until that is hardly worth a refusal.
            Some(refused) if refused.saturating_sub(self.now) > refused / 4 => self.now.midpoint(refused),
            Some(_) => self.now,
        }
        .clamp(1, self.configured);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends full requests to a collector that takes so many bytes; answers how many it refused.
    fn send(size: &mut RequestBytes, requests: u32, bytes_max: usize) -> u32 {
        let mut refused = 0;
        for _ in 0..requests {
            let bytes = size.get();
            if bytes > bytes_max {
                size.too_large(bytes);
                refused += 1;
            } else {
                size.take(bytes);
            }
        }
        refused
    }

    #[test]
    fn a_limit_is_found_soon_and_seldom_tried_again() {
        for limit in [1_000, 4_100, 5_000, 700_000, 1_048_576, 3_000_000] {
            let mut size = RequestBytes::new(3 << 20);
            let refused = send(&mut size, 100, limit);
            assert!(refused < 16, "{limit}: {refused}");
            assert!(size.get() * 2 > limit, "{limit}: {}", size.get());
            let refused = send(&mut size, 1_000, limit);
            assert!(refused < 60, "{limit}: {refused}");
            assert!(size.get() * 2 > limit, "{limit}: {}", size.get());
        }
    }

    #[test]
    fn what_was_small_for_no_lasting_reason_grows_again() {
        for until in [0, 1, 300, 2_000] {
            let mut size = RequestBytes::new(3 << 20);
            while size.get() > until {
                size.too_large(size.get());
            }
            send(&mut size, 200, usize::MAX);
            assert_eq!(size.get(), 3 << 20, "{until}");
        }
        let mut size = RequestBytes::new(3 << 20);
        send(&mut size, 12, 500);
        size.too_large_alone();
        send(&mut size, 20, usize::MAX);
        assert_eq!(size.get(), 3 << 20);
    }

    #[test]
    fn small_requests_tell_nothing_about_larger_ones() {
        let mut size = RequestBytes::new(1_000);
        size.too_large(1_000);
        (0..50).for_each(|_| size.take(10));
        assert_eq!(size.get(), 500);
    }
}
