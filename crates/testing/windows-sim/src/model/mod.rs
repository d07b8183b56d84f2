//! What a host counts: countersets, instances that come and go, and values that are functions of seed and clock.

pub(crate) mod catalog;
mod com_plus;
pub mod data_collector_sets;
mod host;
mod object;
mod population;
mod schema;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use counters::pcq::types::Lcid;
use wire::{FileTime, Guid, Win32Error};

pub use self::catalog::aggregates::{self, AggregateForm};
pub use self::catalog::counter_types;
pub use self::catalog::synthetic::SYNTHETIC_MAX;
pub use self::com_plus::{CALL_SECONDS, ComComponent, ComContainer, ComProcess, RecentCalls};
pub use self::host::{Change, Host, HostOptions, ParseChangeError, What};
pub use self::object::{BASE_INDEX_LAST, NameIndexes, PerfCounter, PerfObject};
pub use self::schema::{Counter, Counterset, Provider, Sample, Value};
pub use counters::perflib_v1::write::{Data, Instance};

/// Where the values of a host come from: the model, or this machine.
pub trait ValueSource: Send + Sync {
    /// The countersets that are registered, in the order in which they are enumerated.
    fn countersets(&self) -> Vec<&'static Counterset>;

    /// The instant to compute a reply for.
    fn moment(&self) -> Moment;

    /// All instances of a counterset at that instant, or nothing where the counterset is not registered.
    fn sample(&self, counterset: Guid, at: &Moment) -> Option<Vec<Sample>>;

    /// The counterset with this GUID, as it is registered at that instant and while its provider runs.
    fn counterset(&self, guid: Guid, _at: &Moment) -> Option<&'static Counterset> {
        self.countersets().into_iter().find(|set| set.guid == guid)
    }

    /// What the provider of a counterset answers instead of values, where it fails.
    fn failure(&self, _counterset: Guid, _at: &Moment) -> Option<Win32Error> {
        None
    }

    /// The language of the host, for who asks for none.
    fn language(&self) -> Lcid {
        Lcid::ENGLISH_US
    }

    /// The objects of version 1 whose names are installed. None by default.
    fn objects(&self) -> Vec<&'static PerfObject> {
        Vec::new()
    }

    /// The values of an object at that instant, or nothing where its provider is disabled or fails.
    fn object_data(&self, _object: &PerfObject, _at: &Moment) -> Option<Data> {
        None
    }

    /// Which indexes the names of objects and counters have now.
    fn name_indexes(&self) -> NameIndexes {
        NameIndexes::default()
    }

    /// The processes of COM+ applications at that instant. None by default.
    fn com_processes(&self, _at: &Moment) -> Vec<ComProcess> {
        Vec::new()
    }

    /// What the host is built of.
    fn hardware(&self) -> Hardware {
        Hardware::default()
    }
}

/// What a host is built of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hardware {
    pub processors: u32,
    pub memory_bytes: u64,
    /// The page file on `C:`.
    pub page_file_bytes: u64,
}

impl Default for Hardware {
    fn default() -> Self {
        Self { processors: 4, memory_bytes: 16 << 30, page_file_bytes: PAGE_FILE_BYTES }
    }
}

/// The page file of each host.
pub(crate) const PAGE_FILE_BYTES: u64 = 2 << 30;

/// Where the simulated hosts take their time from. Clones share one clock.
///
/// The wall clock is the default of the binary. A clock that begins at a given instant stands still unless it is
/// given a speed, so that two clients that ask one after the other see the same values.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    Wall,
    Running { origin: FileTime, started: Instant, speed: f64 },
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// The machine's own time.
    #[must_use]
    pub const fn wall() -> Self {
        Self(Source::Wall)
    }

    /// Begins at `origin` now and runs `speed` times as fast as real time; 0 stands still.
    #[must_use]
    pub fn starting_at(origin: FileTime, speed: f64) -> Self {
        Self(Source::Running { origin, started: Instant::now(), speed: speed.max(0.0) })
    }

    /// Stands at `origin` until [`Clock::advance`] is called.
    #[must_use]
    pub fn manual(origin: FileTime) -> Self {
        Self(Source::Manual(Arc::new(AtomicU64::new(origin.0))))
    }

    /// Moves a manual clock forward; the others go by themselves.
    pub fn advance(&self, by: std::time::Duration) {
        if let Source::Manual(intervals) = &self.0 {
            intervals.fetch_add(intervals_of(by), Ordering::Relaxed);
        }
    }

    #[must_use]
    pub fn now(&self) -> FileTime {
        match &self.0 {
            Source::Wall => {
                let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                FileTime(FileTime::UNIX_EPOCH.0 + intervals_of(since_1970))
            }
            Source::Running { origin, started, speed } => {
                FileTime(origin.0 + intervals_of(started.elapsed().mul_f64(*speed)))
            }
            Source::Manual(intervals) => FileTime(intervals.load(Ordering::Relaxed)),
        }
    }
}

fn intervals_of(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos() / 100).unwrap_or(u64::MAX / 2)
}

/// One instant of one host, as its clocks show it. All values of a reply are computed for one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The time of day.
    pub time: FileTime,
    /// When the host was started.
    pub boot: FileTime,
    /// Ticks a second of the host's performance clock.
    pub perf_freq: u64,
}

impl Moment {
    /// 100-nanosecond intervals since the host was started.
    #[must_use]
    pub const fn uptime_100ns(&self) -> u64 {
        self.time.0.saturating_sub(self.boot.0)
    }

    /// The performance clock. It counts from the start of the host, as on Windows.
    #[must_use]
    pub fn perf_time(&self) -> u64 {
        scale(self.uptime_100ns(), self.perf_freq, FileTime::INTERVALS_PER_SECOND)
    }
}

/// `value * numerator / denominator` without overflow in between, rounded down.
#[must_use]
pub fn scale(value: u64, numerator: u64, denominator: u64) -> u64 {
    let wide = u128::from(value) * u128::from(numerator) / u128::from(denominator.max(1));
    u64::try_from(wide).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_without_speed_stands_still_and_a_manual_one_moves_when_told() {
        let standing = Clock::starting_at(FileTime(42), 0.0);
        assert_eq!((standing.now(), standing.now()), (FileTime(42), FileTime(42)));
        let manual = Clock::manual(FileTime(42));
        manual.clone().advance(Duration::from_micros(1));
        assert_eq!(manual.now(), FileTime(52));
    }

    #[test]
    fn the_performance_clock_counts_from_the_start_of_the_host() {
        let moment =
            Moment { time: FileTime(1_000 + 25_000_000), boot: FileTime(1_000), perf_freq: 3_579_545 };
        assert_eq!(moment.perf_time(), 8_948_862);
    }
}
