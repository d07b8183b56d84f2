//! When a set runs, [MS-PLA] 3.2.4.1.

mod action;
mod definition;
mod resume;
mod set_run;
mod starts;
mod transitions;
mod view;

pub use self::action::{Action, RunError, RunState, SegmentCondition, StartCause, StopReason};
pub use self::definition::{Collector, Moment, SetDefinition, Written};
pub use self::set_run::{RunCounts, SetRun};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

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
