//! Where in its interval a job has its slot, and how far apart the tries of one that fails are.
//!
//! Both follow from a job's key, so that targets are spread, and every run of the program spreads them alike.

use std::time::{Duration, Instant};

use support::pause::doubled;

/// A target that keeps failing is tried at least so often.
const BACKOFF_MAX: Duration = Duration::from_secs(300);

/// A job that wants to run more rarely still runs so often.
const MIN_INTERVAL_MAX: Duration = Duration::from_secs(3600);

/// The moments at which a job is to begin: all are whole intervals apart.
#[derive(Debug)]
pub(super) struct IntervalSlots {
    pub(super) interval: Duration,
    /// What the configuration says; `interval` is no shorter.
    configured: Duration,
    /// Drawn from the job's key.
    draw: u64,
    /// One of them, at which others are measured.
    origin: Instant,
}

impl IntervalSlots {
    /// Those of a job with this key, counted from `epoch`.
    pub(super) fn new(seed: u64, key: &str, interval: Duration, epoch: Instant) -> Self {
        let draw = hash(seed, key.as_bytes());
        Self { interval, configured: interval, draw, origin: epoch + part(draw.rotate_left(32), interval) }
    }

    /// From now on the moments are so far apart or more, counted from `epoch` as before.
    pub(super) fn set_min_interval(&mut self, min_interval: Option<Duration>, epoch: Instant) {
        let wanted = min_interval.unwrap_or_default().min(MIN_INTERVAL_MAX);
        let interval = self.configured.max(wanted);
        if interval != self.interval {
            self.interval = interval;
            self.origin = epoch + part(self.draw.rotate_left(32), interval);
        }
    }

    /// When the job begins for the first time, somewhere in a first round of this length.
    pub(super) fn first(&self, first_round: Duration, now: Instant) -> Instant {
        now + part(self.draw, first_round.min(self.interval))
    }

    /// The first one after `now`.
    pub(super) fn next(&mut self, now: Instant) -> Instant {
        let Some(since) = now.checked_duration_since(self.origin) else { return self.origin };
        let passed = since.as_nanos() / self.interval.as_nanos().max(1);
        self.origin += self.interval.saturating_mul(u32::try_from(passed).unwrap_or(u32::MAX));
        self.origin + self.interval
    }

    /// Leaves out those before `moment`.
    pub(super) fn skip_to(&mut self, moment: Instant) {
        self.origin = self.next(moment);
    }

    /// How many went by from `due` to `now`.
    pub(super) fn passed(&self, due: Instant, now: Instant) -> u64 {
        let late = now.saturating_duration_since(due).as_nanos();
        u64::try_from(late / self.interval.as_nanos().max(1)).unwrap_or(u64::MAX)
    }

    /// How long the job waits after so many failures in a row, the last of which asked for `retry_after`; nothing where its
    /// own interval is enough.
    pub(super) fn pause(&self, failures: u32, retry_after: Option<Duration>) -> Option<Duration> {
        let asked = retry_after.map(|after| after.min(BACKOFF_MAX).max(self.interval));
        asked.max(self.backoff(failures))
    }

    /// How long the job waits after so many failures in a row; nothing where its own interval is enough.
    fn backoff(&self, failures: u32) -> Option<Duration> {
        if failures < 2 {
            return None;
        }
        let capped = doubled(self.interval, failures - 1, BACKOFF_MAX).max(self.interval);
        // Up to a tenth less, so that what failed together does not come back together.
        let draw = hash(self.draw, &failures.to_le_bytes());
        Some(capped - part(draw, capped / 10))
    }
}

/// A share of `whole` that follows from `hash`.
fn part(hash: u64, whole: Duration) -> Duration {
    let nanos = u64::try_from(whole.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(hash.checked_rem(nanos).unwrap_or(0))
}

/// FNV-1a with a finishing mix; spreads keys that differ in one digit, and is the same on every machine.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed;
    let mixed =
        bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    let folded = (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    folded ^ (folded >> 29)
}
