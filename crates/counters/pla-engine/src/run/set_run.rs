//! The life of a set: events in, actions out, no clock. When it runs, begins a segment, is compiled or goes on after a
//! restart.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Action, Moment, RunError, RunState, SetDefinition, StartCause, Starts, StopReason, Written};

/// [MS-PLA] 3.2.4.1: the life of a set: it is stopped, runs segment by segment, and is compiled by its data manager.
///
/// It does nothing itself. Events go in by `handle_…`, each with the moment at which it happened; what is to be done comes out
/// of [`poll_action`](Self::poll_action), after each event, until there is none. [`handle_time`](Self::handle_time) is called at
/// [`next_wake`](Self::next_wake) at the latest. When [`revision`](Self::revision) has changed, the
/// [`snapshot`](Self::snapshot) is stored before the actions are carried out: then no serial number is used twice, even if the
/// process is killed, and [`resume`](Self::resume) goes on with it.
///
/// The clock may be set while a set runs. Runs and segments are measured by the clock that does not go back. Each scheduled
/// start is handled once: it is neither repeated if the clock is set back, nor skipped if the clock is set forward. Of several
/// that are due at once, only the last one is handled, and the others are counted as missed.
///
/// A scheduled run is over `duration` after the time of its schedule, so that a run that begins somewhat late does not take the
/// next one's place; only if all of this time has passed already, it lasts for the whole `duration` all the same.
///
/// ```
/// use std::time::Duration;
/// use jiff::{SignedDuration, Timestamp};
/// use pla_engine::{Action, Collector, Moment, RunState, SetDefinition, SetRun, StartCause, StopReason};
///
/// let wall: Timestamp = "2026-01-31T12:00:00Z".parse()?;
/// let at = |seconds: i32| Moment {
///     wall: wall + SignedDuration::from_secs(seconds.into()),
///     monotonic: Duration::from_secs(seconds.unsigned_abs().into()),
/// };
/// let definition = SetDefinition {
///     duration: Some(Duration::from_secs(60)),
///     collectors: vec![Collector::Counters { records_max: None }],
///     ..SetDefinition::default()
/// };
/// let mut run = SetRun::new(definition, at(0));
/// run.handle_start(at(5))?;
/// assert_eq!(run.poll_action(), Some(Action::StartRun { serial_number: 1, cause: StartCause::Requested }));
/// run.handle_time(at(65));
/// assert_eq!(run.poll_action(), Some(Action::StopRun { serial_number: 1, reason: StopReason::Duration }));
/// assert_eq!(run.state(), RunState::Stopped);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SetRun {
    pub(super) definition: SetDefinition,
    pub(super) starts: Starts,
    pub(super) phase: Phase,
    /// The highest serial number that was used; 0 if there was none.
    pub(super) serial_number: u32,
    pub(super) actions: VecDeque<Action>,
    pub(super) counts: RunCounts,
    pub(super) revision: u64,
    /// The newest time; an event that comes with an earlier one happened now.
    pub(super) monotonic: Duration,
}

/// What has happened since the process started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Runs that were started or resumed.
    pub runs: u64,
    pub segments: u64,
    pub failed_starts: u64,
    /// Scheduled starts that came when the set was running, or its next start was queued. They changed nothing.
    pub ignored_starts: u64,
    /// Scheduled starts whose time was over when the process was started, or that were due together with a later one. More
    /// than 10,000 at once are not counted exactly.
    pub missed_starts: u64,
}

