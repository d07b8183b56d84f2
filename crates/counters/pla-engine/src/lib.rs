//! What Windows' service for performance logs and alerts does with data collector sets, [MS-PLA] 3.2.4: their alerts are judged
//! on samples, and their runs begin by schedules, go on segment by segment, and end.
//!
//! No input or output, and no clock: samples and the time are arguments. The time is the time since any fixed moment, by a
//! clock that does not go back; schedules also need the time of day ([`Moment`]). What the document leaves open is settled in
//! `gaps.toml`.
//!
//! ```
//! use std::time::Duration;
//! use counter_types::{CounterType, RawClocks, Reading};
//! use pla_engine::{AlertState, Judge, Rule, Threshold};
//!
//! let threshold: Threshold = r"\Processor(*)\% Processor Time > 80".parse()?;
//! let mut judge = Judge::new(Rule::new(threshold, Duration::from_secs(15)));
//! let total = judge.instance("_Total", Duration::from_secs(100)).ok_or("too many instances")?;
//!
//! let busy_100ns = |seconds: u64, value| {
//!     let clocks = RawClocks { time_100ns: seconds * 10_000_000, ..RawClocks::default() };
//!     Reading { value, base: None, clocks }
//! };
//! let busy = CounterType::PERF_100NSEC_TIMER;
//! // A share of the time needs two samples.
//! assert_eq!(judge.sample(total, busy, &busy_100ns(100, 0), Duration::from_secs(100)), None);
//! assert_eq!(judge.state(total).state, AlertState::Waiting);
//! let trigger = judge.sample(total, busy, &busy_100ns(115, 135_000_000), Duration::from_secs(115)).ok_or("90 %")?;
//! assert_eq!((trigger.value, judge.state(total).state), (90.0, AlertState::Firing));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | what | where |
//! | --- | --- |
//! | the text of a threshold | [`Threshold`] |
//! | states, and when they change | [`Judge`], [`AlertState`] |
//! | when a set starts by its schedules, in a time zone | [`StartSchedule`], [`next_start`] |
//! | when a set runs, and what is to be done then | [`SetDefinition`], [`SetRun`], [`Action`] |
//! | what of a run outlives the process | [`RunSnapshot`] |
//! | the names of files and folders | [`NameFormat`], [`PathPattern`] |
//! | the arguments of the task that an alert starts | [`TaskArguments`] |
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod judge;
mod judgement;
mod name_format;
mod path_pattern;
mod run;
mod schedule;
mod task_arguments;
mod threshold;

pub use self::judge::{INSTANCES_MAX, Judge, Rule, Slot, Trigger};
pub use self::judgement::{AlertState, Judgement};
pub use self::name_format::{NameFormat, NameParts};
pub use self::path_pattern::{PathPattern, PathPatternError};
pub use self::run::{
    Action, Collector, Moment, QueuedSnapshot, RunCounts, RunError, RunSnapshot, RunState, RunningSnapshot,
    SegmentCondition, SetDefinition, SetRun, StartCause, StopReason, Written,
};
pub use self::schedule::{StartSchedule, next_start};
pub use self::task_arguments::{TaskArguments, TaskArgumentsError, TaskValues};
pub use self::threshold::{Comparison, Threshold, ThresholdError};
