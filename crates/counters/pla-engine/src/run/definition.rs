use core::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use sha2::{Digest as _, Sha256};

use super::SegmentCondition;
use crate::{StartSchedule, next_start};

/// The two clocks, read at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The time of day. It may be set to any other.
    pub wall: Timestamp,
    /// The time since any fixed moment, by a clock that does not go back. All durations are measured with it.
    pub monotonic: Duration,
}

/// [MS-PLA] 3.2.4.1: what of a set decides when it runs, and when a run goes on with new files. A limit of 0 is none.
#[derive(Clone, Debug)]
pub struct SetDefinition {
    /// What documents call `Schedules`.
    pub schedules: Vec<StartSchedule>,
    /// `SchedulesEnabled`: without it, the schedules start nothing.
    pub are_schedules_enabled: bool,
    /// The time zone of the schedules.
    pub zone: TimeZone,
    /// `Duration`: how long a run lasts; without it, until it is stopped.
    pub duration: Option<Duration>,
    /// `Segment`: whether a segmentation condition begins a new segment; otherwise it ends the run.
    pub is_segmented: bool,
    /// `SegmentMaxDuration`: a segmentation condition.
    pub segment_duration_max: Option<Duration>,
    /// `SegmentMaxSize`, in bytes of one file: a segmentation condition.
    pub segment_bytes_max: Option<u64>,
    /// The data collectors. Events name them by their place here.
    pub collectors: Vec<Collector>,
    /// `StopOnCompletion`: whether a run ends when all collectors are complete.
    pub stops_on_completion: bool,
    /// `Enabled` of the data manager: whether it works on the data of each segment.
    pub is_managed: bool,
    /// `SerialNumber`: that of the next run, unless a run had it or a higher one. 0 means 1.
    pub serial_number: u32,
}

/// What of a data collector matters to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collector {
    /// [MS-PLA] 3.2.4.6: performance counters.
    Counters {
        /// `SegmentMaxRecords`, in samples of one file: a segmentation condition.
        records_max: Option<u64>,
    },
    /// [MS-PLA] 3.2.4.7: the configuration of the host. It is complete when all is collected.
    Configuration,
    /// [MS-PLA] 3.2.4.8: alerts. They write no file, and are complete from the beginning.
    Alerts,
}

/// What is in the file of a collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    pub serial_number: u32,
    pub records: u64,
    /// Bytes; 0 of a database, and of a circular file, which no size ends.
    pub bytes: u64,
}

impl Default for SetDefinition {
    /// Never starts by itself, runs until it is stopped, and has no collectors; UTC.
    fn default() -> Self {
        Self {
            schedules: Vec::new(),
            are_schedules_enabled: false,
            zone: TimeZone::UTC,
            duration: None,
            is_segmented: false,
            segment_duration_max: None,
            segment_bytes_max: None,
            collectors: Vec::new(),
            stops_on_completion: false,
            is_managed: false,
            serial_number: 0,
        }
    }
}

impl SetDefinition {
    /// The first start by the schedules after a moment.
    #[must_use]
    pub fn next_start(&self, after: Timestamp) -> Option<Timestamp> {
        if self.are_schedules_enabled { next_start(&self.schedules, after, &self.zone) } else { None }
    }

    /// Another text if the starts by the schedules may be others.
    pub(super) fn schedules_digest(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = write!(text, "{} {:?}", self.are_schedules_enabled, self.zone);
        for StartSchedule { first, last, time, week_days } in &self.schedules {
            let _ = write!(text, "; {first:?} {last:?} {time} {week_days}");
        }
        let digest = Sha256::digest(text);
        digest.iter().take(DIGEST_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether a collector writes files. Without one, nothing is segmented and the data manager has nothing to do.
    pub(super) fn has_files(&self) -> bool {
        self.collectors.iter().any(|collector| *collector != Collector::Alerts)
    }

    /// How long a run lasts.
    pub(super) fn duration(&self) -> Option<Duration> {
        self.duration.filter(|duration| !duration.is_zero())
    }

    /// The limit of a segment's time.
    pub(super) fn segment_duration(&self) -> Option<Duration> {
        self.segment_duration_max.filter(|limit| !limit.is_zero() && self.has_files())
    }

    /// The segmentation condition that what a collector has written meets.
    pub(super) fn condition(&self, collector: Collector, written: Written) -> Option<SegmentCondition> {
        let is_reached = |limit: Option<u64>, value| limit.is_some_and(|limit| limit > 0 && value >= limit);
        match collector {
            Collector::Counters { records_max } if is_reached(records_max, written.records) => {
                Some(SegmentCondition::Records)
            }
            Collector::Counters { .. } | Collector::Configuration => {
                Some(SegmentCondition::Size).filter(|_| is_reached(self.segment_bytes_max, written.bytes))
            }
            Collector::Alerts => None,
        }
    }

    /// How much of the duration is over at a moment, for a run that is due since an earlier one. Nothing if all of it is: then
    /// a run that takes place is a whole one.
    pub(super) fn used(&self, due: Timestamp, now: Moment) -> Duration {
        let late = Duration::try_from(now.wall.duration_since(due)).unwrap_or_default();
        if self.duration().is_some_and(|duration| late < duration) { late } else { Duration::ZERO }
    }

    /// Whether the time of a run that was due is not over at a moment.
    pub(super) fn is_current(&self, due: Timestamp, now: Moment) -> bool {
        let late = Duration::try_from(now.wall.duration_since(due)).unwrap_or_default();
        self.duration().is_none_or(|duration| late < duration)
    }

    /// Whether a collector is complete, but for the end of its first segment.
    pub(super) fn is_complete(&self, collector: Collector, is_collected: bool) -> bool {
        match collector {
            Collector::Counters { records_max } => {
                let is_timed = self.duration().is_some() || self.segment_duration().is_some();
                !is_timed
                    && [self.segment_bytes_max, records_max]
                        .iter()
                        .all(|limit| limit.is_none_or(|limit| limit == 0))
            }
            Collector::Configuration => is_collected,
            Collector::Alerts => true,
        }
    }
}

/// Enough to tell definitions of one set apart.
const DIGEST_BYTES: usize = 8;