impl RunCounts {
    /// These and those of a later [`SetRun`] of the same set.
    #[must_use]
    pub const fn plus(self, later: Self) -> Self {
        Self {
            runs: self.runs + later.runs,
            segments: self.segments + later.segments,
            failed_starts: self.failed_starts + later.failed_starts,
            ignored_starts: self.ignored_starts + later.ignored_starts,
            missed_starts: self.missed_starts + later.missed_starts,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Phase {
    Stopped,
    Running(Running),
    Compiling { serial_number: u32, queued: Option<StartCause> },
}

#[derive(Clone, Debug)]
pub(super) struct Running {
    /// Of the newest segment.
    pub(super) serial_number: u32,
    pub(super) started: Duration,
    /// How much of its duration was over then.
    pub(super) used: Duration,
    pub(super) ends: Option<Duration>,
    pub(super) segment_ends: Option<Duration>,
    /// For each collector, whether it says that it has collected all.
    pub(super) collected: Vec<bool>,
}

impl SetRun {
    /// A set that has never run. Starts that were due before are not made up for.
    #[must_use]
    pub fn new(definition: SetDefinition, now: Moment) -> Self {
        let starts = Starts::new(&definition, now.wall, &[]);
        Self {
            definition,
            starts,
            phase: Phase::Stopped,
            serial_number: 0,
            actions: VecDeque::new(),
            counts: RunCounts::default(),
            revision: 0,
            monotonic: now.monotonic,
        }
    }

    pub fn handle_time(&mut self, now: Moment) {
        let now = self.observed(now);
        self.end_what_is_over(now);
        let Some(due) = self.starts.take_due(&self.definition, now.wall) else { return };
        self.counts.missed_starts += due.earlier;
        self.revision += 1;
        self.hand_over(now);
        self.start_or_queue(StartCause::Scheduled(due.latest), now);
    }

    /// Somebody, or an alert, asks for a run. While the set is compiled, it is queued.
    ///
    /// # Errors
    /// When the set runs, or will as soon as it is compiled, or has no serial number left.
    pub fn handle_start(&mut self, now: Moment) -> Result<(), RunError> {
        self.handle_time(now);
        match self.state() {
            RunState::Running | RunState::Queued => return Err(RunError::InUse),
            RunState::Stopped | RunState::Compiling => {}
        }
        self.next_serial_number().ok_or(RunError::SerialNumbersUsedUp)?;
        let now = self.observed(now);
        self.start_or_queue(StartCause::Requested, now);
        Ok(())
    }

    /// Somebody asks for the end of the run, or of the start that is queued.
    ///
    /// # Errors
    /// When the set does not run, and no start is queued.
    pub fn handle_stop(&mut self, now: Moment) -> Result<(), RunError> {
        self.handle_time(now);
        match &mut self.phase {
            Phase::Running(_) => self.stop(StopReason::Requested),
            Phase::Compiling { queued, .. } if queued.is_some() => {
                *queued = None;
                self.revision += 1;
            }
            Phase::Stopped | Phase::Compiling { .. } => return Err(RunError::NotRunning),
        }
        Ok(())
    }

    /// A collector has written: so many samples and bytes are in its file of a segment. A segment that is over, or a collector
    /// that there is not, is ignored.
    pub fn handle_written(&mut self, collector: usize, written: Written, now: Moment) {
        self.handle_time(now);
        let Phase::Running(running) = &self.phase else { return };
        let Some(kind) = self.definition.collectors.get(collector) else { return };
        if running.serial_number != written.serial_number {
            return;
        }
        if let Some(condition) = self.definition.condition(*kind, written) {
            self.end_segment(condition);
        }
    }

    /// A collector has collected all, as the configuration of the host.
    pub fn handle_collected(&mut self, collector: usize, serial_number: u32, now: Moment) {
        self.handle_time(now);
        if let Phase::Running(running) = &mut self.phase
            && running.serial_number == serial_number
            && let Some(collected) = running.collected.get_mut(collector)
        {
            *collected = true;
            self.stop_if_complete();
        }
    }

    /// The data manager is done with a segment, or has failed. Only the one that ended a run matters here.
    pub fn handle_compiled(&mut self, serial_number: u32, now: Moment) {
        self.handle_time(now);
        let Phase::Compiling { serial_number: last, queued } = self.phase else { return };
        if last != serial_number {
            return;
        }
        self.phase = Phase::Stopped;
        self.revision += 1;
        if let Some(cause) = queued {
            let now = self.observed(now);
            self.start(cause, now);
        }
    }

    /// A run or a segment could not be started. The set is stopped then; there is nothing to compile.
    pub fn handle_start_failed(&mut self, serial_number: u32, now: Moment) {
        self.handle_time(now);
        if let Phase::Running(running) = &self.phase
            && running.serial_number == serial_number
        {
            self.phase = Phase::Stopped;
            self.counts.failed_starts += 1;
            self.revision += 1;
        }
    }

    /// Serial numbers up to this one turn out to be those of earlier runs: later segments have higher ones.
    pub fn handle_earlier_runs(&mut self, serial_number: u32) {
        if serial_number > self.serial_number {
            self.serial_number = serial_number;
            self.revision += 1;
        }
    }

    /// The definition has changed. A run goes on, with the new limits; starts by the new schedules are those after this moment.
    pub fn handle_definition(&mut self, definition: SetDefinition, now: Moment) {
        self.handle_time(now);
        let now = self.observed(now);
        self.definition = definition;
        self.starts.redefine(&self.definition, now.wall);
        self.revision += 1;
        if let Phase::Running(running) = &mut self.phase {
            let rest =
                |duration: Duration| running.started.saturating_add(duration.saturating_sub(running.used));
            running.ends = self.definition.duration().map(rest);
            let segment = self.definition.segment_duration();
            running.segment_ends = segment.map(|segment| now.monotonic.saturating_add(segment));
            running.collected = vec![false; self.definition.collectors.len()];
            self.end_what_is_over(now);
            self.stop_if_complete();
        }
    }

    /// What is to be done next.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }
}
