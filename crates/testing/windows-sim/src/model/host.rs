use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use counters::pcq::types::Lcid;
use counters::perflib_v1::write::Data;
use parking_lot::Mutex;
use wire::{FileTime, Guid, Win32Error};

use super::catalog::aggregates::AggregateForm;
use super::catalog::objects::{Figures, OBJECTS};
use super::catalog::{CATALOG, Machine, UPDATES, UPDATES_LATER, sample_later, synthetic};
use super::com_plus::{self, ComProcess};
use super::object::{NameIndexes, PerfObject};
use super::population::SECOND;
use super::schema::{Counterset, Sample};
use super::{Clock, Hardware, Moment, PAGE_FILE_BYTES, ValueSource, intervals_of};

/// What a host of the model is like.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Decides everything that is not an option.
    pub seed: u64,
    pub clock: Clock,
    /// When it was started; without it, a day and some minutes (by the seed) before now.
    pub boot: Option<FileTime>,
    /// Ticks a second of its performance clock; ten million, as on Windows 10 and later.
    pub perf_freq: u64,
    pub processors: u32,
    /// Services that run all the time.
    pub services: u32,
    /// Places in which short-lived processes come and go.
    pub slots: u32,
    pub memory_bytes: u64,
    /// Names of the countersets and objects to leave out.
    pub without: Vec<String>,
    /// Number of small countersets to add, up to [`super::SYNTHETIC_MAX`].
    pub synthetic: u32,
    /// How countersets are sent that the client has to add up.
    pub aggregates: AggregateForm,
    pub language: Lcid,
    /// What is otherwise with its countersets and objects.
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
            memory_bytes: Hardware::default().memory_bytes,
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
    name_indexes: Arc<Mutex<NameIndexes>>,
}

impl Host {
    #[must_use]
    pub fn new(options: HostOptions) -> Self {
        let HostOptions { seed, clock, boot, processors, services, slots, memory_bytes, aggregates, .. } =
            options;
        let a_day_ago = || FileTime(clock.now().0.saturating_sub((86_400 + 60 * (seed % 240)) * SECOND));
        let boot = boot.unwrap_or_else(a_day_ago);
        Self {
            machine: Machine {
                seed,
                processors: processors.max(1),
                services,
                slots,
                memory_bytes,
                aggregates,
            },
            clock,
            boot,
            perf_freq: options.perf_freq.max(64),
            without: options.without,
            synthetic: options.synthetic,
            language: options.language,
            changes: Arc::new(Mutex::new(options.changes)),
            name_indexes: Arc::new(Mutex::new(NameIndexes { shift: 0, last_write: boot })),
        }
    }

    /// Replaces what is otherwise with its countersets and objects, from now on.
    pub fn replace_changes(&self, changes: Vec<Change>) {
        *self.changes.lock() = changes;
    }

    /// Moves all names that not every Windows has by `shift` indexes from where they were at first, as if they had been
    /// installed again in another order.
    pub fn shift_name_indexes(&self, shift: u32) {
        let last_write = self.clock.now();
        *self.name_indexes.lock() = NameIndexes { shift, last_write };
    }

    /// What is otherwise with a counterset or object; the first change that holds decides.
    fn change(&self, name: &str, at: &Moment) -> Option<What> {
        let changes = self.changes.lock();
        let change = changes.iter().find(|change| change.counterset == name && change.holds(at));
        change.map(|change| change.what)
    }

    /// A counterset that the host has, whatever happens to it.
    fn known(&self, guid: Guid) -> Option<&'static Counterset> {
        let known = CATALOG.iter().map(|(set, _)| *set).find(|set| set.guid == guid);
        known.filter(|set| !self.is_left_out(set.name)).or_else(|| synthetic::find(guid, self.synthetic))
    }

    fn is_left_out(&self, name: &str) -> bool {
        self.without.iter().any(|without| without == name)
    }
}

impl ValueSource for Host {
    fn countersets(&self) -> Vec<&'static Counterset> {
        let at = self.moment();
        CATALOG
            .iter()
            .map(|(set, _)| *set)
            .filter(|set| !self.is_left_out(set.name))
            .chain(synthetic::sets(self.synthetic))
            .filter_map(|set| match self.change(set.name, &at) {
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
        match self.change(set.name, at) {
            Some(What::Absent | What::Stopped) => None,
            Some(What::Updated) if set.guid == UPDATES.guid => Some(&UPDATES_LATER),
            _ => Some(set),
        }
    }

    fn failure(&self, counterset: Guid, at: &Moment) -> Option<Win32Error> {
        match self.change(self.known(counterset)?.name, at) {
            Some(What::Error(status)) => Some(status),
            _ => None,
        }
    }

    fn language(&self) -> Lcid {
        self.language
    }

    fn objects(&self) -> Vec<&'static PerfObject> {
        OBJECTS.iter().map(|(object, _)| *object).filter(|object| !self.is_left_out(object.name)).collect()
    }

