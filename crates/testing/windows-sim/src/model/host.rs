use std::sync::{Arc, Mutex, PoisonError};

use ms_dtyp::{FileTime, Guid, Win32Error};
use ms_pcq::types::Lcid;

use super::catalog::aggregates::AggregateForm;
use super::catalog::{CATALOG, Machine, UPDATES, UPDATES_LATER, sample_later, synthetic};
use super::change::{Change, What};
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
    /// So many small countersets more, up to [`super::SYNTHETIC_MAX`].
    pub synthetic: u32,
    /// How countersets are sent that the client has to add up.
    pub aggregates: AggregateForm,
    /// Its language.
    pub language: Lcid,
    /// What is otherwise with its countersets.
    pub changes: Vec<Change>,
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
            synthetic: 0,
            aggregates: AggregateForm::default(),
            language: Lcid::ENGLISH_US,
            changes: Vec::new(),
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
    synthetic: u32,
    language: Lcid,
    changes: Arc<Mutex<Vec<Change>>>,
}

impl Host {
    /// Starts a host.
    #[must_use]
    pub fn new(options: HostOptions) -> Self {
        let HostOptions { seed, clock, boot, processors, services, slots, aggregates, .. } = options;
        let a_day_ago = || FileTime(clock.now().0.saturating_sub((86_400 + 60 * (seed % 240)) * SECOND));
        let boot = boot.unwrap_or_else(a_day_ago);
        Self {
            machine: Machine { seed, processors: processors.max(1), services, slots, aggregates },
            clock,
            boot,
            perf_freq: options.perf_freq.max(64),
            without: options.without,
            synthetic: options.synthetic,
            language: options.language,
            changes: Arc::new(Mutex::new(options.changes)),
        }
    }

    /// Replaces what is otherwise with its countersets, from now on.
    pub fn replace_changes(&self, changes: Vec<Change>) {
        *self.changes.lock().unwrap_or_else(PoisonError::into_inner) = changes;
    }

    /// What is otherwise with a counterset; the first change that holds decides.
    fn change(&self, set: &Counterset, at: &Moment) -> Option<What> {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        let change = changes.iter().find(|change| change.counterset == set.name && change.holds(at));
        change.map(|change| change.what)
    }

    /// A counterset that the host has, whatever happens to it.
    fn known(&self, guid: Guid) -> Option<&'static Counterset> {
        let known = CATALOG.iter().map(|(set, _)| *set).find(|set| set.guid == guid);
        known.filter(|set| !self.is_left_out(set)).or_else(|| synthetic::find(guid, self.synthetic))
    }

    fn is_left_out(&self, set: &Counterset) -> bool {
        self.without.iter().any(|name| name == set.name)
    }
}

impl ValueSource for Host {
    fn countersets(&self) -> Vec<&'static Counterset> {
        let at = self.moment();
        CATALOG
            .iter()
            .map(|(set, _)| *set)
            .filter(|set| !self.is_left_out(set))
            .chain(synthetic::sets(self.synthetic))
            .filter_map(|set| match self.change(set, &at) {
                Some(What::Absent) => None,
                Some(What::Updated) if set.guid == UPDATES.guid => Some(&UPDATES_LATER),
                _ => Some(set),
            })
            .collect()
    }

    fn moment(&self) -> Moment {
        Moment { time: self.clock.now(), boot: self.boot, perf_freq: self.perf_freq }
    }

    fn sample(&self, counterset: Guid, at: &Moment) -> Option<Vec<Sample>> {
        let set = self.counterset(counterset, at)?;
        if std::ptr::eq(set, &UPDATES_LATER) {
            return Some(sample_later(at));
        }
        match CATALOG.iter().find(|(known, _)| known.guid == counterset) {
            Some((_, sample)) => Some(sample(self.machine, at)),
            None => Some(synthetic::sample(set, at)),
        }
    }

    fn counterset(&self, guid: Guid, at: &Moment) -> Option<&'static Counterset> {
        let set = self.known(guid)?;
        match self.change(set, at) {
            Some(What::Absent | What::Stopped) => None,
            Some(What::Updated) if set.guid == UPDATES.guid => Some(&UPDATES_LATER),
            _ => Some(set),
        }
    }

    fn failure(&self, counterset: Guid, at: &Moment) -> Option<Win32Error> {
        match self.change(self.known(counterset)?, at) {
            Some(What::Error(status)) => Some(status),
            _ => None,
        }
    }

    fn language(&self) -> Lcid {
        self.language
    }
}
