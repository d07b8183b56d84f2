use ms_dtyp::{FileTime, Guid};

use super::catalog::{CATALOG, Entry, Machine};
use super::clock::{Clock, Moment};
use super::population::SECOND;
use super::schema::{Counterset, Sample};

/// Where the values of a host come from: the model, or this machine.
pub trait ValueSource: Send + Sync {
    /// The countersets that are registered, in the order in which they are enumerated.
    fn countersets(&self) -> Vec<&'static Counterset>;

    /// The instant to compute a reply for.
    fn moment(&self) -> Moment;

    /// All instances of a counterset at that instant, or nothing where the counterset is not registered.
    fn sample(&self, counterset: Guid, at: &Moment) -> Option<Vec<Sample>>;

    /// The counterset with this GUID.
    fn counterset(&self, guid: Guid) -> Option<&'static Counterset> {
        self.countersets().into_iter().find(|set| set.guid == guid)
    }
}

/// What a host of the model is like.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Decides everything that is not an option.
    pub seed: u64,
    /// Its time.
    pub clock: Clock,
    /// When it was started; without it, a day and some minutes (by the seed) before now.
    pub boot: Option<FileTime>,
    /// Ticks a second of its performance clock; ten million, as on Windows 10 and later.
    pub perf_freq: u64,
    /// Logical processors.
    pub processors: u32,
    /// Services that run all the time.
    pub services: u32,
    /// Places in which short-lived processes come and go.
    pub slots: u32,
    /// Names of the countersets to leave out.
    pub without: Vec<String>,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            clock: Clock::wall(),
            boot: None,
            perf_freq: 10_000_000,
            processors: 4,
            services: 8,
            slots: 6,
            without: Vec::new(),
        }
    }
}

/// A host of the model. Small: what it answers is computed when it is asked.
#[derive(Clone, Debug)]
pub struct Host {
    machine: Machine,
    clock: Clock,
    boot: FileTime,
    perf_freq: u64,
    without: Vec<String>,
}

impl Host {
    /// Starts a host.
    #[must_use]
    pub fn new(options: HostOptions) -> Self {
        let HostOptions { seed, clock, boot, perf_freq, processors, services, slots, without } = options;
        let a_day_ago = || FileTime(clock.now().0.saturating_sub((86_400 + 60 * (seed % 240)) * SECOND));
        let boot = boot.unwrap_or_else(a_day_ago);
        let machine = Machine { seed, processors: processors.max(1), services, slots };
        Self { machine, clock, boot, perf_freq: perf_freq.max(64), without }
    }

    fn entries(&self) -> impl Iterator<Item = &'static Entry> {
        CATALOG.iter().filter(|(set, _)| !self.without.iter().any(|name| name == set.name))
    }
}

impl ValueSource for Host {
    fn countersets(&self) -> Vec<&'static Counterset> {
        self.entries().map(|&(set, _)| set).collect()
    }

    fn moment(&self) -> Moment {
        Moment { time: self.clock.now(), boot: self.boot, perf_freq: self.perf_freq }
    }

    fn sample(&self, counterset: Guid, at: &Moment) -> Option<Vec<Sample>> {
        let (_, sample) = self.entries().find(|(set, _)| set.guid == counterset)?;
        Some(sample(self.machine, at))
    }
}