    fn object_data(&self, object: &PerfObject, at: &Moment) -> Option<Data> {
        let (known, data) = OBJECTS.iter().find(|(known, _)| known.index == object.index)?;
        let is_absent = self.is_left_out(known.name) || self.change(known.name, at).is_some();
        (!is_absent).then(|| data(&Figures::new(self.machine, at)))
    }

    fn name_indexes(&self) -> NameIndexes {
        *self.name_indexes.lock()
    }

    fn com_processes(&self, at: &Moment) -> Vec<ComProcess> {
        com_plus::processes(self.machine.seed, at)
    }

    fn hardware(&self) -> Hardware {
        let Machine { processors, memory_bytes, .. } = self.machine;
        Hardware { processors, memory_bytes, page_file_bytes: PAGE_FILE_BYTES }
    }
}

/// Something that is otherwise with one counterset or object, always or at times of the host's clock.
///
/// As text `COUNTERSET=WHAT[@PERIOD/LENGTH]`: `GPU Engine=absent@10m/4m` takes the counterset away for the last four
/// minutes of each ten minutes of uptime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The counterset's or object's English name. Of an object all that happens is that it is absent from the data.
    pub counterset: String,
    pub what: What,
    /// From one time to the next, and how long it takes; `None` for always.
    pub every: Option<(Duration, Duration)>,
}

/// What can be otherwise with a counterset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// `absent`: it is not registered. Nothing enumerates it, and whoever asks for it is told so.
    Absent,
    /// `stopped`: its provider does not run. It is enumerated, and that is all.
    Stopped,
    /// `error:STATUS`: its provider fails, and its blocks say so.
    Error(Win32Error),
    /// `updated`: a newer provider has registered more counters. For the counterset `Updates` alone.
    Updated,
}

/// Why a text is no [`Change`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a change is COUNTERSET=WHAT[@PERIOD/LENGTH], such as 'GPU Engine=absent@10m/4m': {0}")]
pub struct ParseChangeError(String);

impl Change {
    /// Whether it is so at this moment.
    pub(super) fn holds(&self, at: &Moment) -> bool {
        self.every.is_none_or(|(period, length)| {
            let (period, length) = (intervals_of(period).max(1), intervals_of(length));
            at.uptime_100ns() % period >= period.saturating_sub(length)
        })
    }
}

impl FromStr for Change {
    type Err = ParseChangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = |what: &str| ParseChangeError(what.to_owned());
        let (counterset, change) = text.rsplit_once('=').ok_or_else(|| invalid("there is no `=`"))?;
        let (what, every) = match change.split_once('@') {
            Some((what, every)) => (what, Some(parse_every(every)?)),
            None => (change, None),
        };
        let what: What = what.parse()?;
        if what == What::Updated && counterset != UPDATES.name {
            return Err(ParseChangeError(format!("only `{}` can be updated", UPDATES.name)));
        }
        Ok(Self { counterset: counterset.to_owned(), what, every })
    }
}

fn parse_every(text: &str) -> Result<(Duration, Duration), ParseChangeError> {
    let duration = |text: &str| {
        humantime::parse_duration(text).map_err(|_| ParseChangeError(format!("`{text}` is not a valid time")))
    };
    let (period, length) = text
        .split_once('/')
        .ok_or_else(|| ParseChangeError("there is no `/` behind the period".to_owned()))?;
    let (period, length) = (duration(period)?, duration(length)?);
    if period.is_zero() || length > period {
        return Err(ParseChangeError("the length is more than the period".to_owned()));
    }
    Ok((period, length))
}

impl FromStr for What {
    type Err = ParseChangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':').unwrap_or((text, "")) {
            ("absent", "") => Ok(Self::Absent),
            ("stopped", "") => Ok(Self::Stopped),
            ("updated", "") => Ok(Self::Updated),
            ("error", status) => {
                let status =
                    status.parse().map_err(|_| ParseChangeError(format!("`{status}` is no status")))?;
                Ok(Self::Error(Win32Error(status)))
            }
            _ => Err(ParseChangeError(format!("there is no change `{text}`"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::FileTime;

    use super::*;

    #[test]
    fn a_change_with_a_period_holds_at_the_end_of_each() {
        let change: Change = "GPU Engine=absent@10m/4m".parse().unwrap();
        let at = |minutes: u64| {
            let time = FileTime(minutes * 60 * FileTime::INTERVALS_PER_SECOND);
            change.holds(&Moment { time, boot: FileTime(0), perf_freq: 1 })
        };
        assert_eq!([0, 5, 6, 9, 10, 16].map(at), [false, false, true, true, false, true]);
    }

    #[test]
    fn a_change_that_is_none_says_which_part_is_wrong() {
        let error = |text: &str| text.parse::<Change>().unwrap_err().to_string();
        assert!(error("Workers").ends_with("there is no `=`"));
        assert!(error("Workers=gone").ends_with("there is no change `gone`"));
        assert!(error("Workers=error:x").ends_with("`x` is no status"));
        assert!(error("Workers=updated").ends_with("only `Updates` can be updated"));
        assert!(error("Workers=absent@1m").ends_with("there is no `/` behind the period"));
        assert!(error("Workers=absent@1m/2m").ends_with("the length is more than the period"));
    }
}
