//! The data collector sets of a host [MS-PLA]: what is stored, what runs, and since when. Nothing is collected.

mod catalog;
mod generated;
pub mod providers;

use jiff::civil;
use jiff::tz::TimeZone;
use ms_pla::xml::{self, DataCollectorSet, Schedule};
use ms_pla::{Category, DataCollectorSetStatus, WeekDays};
use parking_lot::Mutex;
use wire::FileTime;

pub use self::generated::{COLLECTORS, generated};

use super::population::SECOND;

/// What a client calls a category before the name of a set, where a class has the sets of all of them.
#[must_use]
pub const fn namespace(category: Category) -> &'static str {
    match category {
        Category::Server => "Service",
        Category::System => "System",
        Category::TraceSession => "Session",
        Category::BootTraceSession => "Autosession",
    }
}

/// The category and the name in `Category\Name`; sets without a category are those that clients make.
#[must_use]
pub fn split_namespace(name: &str) -> (Category, &str) {
    let known = Category::ALL.into_iter().find_map(|category| {
        let (prefix, rest) = name.split_once('\\')?;
        prefix.eq_ignore_ascii_case(namespace(category)).then_some((category, rest))
    });
    known.unwrap_or((Category::Server, name))
}

/// Why nothing was done with a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// The set has no name, or one that is longer than the host's file system allows.
    #[error("a data collector set needs a name of 1 to {NAME_LEN_MAX} characters without a category")]
    Name,
    /// There is none with this name.
    #[error("there is no data collector set with this name")]
    NotFound,
    /// There is one with this name.
    #[error("there already is a data collector set with this name")]
    Exists,
    #[error("the data collector set runs")]
    Running,
    /// It does not run.
    #[error("the data collector set does not run")]
    NotRunning,
    /// There are too many.
    #[error("a host has at most {SETS_MAX} data collector sets")]
    TooMany,
}

/// Characters of a set's name.
pub const NAME_LEN_MAX: usize = 255;
/// Sets of a host.
pub const SETS_MAX: usize = 1024;

/// A set that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredSet {
    /// Its category: sets of two categories may have the same name.
    pub category: Category,
    /// Its name, which is compared without regard to case.
    pub name: String,
    /// Its properties. The status, which a clock changes, is no part of them.
    pub set: DataCollectorSet,
    /// When it was started, if it was not stopped since.
    started: Option<FileTime>,
    /// Until when schedules have started it.
    settled: FileTime,
}

impl StoredSet {
    /// Whether it runs. A set with a duration stops by itself.
    #[must_use]
    pub fn is_running(&self, now: FileTime) -> bool {
        let duration = u64::from(self.set.duration_s.unwrap_or(0)) * SECOND;
        self.started.is_some_and(|started| duration == 0 || now.0 < started.0.saturating_add(duration))
    }

    /// Its status, as clients see it.
    #[must_use]
    pub fn status(&self, now: FileTime) -> DataCollectorSetStatus {
        if self.category == Category::BootTraceSession {
            DataCollectorSetStatus::UNDEFINED
        } else if self.is_running(now) {
            DataCollectorSetStatus::RUNNING
        } else {
            DataCollectorSetStatus::STOPPED
        }
    }

    /// Where the data of the next run go.
    #[must_use]
    pub fn output_location(&self) -> String {
        output_location(&self.set)
    }

    fn start(&mut self, now: FileTime) {
        self.set.serial_number = Some(self.set.serial_number.unwrap_or(0).wrapping_add(1));
        self.set.latest_output_location = Some(output_location(&self.set));
        self.started = Some(now);
    }

    /// Starts it as often as its schedules say until now.
    fn settle(&mut self, now: FileTime) {
        if self.category.can_start() && self.set.are_schedules_enabled == Some(true) {
            for _ in 0..SCHEDULED_MAX {
                let starts =
                    self.set.schedules.iter().filter_map(|schedule| next_start(schedule, self.settled));
                let Some(next) = starts.min().filter(|next| *next <= now) else { break };
                if !self.is_running(next) {
                    self.start(next);
                }
                self.settled = next;
            }
        }
        self.settled = self.settled.max(now);
    }

