//! When a set runs, [MS-PLA] 3.2.4.1.

mod action;
mod definition;
mod set_run;
mod transitions;

use std::collections::VecDeque;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use self::action::{Action, RunError, RunState, SegmentCondition, StartCause, StopReason};
pub use self::definition::{Collector, Moment, SetDefinition, Written};
pub use self::set_run::{RunCounts, SetRun};

use self::set_run::Phase;

/// What of a [`SetRun`](crate::SetRun) outlives the process. As JSON, it has less than 8 KiB.
///
/// Nothing in it is believed beyond what it says: a snapshot that was changed by hand may start runs or skip them, and nothing
/// else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSnapshot {
    /// The highest serial number that a run or a segment had; 0 if there was none.
    pub serial_number: u32,
    /// A digest of the schedules. Starts of the meantime are made up for only if it is the same.
    pub schedules: String,
    /// Until when scheduled starts were looked for.
    pub considered: Timestamp,
    /// The newest scheduled starts that a run was started for, or that found the set running.
    pub handled: Vec<Timestamp>,
    /// The run that goes on.
    pub running: Option<RunningSnapshot>,
    /// The segment that the data manager works on after the end of a run.
    pub compiling: Option<u32>,
    /// The start that waits for that.
    pub queued: Option<QueuedSnapshot>,
}

/// A run that goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunningSnapshot {
    /// The serial number of its newest segment.
    pub serial_number: u32,
    /// When it ends; none is when it is stopped.
    pub ends: Option<Timestamp>,
}

/// A start that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueuedSnapshot {
    /// The scheduled start; none if somebody asked for it.
    pub scheduled: Option<Timestamp>,
}

// What a set does, and when it does something next.

impl SetRun {
    /// The monotonic time at which [`handle_time`](Self::handle_time) is to be called at the latest: at most a minute from now,
    /// because the clock may be set at any time.
    #[must_use]
    pub fn next_wake(&self, now: Moment) -> Duration {
        let (ends, segment_ends) = match &self.phase {
            Phase::Running(running) => (running.ends, running.segment_ends),
            Phase::Stopped | Phase::Compiling { .. } => (None, None),
        };
        let start = self.starts.upcoming().map(|start| {
            now.monotonic
                .saturating_add(Duration::try_from(start.duration_since(now.wall)).unwrap_or_default())
        });
        let latest = now.monotonic.saturating_add(WAKE_MAX);
        [ends, segment_ends, start].into_iter().flatten().fold(latest, Duration::min)
    }

    /// What the set does.
    #[must_use]
    pub const fn state(&self) -> RunState {
        match &self.phase {
            Phase::Stopped => RunState::Stopped,
            Phase::Running(_) => RunState::Running,
            Phase::Compiling { queued: Some(_), .. } => RunState::Queued,
            Phase::Compiling { queued: None, .. } => RunState::Compiling,
        }
    }

    /// The serial number of the newest run or segment, if there was one.
    #[must_use]
    pub fn serial_number(&self) -> Option<u32> {
        Some(self.serial_number).filter(|number| *number > 0)
    }

    /// When it starts next by its schedules. While it runs, that start will change nothing.
    #[must_use]
    pub const fn next_start(&self) -> Option<Timestamp> {
        self.starts.upcoming()
    }

    /// The monotonic time at which the run ends, if it runs and does not go on until it is stopped.
    #[must_use]
    pub const fn ends(&self) -> Option<Duration> {
        match &self.phase {
            Phase::Running(running) => running.ends,
            Phase::Stopped | Phase::Compiling { .. } => None,
        }
    }

    /// What has happened since the process started.
    #[must_use]
    pub const fn counts(&self) -> RunCounts {
        self.counts
    }

    #[must_use]
    pub const fn definition(&self) -> &SetDefinition {
        &self.definition
    }

    /// Another number than before if a snapshot is to be stored.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }
}

/// The longest time between two calls with the time.
const WAKE_MAX: Duration = Duration::from_secs(60);

// When a set starts, and what happens to that when the clock is set.

/// Which scheduled starts are due, so that none is handled twice, whatever becomes of the clock.
///
/// A start is known by its moment. A clock that is set back shows earlier moments again: those that were handled are passed
/// over, and those that were only skipped when it was set forward are due again.
#[derive(Clone, Debug)]
struct Starts {
    /// Starts until here were looked for.
    considered: Timestamp,
    /// The newest ones that were handled, at most [`HANDLED_MAX`].
    handled: VecDeque<Timestamp>,
    /// The first after `considered` that was not handled.
    upcoming: Option<Timestamp>,
}

/// Starts that are due at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DueStarts {
    /// The newest one, which is handled now.
    latest: Timestamp,
    /// How many there were before it.
    earlier: u64,
}

impl Starts {
    /// Looks for starts after a moment.
    fn new(definition: &SetDefinition, considered: Timestamp, handled: &[Timestamp]) -> Self {
        let newest = &handled[handled.len().saturating_sub(HANDLED_MAX)..];
        let mut starts = Self { considered, handled: newest.iter().copied().collect(), upcoming: None };
        starts.upcoming = starts.search(definition);
        starts
    }

    const fn upcoming(&self) -> Option<Timestamp> {
        self.upcoming
    }

    const fn considered(&self) -> Timestamp {
        self.considered
    }

    fn handled(&self) -> Vec<Timestamp> {
        self.handled.iter().copied().collect()
    }

    /// Another definition holds from now on.
    fn redefine(&mut self, definition: &SetDefinition, now: Timestamp) {
        self.considered = now;
        self.upcoming = self.search(definition);
    }

