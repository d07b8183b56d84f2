use core::fmt;

use jiff::Timestamp;

/// What a set does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunState {
    /// It does not run.
    Stopped,
    /// Its data manager works on the last run, and the next one starts when that is done.
    Queued,
    /// Its collectors are at work.
    Running,
    /// Its data manager works on the last run.
    Compiling,
}

impl RunState {
    pub const ALL: [Self; 4] = [Self::Stopped, Self::Queued, Self::Running, Self::Compiling];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Compiling => "compiling",
        }
    }
}

/// What is to be done now, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Check the limits of the data manager, make the folder, and start all collectors. If that fails,
    /// [`SetRun::handle_start_failed`](crate::SetRun::handle_start_failed).
    StartRun {
        /// The serial number of the run and its first segment.
        serial_number: u32,
        cause: StartCause,
    },
    /// Stop all collectors, and start them again with a new folder and new files, as their names say.
    NextSegment {
        /// The serial number of the new segment.
        serial_number: u32,
        condition: SegmentCondition,
    },
    StopRun {
        /// The serial number of the last segment.
        serial_number: u32,
        reason: StopReason,
    },
    /// Run the data manager. [`SetRun::handle_compiled`](crate::SetRun::handle_compiled) when it is done, or has failed.
    Compile {
        /// The segment that ended.
        serial_number: u32,
        /// Whether the run ended with it; otherwise the set runs on.
        is_last: bool,
    },
}

/// Why a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartCause {
    /// Somebody, or an alert, asked for it.
    Requested,
    /// A schedule, at this moment.
    Scheduled(Timestamp),
    /// It went on when the process ended.
    Resumed,
}

/// Why a segment ends, [MS-PLA] 3.2.4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentCondition {
    /// What documents call `SegmentMaxDuration`.
    Duration,
    /// What documents call `SegmentMaxSize`.
    Size,
    /// What documents call `SegmentMaxRecords`.
    Records,
}

/// Why a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Somebody asked for it.
    Requested,
    /// Its duration is over.
    Duration,
    /// A segment ended, and the set has one only.
    Segment(SegmentCondition),
    /// All collectors are complete.
    Completed,
    /// A segment ended, and there is no serial number for the next one.
    SerialNumbersUsedUp,
}

impl StopReason {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Requested => "requested",
            Self::Duration => "duration",
            Self::Segment(SegmentCondition::Duration) => "segment_duration",
            Self::Segment(SegmentCondition::Size) => "segment_size",
            Self::Segment(SegmentCondition::Records) => "segment_records",
            Self::Completed => "completed",
            Self::SerialNumbersUsedUp => "serial_numbers",
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a set does not start or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// What documents call `PLA_E_DCS_IN_USE`.
    #[error("the set runs already")]
    InUse,
    /// What documents call `PLA_E_DCS_NOT_RUNNING`.
    #[error("the set does not run")]
    NotRunning,
    /// All numbers of 32 bits were used.
    #[error("the set has used its last serial number: give it another name")]
    SerialNumbersUsedUp,
}