    /// The figures of a trace that runs.
    fn count_buffers(&mut self, now: FileTime) {
        let Some(started) = self.started.filter(|_| self.is_running(now)) else { return };
        let seconds = u32::try_from(now.0.saturating_sub(started.0) / SECOND).unwrap_or(u32::MAX);
        for trace in &mut self.set.traces {
            let buffers = trace.buffers_min.unwrap_or(0).max(BUFFERS);
            trace.buffers = Some(buffers);
            trace.free_buffers = Some(buffers - 1);
            trace.buffers_written = Some(seconds / trace.flush_timer_s.unwrap_or(1).max(1));
            trace.session_thread_id = Some(THREAD_ID);
            for counted in
                [&mut trace.buffers_lost, &mut trace.events_lost, &mut trace.real_time_buffers_lost]
            {
                *counted = Some(counted.unwrap_or(0));
            }
        }
    }
}

/// Starts by schedules that are made up for after a long time; earlier ones are forgotten.
const SCHEDULED_MAX: usize = 1000;
/// Buffers that a trace has at the least.
const BUFFERS: u32 = 6;
/// The thread that writes the buffers of each trace.
const THREAD_ID: u32 = 412;

/// The folder in which a set's data would be now.
#[must_use]
pub fn output_location(set: &DataCollectorSet) -> String {
    let root = set.root_path.as_deref().unwrap_or_default();
    let format = set.subdirectory_format.unwrap_or_default();
    let pattern = set.subdirectory_format_pattern.as_deref().unwrap_or_default();
    let mut folder = set.subdirectory.clone().unwrap_or_default();
    let is_numbered = format.contains(ms_pla::AutoPathFormat::SERIAL_NUMBER)
        || format.contains(ms_pla::AutoPathFormat::PATTERN) && pattern.contains('N');
    if is_numbered {
        let number = format!("{:06}", set.serial_number.unwrap_or(0));
        folder = if folder.is_empty() { number } else { format!("{folder}_{number}") };
    }
    if folder.is_empty() { root.to_owned() } else { format!(r"{root}\{folder}") }
}

/// All sets of a host.
#[derive(Debug, Default)]
pub struct DataCollectorSets(Mutex<Vec<StoredSet>>);

/// How a set is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// Only if there is none with this name.
    New,
    /// Only if there is one with this name.
    Existing,
    Either,
}

impl DataCollectorSets {
    /// What a host has from the beginning.
    #[must_use]
    pub fn standard(now: FileTime, boot: FileTime) -> Self {
        let stored = |(category, set): (Category, DataCollectorSet)| StoredSet {
            category,
            name: set.name.clone().unwrap_or_default(),
            set,
            started: (category == Category::TraceSession).then_some(boot),
            settled: now,
        };
        Self(Mutex::new(catalog::sets().into_iter().map(stored).collect()))
    }

    /// The sets of a category, or all, in the order in which they were stored.
    #[must_use]
    pub fn list(&self, category: Option<Category>, now: FileTime) -> Vec<StoredSet> {
        let mut sets = self.0.lock();
        let wanted = sets.iter_mut().filter(|set| category.is_none_or(|category| category == set.category));
        wanted.map(|set| shown(set, now)).collect()
    }

