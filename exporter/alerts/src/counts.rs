use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use parking_lot::Mutex;
use support::http_client::Trouble;
use support::words;

use super::options::{ReceiverKind, ReceiverOptions};

words! {
    /// Why alerts were not delivered.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Loss {
        /// Too many closed ones waited while the receiver was away.
        QueueFull = "queue_full",
        /// The process ended, or the receiver left the configuration.
        Ended = "ended",
        ;
        /// The receiver refused the request.
        Refused(Trouble),
    }
}

/// What became of the alerts for one receiver.
#[derive(Debug)]
pub struct Counts {
    name: String,
    kind: ReceiverKind,
    sent: AtomicU64,
    failed: Mutex<BTreeMap<&'static str, u64>>,
    dropped: Mutex<BTreeMap<&'static str, u64>>,
    waiting: AtomicU64,
    last: Mutex<Last>,
}

/// The last attempts to send to a receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Last {
    /// When it took alerts last.
    pub success: Option<SystemTime>,
    /// When it did not, and why, as a word and a sentence.
    pub failure: Option<(SystemTime, Trouble, String)>,
}

impl Last {
    /// Whether the receiver took the last request; `None` before the first one.
    #[must_use]
    pub fn is_up(&self) -> Option<bool> {
        match (self.success, &self.failure) {
            (None, None) => None,
            (success, failure) => Some(success > failure.as_ref().map(|(time, _, _)| *time)),
        }
    }
}

impl Counts {
    #[must_use]
    pub fn new(options: &ReceiverOptions) -> Arc<Self> {
        let none = |words: Vec<&'static str>| Mutex::new(words.into_iter().map(|word| (word, 0)).collect());
        Arc::new(Self {
            name: options.name.clone(),
            kind: options.kind,
            sent: AtomicU64::new(0),
            failed: none(Trouble::all().map(Trouble::as_str).collect()),
            dropped: none(Loss::all().map(Loss::as_str).collect()),
            waiting: AtomicU64::new(0),
            last: Mutex::default(),
        })
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn kind(&self) -> ReceiverKind {
        self.kind
    }

    /// Alerts that it took, each time that they were sent.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Alerts that it does not know yet as they are.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    #[must_use]
    pub fn last(&self) -> Last {
        self.last.lock().clone()
    }

    /// Failed attempts by reason.
    #[must_use]
    pub fn failed(&self) -> Vec<(&'static str, u64)> {
        self.failed.lock().iter().map(|(word, count)| (*word, *count)).collect()
    }

    /// Alerts that were not delivered, by reason.
    #[must_use]
    pub fn dropped(&self) -> Vec<(&'static str, u64)> {
        self.dropped.lock().iter().map(|(word, count)| (*word, *count)).collect()
    }

    pub(crate) fn set_waiting(&self, waiting: usize) {
        self.waiting.store(waiting as u64, Ordering::Relaxed);
    }

    pub(crate) fn succeed(&self, alerts: usize, now: SystemTime) {
        self.sent.fetch_add(alerts as u64, Ordering::Relaxed);
        self.last.lock().success = Some(now);
    }

    pub(crate) fn fail(&self, trouble: Trouble, message: &str, now: SystemTime) {
        *self.failed.lock().entry(trouble.as_str()).or_default() += 1;
        self.last.lock().failure = Some((now, trouble, message.to_owned()));
    }

    pub(crate) fn lose(&self, alerts: u64, loss: Loss) {
        *self.dropped.lock().entry(loss.as_str()).or_default() += alerts;
    }
}

/// The counts of all receivers, in the order of the configuration.
#[derive(Debug, Default)]
pub struct AllCounts(Mutex<Arc<[Arc<Counts>]>>);

impl AllCounts {
    #[must_use]
    pub fn get(&self) -> Arc<[Arc<Counts>]> {
        Arc::clone(&self.0.lock())
    }

    pub(crate) fn set(&self, all: Vec<Arc<Counts>>) {
        *self.0.lock() = all.into();
    }
}