    /// Takes those that are due.
    fn take_due(&mut self, definition: &SetDefinition, now: Timestamp) -> Option<DueStarts> {
        if now < self.considered {
            self.redefine(definition, now);
            return None;
        }
        let mut due: Option<DueStarts> = None;
        while let Some(latest) = self.upcoming.filter(|start| *start <= now) {
            let earlier = due.map_or(0, |due| due.earlier + 1);
            due = Some(DueStarts { latest, earlier });
            // The last of them is wanted, however many there are.
            let skipped = if earlier < COUNTED_MAX { None } else { now.checked_sub(RECENT).ok() };
            self.considered = skipped.map_or(latest, |skipped| skipped.max(latest));
            self.upcoming = self.search(definition);
        }
        self.considered = now;
        if let Some(due) = due {
            if self.handled.len() >= HANDLED_MAX {
                self.handled.pop_front();
            }
            self.handled.push_back(due.latest);
        }
        due
    }

    fn search(&self, definition: &SetDefinition) -> Option<Timestamp> {
        let mut start = definition.next_start(self.considered)?;
        while self.handled.contains(&start) {
            start = definition.next_start(start)?;
        }
        Some(start)
    }
}

/// A set that starts once a day remembers four months.
const HANDLED_MAX: usize = 128;
/// More are not counted one by one.
const COUNTED_MAX: u64 = 10_000;
/// Within this, a schedule that is not over has a start.
const RECENT: SignedDuration = SignedDuration::from_hours(9 * 24);

impl SetRun {
    /// What is to be stored, as of a moment.
    #[must_use]
    pub fn snapshot(&self, now: Moment) -> RunSnapshot {
        let (running, compiling, queued) = match &self.phase {
            Phase::Stopped => (None, None, None),
            Phase::Running(running) => {
                let ends = running.ends.map(|ends| {
                    let rest = ends.saturating_sub(now.monotonic);
                    now.wall.checked_add(rest).unwrap_or(Timestamp::MAX)
                });
                (Some(RunningSnapshot { serial_number: running.serial_number, ends }), None, None)
            }
            Phase::Compiling { serial_number, queued } => {
                let scheduled = |cause: &StartCause| match cause {
                    StartCause::Scheduled(due) => Some(*due),
                    StartCause::Requested | StartCause::Resumed => None,
                };
                let queued = queued.as_ref().map(|cause| QueuedSnapshot { scheduled: scheduled(cause) });
                (None, Some(*serial_number), queued)
            }
        };
        RunSnapshot {
            serial_number: self.serial_number,
            schedules: self.definition.schedules_digest(),
            considered: self.starts.considered(),
            handled: self.starts.handled(),
            running,
            compiling,
            queued,
        }
    }

    /// Goes on where a process ended.
    ///
    /// A run whose time is not over starts again at once, for the rest of its time, with a new serial number. A data manager
    /// that was at work is run again. Of the scheduled starts of the meantime, the last one is made up for: if its run would
    /// not be over yet, it starts for the rest of its time; otherwise it was missed. Those that would have found the set
    /// running change nothing. If the schedules are not those of the snapshot, there are none.
    #[must_use]
    pub fn resume(definition: SetDefinition, snapshot: &RunSnapshot, now: Moment) -> Self {
        let mut run = Self::new(definition, now);
        run.serial_number = snapshot.serial_number;
        let is_same = snapshot.schedules == run.definition.schedules_digest();
        let considered = if is_same { snapshot.considered } else { now.wall };
        run.starts = Starts::new(&run.definition, considered, &snapshot.handled);
        if let Some(serial_number) = snapshot.compiling {
            run.compile_or_stop(serial_number);
            if let Some(queued) = snapshot.queued {
                let cause = queued.scheduled.map_or(StartCause::Requested, StartCause::Scheduled);
                run.start_or_queue(cause, now);
            }
        } else if let Some(running) = snapshot.running {
            run.resume_running(running, now);
        }
        run.make_up(now);
        run
    }

    fn resume_running(&mut self, running: RunningSnapshot, now: Moment) {
        self.serial_number = self.serial_number.max(running.serial_number);
        let rest =
            running.ends.map(|ends| Duration::try_from(ends.duration_since(now.wall)).unwrap_or_default());
        if rest.is_some_and(|rest| rest.is_zero()) {
            // The starts until its end found it running.
            let ended =
                running.ends.map_or(now.wall, |ends| ends.min(now.wall)).max(self.starts.considered());
            let found_running = self.starts.take_due(&self.definition, ended);
            self.counts.ignored_starts += found_running.map_or(0, |due| due.earlier + 1);
            return self.compile_or_stop(running.serial_number);
        }
        let duration = self.definition.duration().unwrap_or_default();
        let used = rest.map_or(Duration::ZERO, |rest| duration.saturating_sub(rest));
        self.start_with(StartCause::Resumed, used, now);
        if self.definition.is_managed && self.definition.has_files() {
            self.actions.push_back(Action::Compile { serial_number: running.serial_number, is_last: false });
        }
    }

    /// Handles the scheduled starts of the time without a process.
    fn make_up(&mut self, now: Moment) {
        let Some(due) = self.starts.take_due(&self.definition, now.wall) else { return };
        self.revision += 1;
        if matches!(self.phase, Phase::Running(_)) {
            self.counts.ignored_starts += due.earlier + 1;
        } else if self.definition.is_current(due.latest, now) {
            self.counts.missed_starts += due.earlier;
            self.start_or_queue(StartCause::Scheduled(due.latest), now);
        } else {
            self.counts.missed_starts += due.earlier + 1;
        }
    }
}