    /// The set with this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn find(&self, category: Category, name: &str, now: FileTime) -> Result<StoredSet, SetError> {
        Ok(shown(find(&mut self.0.lock(), category, name)?, now))
    }

    /// Starts a set.
    ///
    /// # Errors
    /// When there is none, or it runs.
    pub fn start(&self, category: Category, name: &str, now: FileTime) -> Result<(), SetError> {
        let mut sets = self.0.lock();
        let set = find(&mut sets, category, name)?;
        set.settle(now);
        if set.is_running(now) {
            return Err(SetError::Running);
        }
        set.start(now);
        Ok(())
    }

    /// Stops a set.
    ///
    /// # Errors
    /// When there is none, or it does not run.
    pub fn stop(&self, category: Category, name: &str, now: FileTime) -> Result<(), SetError> {
        let mut sets = self.0.lock();
        let set = find(&mut sets, category, name)?;
        set.settle(now);
        if !set.is_running(now) {
            return Err(SetError::NotRunning);
        }
        set.started = None;
        Ok(())
    }

    /// Stores a set under a name.
    ///
    /// # Errors
    /// When the name is none, or there is a set with it and should not be, or the other way round.
    pub fn store(
        &self,
        category: Category,
        name: &str,
        set: DataCollectorSet,
        store: Store,
        now: FileTime,
    ) -> Result<(), SetError> {
        if !(1..=NAME_LEN_MAX).contains(&name.chars().count()) || split_namespace(name).1 != name {
            return Err(SetError::Name);
        }
        let set = DataCollectorSet { name: Some(name.to_owned()), status: None, ..set };
        let mut sets = self.0.lock();
        let is_full = sets.len() >= SETS_MAX;
        match find(&mut sets, category, name) {
            Ok(_) if store == Store::New => return Err(SetError::Exists),
            Ok(known) => known.set = set,
            Err(_) if store == Store::Existing => return Err(SetError::NotFound),
            Err(_) if is_full => return Err(SetError::TooMany),
            Err(_) => {
                sets.push(StoredSet { category, name: name.to_owned(), set, started: None, settled: now });
            }
        }
        Ok(())
    }

    /// Removes a set.
    ///
    /// # Errors
    /// When there is none, or it runs.
    pub fn remove(&self, category: Category, name: &str, now: FileTime) -> Result<(), SetError> {
        let mut sets = self.0.lock();
        let set = find(&mut sets, category, name)?;
        set.settle(now);
        if set.is_running(now) {
            return Err(SetError::Running);
        }
        let name = set.name.clone();
        sets.retain(|set| set.category != category || set.name != name);
        Ok(())
    }
}

fn find<'a>(
    sets: &'a mut [StoredSet],
    category: Category,
    name: &str,
) -> Result<&'a mut StoredSet, SetError> {
    let is_meant = |set: &&mut StoredSet| set.category == category && is_same(&set.name, name);
    sets.iter_mut().find(is_meant).ok_or(SetError::NotFound)
}

/// [MS-PLA] 3.2.4.1.53: the name is not case sensitive.
fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// A set as it is now.
fn shown(set: &mut StoredSet, now: FileTime) -> StoredSet {
    set.settle(now);
    let mut shown = set.clone();
    shown.count_buffers(now);
    shown
}

/// Days in which each day of the week comes at least once.
const DAYS_LOOKED_AT: usize = 8;

/// [MS-PLA] 3.2.4.12: when a schedule starts its set next after a time. Hosts are in UTC.
///
/// A schedule without days starts it once, on its first day. One without a first day and without days never does.
#[must_use]
pub fn next_start(schedule: &Schedule, after: FileTime) -> Option<FileTime> {
    let days = schedule.days.unwrap_or_default();
    let first = schedule.start_date.and_then(day);
    let last = schedule.end_date.and_then(day).unwrap_or(civil::Date::MAX);
    if days == WeekDays::RUN_ONCE {
        return at(first?, schedule).filter(|start| *start > after);
    }
    let today =
        jiff::Timestamp::from_nanosecond(after.to_unix_nanos()).ok()?.to_zoned_datetime(TimeZone::UTC).date();
    let from = first.map_or(today, |first| first.max(today));
    let dates = from.series(jiff::Span::new().days(1)).take(DAYS_LOOKED_AT);
    let wanted = dates.take_while(|date| *date <= last).filter(|date| days.contains(week_day(*date)));
    wanted.filter_map(|date| at(date, schedule)).find(|start| *start > after)
}

fn day(date: xml::Date) -> Option<civil::Date> {
    let xml::Date { year, month, day } = date;
    civil::Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()
}

fn at(date: civil::Date, schedule: &Schedule) -> Option<FileTime> {
    let (hour, minute, second) =
        schedule.start_time.map_or((0, 0, 0), |time| (time.hour, time.minute, time.second));
    let time = civil::Time::new(hour.try_into().ok()?, minute.try_into().ok()?, second.try_into().ok()?, 0);
    let zoned = date.to_datetime(time.ok()?).to_zoned_datetime(TimeZone::UTC).ok()?;
    Some(FileTime::from_unix_nanos(zoned.timestamp().as_nanosecond()))
}

fn week_day(date: civil::Date) -> WeekDays {
    WeekDays(1 << date.weekday().to_sunday_zero_offset())
}

#[cfg(test)]
mod tests;
