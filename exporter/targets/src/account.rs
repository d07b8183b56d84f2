use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use plugin_abi::{Completion, Failure, GeneralReason, Outcome, Stage, StageReport};

use super::health::TargetHealth;
use crate::schedule::Ending;

/// What one stage cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageCost {
    pub duration: Duration,
    /// Calls to the target.
    pub calls: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// Why a target, or one module on it, is down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Down {
    /// The module that said so.
    pub module: String,
    pub stage: Stage,
    /// Why, as a word.
    pub reason: String,
    /// What happened, as a sentence.
    pub sentence: String,
    /// Details; may be empty.
    pub message: String,
    pub next_step: String,
}

impl Down {
    /// `deadline` is what the collection might have taken; `is_first` says that none succeeded yet.
    pub(super) fn new(module: &str, failure: &Failure, deadline: Duration, is_first: bool) -> Self {
        Self {
            module: module.to_owned(),
            stage: failure.stage,
            reason: failure.reason.as_str().to_owned(),
            sentence: failure.reason.sentence().to_owned(),
            message: failure.message.clone(),
            next_step: next_step(failure, deadline, is_first),
        }
    }

    /// What happened: the details, or the sentence where there are none.
    #[must_use]
    pub fn detail(&self) -> &str {
        if self.message.is_empty() { &self.sentence } else { &self.message }
    }

    /// Whether it is the same trouble, whatever its details.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.stage, &self.reason) == (other.stage, &other.reason)
    }
}

/// The command that says more of a reason.
pub fn help(reason: &str) -> String {
    format!("perfmon-exporter explain {reason}")
}

/// What to do about the failure of a collection that might take `deadline`. Where that was too short, it says so: the
/// first one, which also learns what the target has, takes longer than those that follow.
pub fn next_step(failure: &Failure, deadline: Duration, is_first: bool) -> String {
    let is_late = failure.reason.as_str() == GeneralReason::Timeout.as_str() && failure.stage > Stage::Tcp;
    if !is_late {
        return failure.reason.next_step().to_owned();
    }
    // Nobody reads fractions of a millisecond.
    let deadline = Duration::from_millis(u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX));
    let deadline = humantime::format_duration(deadline);
    let first = if is_first { ", the first collection more than the others" } else { "" };
    format!(
        "Check that the host is up and that no firewall drops packets; if it is only slow, it needs more \
         time than {deadline}{first}: raise `deadline`, and `interval` if that is shorter."
    )
}

/// What is known of one module on one target.
#[derive(Clone, Debug, Default)]
pub struct JobStatus {
    /// Since when a collection runs, if one does.
    pub running_since: Option<Instant>,
    /// How long that, or the last one, may take.
    pub deadline: Duration,
    /// When the last one ended.
    pub ended: Option<Instant>,
    /// How long the last one took.
    pub last_duration: Option<Duration>,
    /// When the last one that did not fail ended, in Unix seconds.
    pub last_success_unix_s: Option<f64>,
    /// Why the last one failed.
    pub down: Option<Down>,
    /// Whether the last one, which did not fail, covers a part only.
    pub is_partial: bool,
    /// Why, where the plugin says so.
    pub partial: Option<Down>,
    /// Series after the last one.
    pub series: usize,
    /// Whether the last one was complete and had no series.
    pub matches_nothing: bool,
    /// Whether this was logged.
    pub(super) reported_nothing: bool,
    /// What each stage of the last one cost.
    pub last_stages: [StageCost; Stage::ALL.len()],
    /// What each stage cost in all.
    pub total_stages: [StageCost; Stage::ALL.len()],
    /// Collections that ended FULL.
    pub full: u64,
    /// Collections that ended PARTIAL.
    pub part: u64,
    pub failed: u64,
    /// Failures by stage and reason: both are closed lists.
    pub failures: BTreeMap<(Stage, String), u64>,
}

impl JobStatus {
    /// Enters the end of a collection.
    pub(super) fn enter(&mut self, module: &str, completion: &Completion<'_>, series: usize, now: Now) {
        self.last_duration = self.running_since.take().map(|since| now.mono.saturating_duration_since(since));
        self.ended = Some(now.mono);
        self.series = series;
        self.enter_stages(completion.stages);
        (self.down, self.partial, self.is_partial) = (None, None, false);
        self.matches_nothing = completion.outcome == Outcome::Full && series == 0;
        match &completion.outcome {
            Outcome::Full => self.full += 1,
            Outcome::Partial { failure, .. } => {
                self.part += 1;
                self.is_partial = true;
                if let Some(failure) = failure {
                    self.count(failure);
                    self.partial = Some(self.down(module, failure));
                }
            }
            Outcome::Failed(failure) => self.fail(module, failure),
        }
        if self.down.is_none() {
            self.last_success_unix_s = Some(now.unix_s);
        }
    }

    /// Enters a collection that could not even begin.
    pub(super) fn enter_not_started(&mut self, module: &str, failure: &Failure) {
        (self.running_since, self.ended) = (None, Some(Instant::now()));
        (self.last_duration, self.partial, self.series) = (None, None, 0);
        (self.is_partial, self.matches_nothing) = (false, false);
        self.last_stages = Default::default();
        self.fail(module, failure);
    }

    /// How the module fares.
    #[must_use]
    pub fn health(&self) -> TargetHealth {
        if self.down.is_some() {
            TargetHealth::Down
        } else if !self.has_ended() {
            TargetHealth::Waiting
        } else if self.is_partial || self.matches_nothing {
            TargetHealth::Partial
        } else {
            TargetHealth::Up
        }
    }

    /// Whether a collection has ended yet.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.collections() > 0
    }

    /// How many collections have ended.
    #[must_use]
    pub fn collections(&self) -> u64 {
        self.full + self.part + self.failed
    }

    fn fail(&mut self, module: &str, failure: &Failure) {
        self.failed += 1;
        self.count(failure);
        self.down = Some(self.down(module, failure));
    }

    fn down(&self, module: &str, failure: &Failure) -> Down {
        Down::new(module, failure, self.deadline, self.last_success_unix_s.is_none())
    }

    fn count(&mut self, failure: &Failure) {
        let key = (failure.stage, failure.reason.as_str().to_owned());
        *self.failures.entry(key).or_default() += 1;
    }

    fn enter_stages(&mut self, reports: &[StageReport]) {
        self.last_stages = Default::default();
        for report in reports {
            let Some(index) = Stage::ALL.iter().position(|stage| *stage == report.stage) else { continue };
            let cost = StageCost {
                duration: Duration::from_nanos(report.duration_ns),
                calls: report.calls,
                bytes_in: report.bytes_in,
                bytes_out: report.bytes_out,
            };
            self.last_stages[index].add(cost);
            self.total_stages[index].add(cost);
        }
    }
}

impl StageCost {
    pub(super) fn add(&mut self, other: Self) {
        self.duration += other.duration;
        self.calls = self.calls.saturating_add(other.calls);
        self.bytes_in = self.bytes_in.saturating_add(other.bytes_in);
        self.bytes_out = self.bytes_out.saturating_add(other.bytes_out);
    }
}

/// When something happened, by two clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) mono: Instant,
    pub(super) unix_s: f64,
}

/// What a collection's outcome means for the schedule: whether the other modules of the target would fail as well,
/// and when to try again.
#[must_use]
pub fn ending(outcome: &Outcome<'_>) -> Ending {
    let Outcome::Failed(failure) = outcome else { return Ending::Good };
    let retry_after = failure.retry_after;
    if failure.stage <= Stage::Bind {
        Ending::Unreachable { retry_after }
    } else {
        Ending::Bad { retry_after }
    }
}
