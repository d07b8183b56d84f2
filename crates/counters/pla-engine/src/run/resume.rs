//! How a run outlives the process.

use std::time::Duration;

use jiff::Timestamp;

use super::set_run::{Phase, SetRun};
use super::{Moment, QueuedSnapshot, RunSnapshot, RunningSnapshot, SetDefinition, StartCause, Starts};
use crate::Action;

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
