//! The state of a target, and what was logged about it.

use std::time::Instant;

use plugin_abi::Stage;
use tracing::{info, warn};

use super::{Cause, Groups, Recovery, is_denial, is_milestone};
use crate::Turn;
use crate::account::{Down, JobStatus, help};
use crate::health::TargetHealth;

/// What is known of a target now.
#[derive(Clone, Debug, Default)]
pub struct TargetStatus {
    /// One for each of its modules.
    pub jobs: Vec<JobStatus>,
    /// Since when it is in this state.
    pub since: Option<Instant>,
    reported: Reported,
    told_limit: bool,
}

/// What the log said last, so that it says only what changed.
#[derive(Clone, Debug, Default)]
enum Reported {
    #[default]
    Nothing,
    Up,
    /// Nothing where modules match nothing, which is said of each of them.
    Partial(Option<Down>),
    Down(Down),
    /// It is no longer asked: there is nothing more to say.
    Ended,
}

impl TargetStatus {
    /// How it fares. Where the host is not reached, modules that were not asked yet would fare no better.
    #[must_use]
    pub fn health(&self) -> TargetHealth {
        match TargetHealth::of_modules(self.jobs.iter().map(JobStatus::health)) {
            TargetHealth::Waiting if self.down().is_some_and(|down| down.stage <= Stage::Bind) => {
                TargetHealth::Down
            }
            state => state,
        }
    }

    /// Why a module of it is down.
    #[must_use]
    pub fn down(&self) -> Option<&Down> {
        self.jobs.iter().find_map(|job| job.down.as_ref())
    }

    /// Why it is down or partial, as far as it is known: of a module that is down, or of one that covers a part.
    #[must_use]
    pub fn trouble(&self) -> Option<&Down> {
        self.down().or_else(|| self.jobs.iter().find_map(|job| job.partial.as_ref()))
    }

    /// Series, over all modules.
    #[must_use]
    pub fn series(&self) -> usize {
        self.jobs.iter().map(|job| job.series).sum()
    }

    /// When it last was up, in Unix seconds: the oldest of its modules' last successes.
    #[must_use]
    pub fn last_success_unix_s(&self) -> Option<f64> {
        let successes: Option<Vec<f64>> = self.jobs.iter().map(|job| job.last_success_unix_s).collect();
        successes?.into_iter().reduce(f64::min)
    }

    /// Of a target with so many modules, none of which had a collection yet.
    pub(super) fn of_modules(count: usize) -> Self {
        Self { jobs: vec![JobStatus::default(); count], ..Self::default() }
    }

    /// There is nothing more to say.
    pub(super) fn end(&mut self, of: &Place<'_>) {
        self.leave_denials(of);
        self.change_cause(of, &Reported::Ended);
        self.reported = Reported::Ended;
    }

    /// Whether there is nothing more to say.
    pub(super) fn is_ended(&self) -> bool {
        matches!(self.reported, Reported::Ended)
    }

    /// Says once that the target has more series than it may have.
    pub(super) fn log_limit(&mut self, target: &str, max_series: u32, dropped: u64) {
        if dropped > 0 && !std::mem::replace(&mut self.told_limit, true) {
            let next_step =
                "select less in its modules, or raise `max_series`, of the target or in `normalize.limits`";
            warn!(target, max_series, dropped, next_step, "Target has too many series; the rest is left out");
        }
    }

    /// Logs what changed, and only that. Answers what of it is worth keeping.
    pub(super) fn log_changes(&mut self, of: &Place<'_>) -> Option<Turn> {
        let next = match (self.health(), self.trouble()) {
            (TargetHealth::Waiting, _) => return None,
            (TargetHealth::Down, Some(down)) => Reported::Down(down.clone()),
            (TargetHealth::Down, None) => return None,
            (TargetHealth::Partial, trouble) => Reported::Partial(trouble.cloned()),
            (TargetHealth::Up, _) => Reported::Up,
        };
        if self.is_ended() || self.reported.is_like(&next) {
            return None;
        }
        self.leave_denials(of);
        let recovery = self.change_cause(of, &next);
        self.log(of, &next, recovery);
        if self.reported.health() != next.health() {
            self.since = Some(Instant::now());
        }
        let turn = turn(&self.reported, &next);
        self.reported = next;
        turn
    }

    /// It is no longer down, or no longer for want of a credential.
    fn leave_denials(&self, of: &Place<'_>) {
        if let (Reported::Down(down), Some(groups)) = (&self.reported, of.groups)
            && is_denial(down)
        {
            groups.denials.leave(of.identity, down);
        }
    }

    /// Counts it where those are counted that fail for one cause; answers what is said if it is up again.
    fn change_cause(&self, of: &Place<'_>, next: &Reported) -> Recovery {
        let Some(Groups { recoveries, .. }) = of.groups else { return Recovery::ALONE };
        let recovery = match (self.reported.cause(), next) {
            (Some(cause), Reported::Up) => recoveries.recover(&cause, Instant::now()),
            (Some(cause), _) => {
                recoveries.leave(&cause);
                Recovery::ALONE
            }
            (None, _) => Recovery::ALONE,
        };
        next.cause().into_iter().for_each(|cause| recoveries.enter(cause));
        recovery
    }

