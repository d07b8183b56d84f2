use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::metrics::histogram::Histogram;

/// How a request for the page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrapeOutcome {
    /// The reader got all of it.
    Complete,
    /// The reader went away, or took nothing for too long.
    Aborted,
    /// Too many at a time.
    Rejected,
}

impl ScrapeOutcome {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Complete, Self::Aborted, Self::Rejected];

    /// The word for labels.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Aborted => "aborted",
            Self::Rejected => "rejected",
        }
    }
}

/// What serving pages costs.
#[derive(Debug)]
pub struct Scrapes {
    counts: [AtomicU64; ScrapeOutcome::ALL.len()],
    bytes: AtomicU64,
    /// Connections that are open.
    pub connections: AtomicU64,
    /// Seconds from the request to the last byte.
    pub duration_seconds: Histogram,
    /// Bytes of a page.
    pub size_bytes: Histogram,
}

impl Default for Scrapes {
    fn default() -> Self {
        Self {
            counts: Default::default(),
            bytes: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            duration_seconds: Histogram::new([0.001, 0.005, 0.025, 0.1, 0.5, 2.0, 10.0]),
            size_bytes: Histogram::new([1e4, 1e5, 1e6, 1e7, 1e8]),
        }
    }
}

impl Scrapes {
    /// Counts one.
    pub fn count(&self, outcome: ScrapeOutcome) {
        self.counts[outcome as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one that reached its end or its reader's.
    pub fn ended(&self, outcome: ScrapeOutcome, bytes: u64, seconds: f64) {
        self.count(outcome);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if outcome == ScrapeOutcome::Complete {
            self.duration_seconds.observe(seconds);
            #[expect(clippy::cast_precision_loss, reason = "a page has less than 2⁵³ bytes")]
            self.size_bytes.observe(bytes as f64);
        }
    }

    /// How many ended so.
    #[must_use]
    pub fn of(&self, outcome: ScrapeOutcome) -> u64 {
        self.counts[outcome as usize].load(Ordering::Relaxed)
    }

    /// Bytes of all pages.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}
