//! Log records and spans: what happens once, waits in a queue of its own, and is sent as it comes.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::encode::{Record, Resource, Scope, put_records};
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tracing::warn;

use super::Signal;
use super::counts::{Counts, Loss, SignalCounts};
use super::pack;
use super::sender::{Decided, Sender};

/// Records that arrive within this time are sent in one request.
const LINGER: Duration = Duration::from_secs(1);
/// Maximum queued bytes, for any number of records.
const QUEUE_BYTES_MAX: usize = 16 << 20;
/// What a record takes beside its bytes, about.
const RECORD_OVERHEAD_BYTES: usize = 64;

/// A log record or a span, and what it is about.
#[derive(Clone, Debug)]
pub struct About {
    pub resource: Arc<Resource>,
    pub scope: Arc<Scope>,
    pub record: Record,
}

/// The queue for one collector. If it is full, the oldest record of the target that takes the most of it is dropped and counted:
/// a host with many events drops none of another one.
#[derive(Debug)]
pub struct Records {
    waiting: Mutex<Waiting>,
    filled: Notify,
    records_max: usize,
    signal: Signal,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Waiting {
    records: VecDeque<(About, Instant)>,
    bytes: usize,
    /// INVARIANT: the sum of the records of each resource, by its address, which none else has while they wait.
    bytes_of: HashMap<usize, usize>,
}

impl Waiting {
    fn push(&mut self, about: About) {
        let size = size(&about);
        self.bytes += size;
        *self.bytes_of.entry(resource_of(&about)).or_default() += size;
        self.records.push_back((about, Instant::now()));
    }

    fn remove(&mut self, place: usize) -> Option<About> {
        let (about, _) = self.records.remove(place)?;
        let size = size(&about);
        self.bytes -= size;
        let resource = resource_of(&about);
        if let Some(bytes) = self.bytes_of.get_mut(&resource) {
            *bytes -= size;
            if *bytes == 0 {
                self.bytes_of.remove(&resource);
            }
        }
        Some(about)
    }

    /// Drops the oldest record of the resource with the most. Returns whether there was one.
    fn drop_one(&mut self) -> bool {
        let most = self.bytes_of.iter().max_by_key(|(_, bytes)| **bytes).map(|(resource, _)| *resource);
        let place = self.records.iter().position(|(about, _)| Some(resource_of(about)) == most);
        place.and_then(|place| self.remove(place)).is_some()
    }
}

fn resource_of(about: &About) -> usize {
    Arc::as_ptr(&about.resource).addr()
}

impl Records {
    pub(super) fn new(signal: Signal, records_max: u32, counts: &Arc<Counts>) -> Arc<Self> {
        Arc::new(Self {
            waiting: Mutex::default(),
            filled: Notify::new(),
            records_max: records_max as usize,
            signal,
            counts: Arc::clone(counts),
        })
    }

    /// Puts one in. Never waits.
    pub fn push(&self, about: About) {
        let mut waiting = self.waiting.lock();
        waiting.push(about);
        let mut dropped = 0;
        while waiting.records.len() > self.records_max || waiting.bytes > QUEUE_BYTES_MAX {
            if !waiting.drop_one() {
                break;
            }
            dropped += 1;
        }
        self.show(&waiting);
        drop(waiting);
        self.counts().lose(dropped, Loss::QueueFull);
        self.filled.notify_one();
    }

    /// The oldest ones that fit into so many bytes, at least one if there is any; and since when the first waits.
    fn take(&self, bytes_max: usize) -> Option<(Vec<About>, Instant)> {
        let mut waiting = self.waiting.lock();
        let (mut batch, mut bytes) = (Vec::new(), 0);
        let since = waiting.records.front()?.1;
        while let Some((next, _)) = waiting.records.front() {
            let size = size(next);
            if !batch.is_empty() && bytes + size > bytes_max {
                break;
            }
            bytes += size;
            batch.extend(waiting.remove(0));
        }
        self.show(&waiting);
        Some((batch, since))
    }

    fn is_empty(&self) -> bool {
        self.waiting.lock().records.is_empty()
    }

    fn show(&self, waiting: &Waiting) {
        self.counts().queued.store(waiting.records.len() as u64, Ordering::Relaxed);
    }

    fn counts(&self) -> &SignalCounts {
        self.counts.of(self.signal)
    }

    /// Sends records until `stop`, then the queued ones, each request once.
    pub(super) async fn deliver(
        &self,
        mut sender: Sender,
        request_bytes: usize,
        mut stop: watch::Receiver<bool>,
    ) {
        loop {
            if self.is_empty() {
                if sender.is_stopping() {
                    return;
                }
                let more_came = async {
                    self.filled.notified().await;
                    tokio::time::sleep(LINGER).await;
                };
                let stopped = tokio::select! {
                    () = more_came => Ok(()),
                    stopped = stop.wait_for(|stop| *stop) => stopped.map(drop),
                };
                // The sender of `stop` is gone.
                if stopped.is_err() {
                    return;
                }
                continue;
            }
            let Some((batch, since)) = self.take(request_bytes) else { continue };
            if self.send(&mut sender, batch).await == Decided::Stopped {
                break;
            }
            self.counts().waiting.took(since.elapsed());
        }
        let left = self.take(usize::MAX).map_or(0, |(left, _)| left.len());
        self.counts().lose(left as u64, Loss::Ended);
    }

    /// Sends a batch, in smaller requests if it is too large.
    async fn send(&self, sender: &mut Sender, batch: Vec<About>) -> Decided {
        let mut batches = vec![batch];
        while let Some(mut batch) = batches.pop() {
            let body = match self.make(sender, &batch) {
                Ok(body) => body,
                Err(error) => {
                    warn!(%error, "Failed to build an OTLP request");
                    continue;
                }
            };
            match sender.send(batch.len() as u64, &body).await {
                Decided::Done => {}
                Decided::TooLarge if batch.len() > 1 => {
                    let half = batch.split_off(batch.len() / 2);
                    batches.extend([half, batch]);
                }
                Decided::TooLarge => self.counts().lose(1, Loss::TooLarge),
                Decided::Stopped => {
                    let left: usize = batches.iter().map(Vec::len).sum();
                    self.counts().lose(left as u64, Loss::Ended);
                    return Decided::Stopped;
                }
            }
        }
        Decided::Done
    }

    fn make(&self, sender: &Sender, batch: &[About]) -> std::io::Result<Bytes> {
        let mut message = Vec::new();
        self.counts().encoding.of(|| {
            let mut sorted: Vec<&About> = batch.iter().collect();
            // By target and plugin, in the order of time for each.
            sorted.sort_by_key(|about| owner(about));
            for of_one in sorted.chunk_by(|one, other| owner(one) == owner(other)) {
                if let [first, ..] = of_one {
                    let records = of_one.iter().map(|about| &about.record);
                    put_records(&mut message, &first.resource, &first.scope, records);
                }
            }
        });
        let settings = &sender.settings;
        self.counts().compression.of(|| pack(&message, settings.protocol, settings.compression))
    }
}

fn owner(about: &About) -> (usize, usize) {
    (Arc::as_ptr(&about.resource).addr(), Arc::as_ptr(&about.scope).addr())
}

fn size(about: &About) -> usize {
    about.record.bytes() + RECORD_OVERHEAD_BYTES
}