    fn log(&self, of @ Place { target, host, port, .. }: &Place<'_>, next: &Reported, recovery: Recovery) {
        if let (Some((stage, reason)), Some(targets)) = (self.reported.cause(), recovery.targets) {
            info!(targets, %stage, reason, "Targets are up again");
        }
        if !recovery.is_alone {
            return;
        }
        let series = self.series();
        let since_s = self.since.map_or(0, |since| since.elapsed().as_secs());
        match (&self.reported, next) {
            (_, Reported::Down(down)) => {
                if !of.logs_alone(down) {
                    return;
                }
                let Down { module, stage, reason, next_step, .. } = down;
                let (detail, help) = (down.detail(), help(reason));
                warn!(target, host, port, module, %stage, reason, detail, next_step, help, "Target is down");
            }
            (_, Reported::Partial(Some(part))) => {
                let Down { module, stage, reason, next_step, .. } = part;
                let (detail, help) = (part.detail(), help(reason));
                warn!(
                    target, host, port, module, %stage, reason, detail, next_step, help, series, "Target is partial"
                );
            }
            (_, Reported::Partial(None)) => info!(target, host, port, series, "Target is partial"),
            (Reported::Down(_), Reported::Up) => {
                info!(target, host, port, series, down_s = since_s, "Target is up again");
            }
            (Reported::Partial(_), Reported::Up) => {
                info!(target, host, port, series, partial_s = since_s, "Target is up again");
            }
            (_, Reported::Up) => info!(target, host, port, series, "Target is up"),
            (_, Reported::Nothing | Reported::Ended) => {}
        }
    }
}

/// Which target a line is about, and where that is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) target: &'a str,
    pub(super) host: &'a str,
    pub(super) port: Option<u16>,
    /// Empty where it has none.
    pub(super) identity: &'a str,
    /// Nothing where it stands alone, as one that is probed.
    pub(super) groups: Option<&'a Groups>,
}

impl Place<'_> {
    /// Whether the target has a line of its own. Where others of its identity are down for the same denial, a line with
    /// their number is written now and then.
    fn logs_alone(&self, down: &Down) -> bool {
        let Some(groups) = self.groups.filter(|_| is_denial(down)) else { return true };
        let targets = groups.denials.enter(self.identity, down);
        if targets > 1 && is_milestone(targets) {
            let Down { stage, reason, next_step, .. } = down;
            let (identity, detail, help) = (self.identity, down.detail(), help(reason));
            warn!(identity, targets, %stage, reason, detail, next_step, help, "Targets of one identity are down");
        }
        targets == 1
    }
}

impl Reported {
    /// Whether the same line would be written again.
    fn is_like(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::Up, Self::Up) => true,
            (Self::Down(reported), Self::Down(next)) => reported.is_like(next),
            (Self::Partial(reported), Self::Partial(next)) => match (reported, next) {
                (Some(reported), Some(next)) => reported.is_like(next),
                (reported, next) => reported.is_none() && next.is_none(),
            },
            _ => false,
        }
    }

    /// Why it is down or partial, where that is known.
    fn cause(&self) -> Option<Cause> {
        match self {
            Self::Down(down) | Self::Partial(Some(down)) => Some((down.stage, down.reason.clone())),
            Self::Nothing | Self::Up | Self::Partial(None) | Self::Ended => None,
        }
    }

    fn health(&self) -> Option<TargetHealth> {
        match self {
            Self::Nothing | Self::Ended => None,
            Self::Up => Some(TargetHealth::Up),
            Self::Partial(_) => Some(TargetHealth::Partial),
            Self::Down(_) => Some(TargetHealth::Down),
        }
    }
}

impl JobStatus {
    /// Says when the module began to match nothing, and when that is over.
    pub(super) fn log_matches_nothing(&mut self, target: &str, module: &str) {
        let series = self.series;
        if self.matches_nothing == self.reported_nothing || (!self.matches_nothing && series == 0) {
            return;
        }
        self.reported_nothing = self.matches_nothing;
        if self.matches_nothing {
            let next_step = "compare its names and patterns with what the target offers: `perfmon-exporter --help` shows the commands that list it";
            warn!(target, module, next_step, "Module matches nothing on the target");
        } else {
            info!(target, module, series, "Module matches something again");
        }
    }
}

/// What of a change is worth keeping: a target that is there from the first is no news.
fn turn(reported: &Reported, next: &Reported) -> Option<Turn> {
    match (reported, next) {
        (_, Reported::Down(down)) => Some(Turn::Down(down.clone())),
        (_, Reported::Partial(part)) => Some(Turn::Partial(part.clone())),
        (Reported::Down(_) | Reported::Partial(_), Reported::Up) => Some(Turn::Up),
        _ => None,
    }
}
