//! How one state becomes another.

use std::time::Duration;

use super::set_run::{Phase, Running, SetRun};
use super::{Action, Moment, SegmentCondition, StartCause, StopReason};

impl SetRun {
    /// The moment, whose monotonic time is no earlier than any before.
    pub(super) fn observed(&mut self, now: Moment) -> Moment {
        self.monotonic = self.monotonic.max(now.monotonic);
        Moment { monotonic: self.monotonic, ..now }
    }

    pub(super) fn start_or_queue(&mut self, cause: StartCause, now: Moment) {
        match &mut self.phase {
            Phase::Stopped => self.start(cause, now),
            Phase::Compiling { queued, .. } if queued.is_none() => {
                *queued = Some(cause);
                self.revision += 1;
            }
            Phase::Running(_) | Phase::Compiling { .. } => self.counts.ignored_starts += 1,
        }
    }

    pub(super) fn start(&mut self, cause: StartCause, now: Moment) {
        let used = match cause {
            StartCause::Scheduled(due) => self.definition.used(due, now),
            StartCause::Requested | StartCause::Resumed => Duration::ZERO,
        };
        self.start_with(cause, used, now);
    }

    /// Starts a run, of whose duration a part is over.
    pub(super) fn start_with(&mut self, cause: StartCause, used: Duration, now: Moment) {
        let Some(serial_number) = self.take_serial_number() else {
            self.counts.failed_starts += 1;
            return;
        };
        let started = now.monotonic;
        self.phase = Phase::Running(Running {
            serial_number,
            started,
            used,
            ends: self
                .definition
                .duration()
                .map(|duration| started.saturating_add(duration.saturating_sub(used))),
            segment_ends: self.definition.segment_duration().map(|segment| started.saturating_add(segment)),
            collected: vec![false; self.definition.collectors.len()],
        });
        self.counts.runs += 1;
        self.counts.segments += 1;
        self.actions.push_back(Action::StartRun { serial_number, cause });
        self.stop_if_complete();
    }

    /// Ends a run or a segment whose time is over.
    pub(super) fn end_what_is_over(&mut self, now: Moment) {
        let Phase::Running(running) = &self.phase else { return };
        let is_over = |end: Option<Duration>| end.is_some_and(|end| end <= now.monotonic);
        if is_over(running.ends) {
            self.stop(StopReason::Duration);
        } else if is_over(running.segment_ends) {
            self.end_segment(SegmentCondition::Duration);
        }
    }

    /// A scheduled run begins when the one before is as good as over: clocks do not run alike.
    pub(super) fn hand_over(&mut self, now: Moment) {
        let Some((ends, duration)) = self.ends().zip(self.definition.duration()) else { return };
        if ends.saturating_sub(now.monotonic) <= HAND_OVER_MAX.min(duration / 10) {
            self.stop(StopReason::Duration);
        }
    }

    /// [MS-PLA] 3.2.4.1, `Segment` and `StopOnCompletion`: a segmentation condition occurred.
    pub(super) fn end_segment(&mut self, condition: SegmentCondition) {
        let Phase::Running(running) = &self.phase else { return };
        let ended = running.serial_number;
        if self.definition.stops_on_completion {
            return self.stop(StopReason::Completed);
        }
        if !self.definition.is_segmented {
            return self.stop(StopReason::Segment(condition));
        }
        let Some(serial_number) = self.take_serial_number() else {
            return self.stop(StopReason::SerialNumbersUsedUp);
        };
        let segment = self.definition.segment_duration();
        let now = self.monotonic;
        if let Phase::Running(running) = &mut self.phase {
            running.serial_number = serial_number;
            // By time, segments follow each other without a drift, unless one was missed.
            let begins =
                running.segment_ends.filter(|_| condition == SegmentCondition::Duration).unwrap_or(now);
            running.segment_ends = segment.map(|segment| {
                let next = begins.saturating_add(segment);
                if next > now { next } else { now.saturating_add(segment) }
            });
        }
        self.counts.segments += 1;
        self.actions.push_back(Action::NextSegment { serial_number, condition });
        if self.definition.is_managed {
            self.actions.push_back(Action::Compile { serial_number: ended, is_last: false });
        }
    }

    /// `StopOnCompletion` of [MS-PLA] 3.2.4.1.
    pub(super) fn stop_if_complete(&mut self) {
        let Phase::Running(running) = &self.phase else { return };
        let mut collectors = self.definition.collectors.iter().zip(&running.collected);
        let is_complete = collectors
            .all(|(collector, is_collected)| self.definition.is_complete(*collector, *is_collected));
        if self.definition.stops_on_completion && is_complete {
            self.stop(StopReason::Completed);
        }
    }

    pub(super) fn stop(&mut self, reason: StopReason) {
        let Phase::Running(running) = &self.phase else { return };
        let serial_number = running.serial_number;
        self.actions.push_back(Action::StopRun { serial_number, reason });
        self.compile_or_stop(serial_number);
    }

    /// A run has ended: the data manager is next, if there is one.
    pub(super) fn compile_or_stop(&mut self, serial_number: u32) {
        if self.definition.is_managed && self.definition.has_files() {
            self.actions.push_back(Action::Compile { serial_number, is_last: true });
            self.phase = Phase::Compiling { serial_number, queued: None };
        } else {
            self.phase = Phase::Stopped;
        }
        self.revision += 1;
    }

    /// The next serial number. None is left when all were used.
    pub(super) fn next_serial_number(&self) -> Option<u32> {
        self.serial_number.checked_add(1).map(|next| next.max(self.definition.serial_number))
    }

    fn take_serial_number(&mut self) -> Option<u32> {
        let next = self.next_serial_number()?;
        self.serial_number = next;
        self.revision += 1;
        Some(next)
    }
}

/// The longest time by which a run is cut short for the next one.
const HAND_OVER_MAX: Duration = Duration::from_secs(10);
