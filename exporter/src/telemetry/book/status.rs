//! What is known of a target, and what of it the log was told.

use std::time::Instant;

use tracing::{info, warn};

use crate::telemetry::account::{Down, JobStatus};
use crate::telemetry::changes::Turn;

/// What is known of a target now.
#[derive(Clone, Debug, Default)]
pub struct TargetStatus {
    /// One for each of its modules.
    pub jobs: Vec<JobStatus>,
    /// Since when it is up, or down.
    pub since: Option<Instant>,
    told: Told,
    told_limit: bool,
}

/// What the log said last, so that it says only what changed.
#[derive(Clone, Debug, Default)]
enum Told {
    #[default]
    Nothing,
    Up,
    Partial(Down),
    Down(Down),
    /// It is no longer asked: there is nothing more to say.
    Ended,
}

impl TargetStatus {
    /// Up: every module's last collection brought something. `None` until each has had one.
    #[must_use]
    pub fn is_up(&self) -> Option<bool> {
        if self.jobs.iter().any(|job| job.down.is_some()) {
            return Some(false);
        }
        self.jobs.iter().all(JobStatus::has_ended).then_some(true)
    }

    /// Why it is down.
    #[must_use]
    pub fn down(&self) -> Option<&Down> {
        self.jobs.iter().find_map(|job| job.down.as_ref())
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
    pub(super) fn end(&mut self) {
        self.told = Told::Ended;
    }

    /// Whether there is nothing more to say.
    pub(super) fn is_ended(&self) -> bool {
        matches!(self.told, Told::Ended)
    }

    /// Says once that the target has more series than it may have.
    pub(super) fn tell_limit(&mut self, target: &str, max_series: u32, dropped: u64) {
        if dropped > 0 && !std::mem::replace(&mut self.told_limit, true) {
            let next_step =
                "select less in its modules, or raise `max_series`, of the target or in `normalize.limits`";
            warn!(target, max_series, dropped, next_step, "Target has too many series; the rest is left out");
        }
    }

    /// Logs what changed, and only that. Answers what of it is worth keeping.
    pub(super) fn tell(&mut self, target: &str, host: &str) -> Option<Turn> {
        let (series, down, is_up) = (self.series(), self.down().cloned(), self.is_up());
        let partial = self.jobs.iter().find_map(|job| job.partial.clone());
        let next = match (&self.told, down, partial, is_up) {
            (Told::Ended, ..) => return None,
            (Told::Down(told), Some(down), ..) if told.is_like(&down) => return None,
            (_, Some(down), ..) => {
                let Down { module, stage, reason, message, next_step, .. } = &down;
                let detail = if message.is_empty() { &down.sentence } else { message };
                warn!(target, module, %stage, reason, detail, next_step, "Target is down");
                Told::Down(down)
            }
            (_, None, _, None) => return None,
            (Told::Partial(told), None, Some(partial), _) if told.is_like(&partial) => return None,
            (_, None, Some(partial), _) => {
                let Down { module, stage, reason, message, next_step, .. } = &partial;
                let detail = message.as_str();
                warn!(target, module, %stage, reason, detail, next_step, series, "Target is up in part");
                Told::Partial(partial)
            }
            (Told::Up, None, None, _) => return None,
            (Told::Nothing, None, None, _) => {
                info!(target, host, series, "Target is up");
                Told::Up
            }
            (Told::Partial(_), None, None, _) => {
                info!(target, series, "Target is up in full again");
                Told::Up
            }
            (Told::Down(_), None, None, _) => {
                let down_s = self.since.map_or(0, |since| since.elapsed().as_secs());
                info!(target, series, down_s, "Target is up again");
                Told::Up
            }
        };
        let was_down = matches!(self.told, Told::Down(_));
        if self.since.is_none() || was_down != matches!(next, Told::Down(_)) {
            self.since = Some(Instant::now());
        }
        let turn = turn(&self.told, &next);
        self.told = next;
        turn
    }
}

impl JobStatus {
    /// Says when the module began to match nothing, and when that is over.
    pub(super) fn tell_nothing(&mut self, target: &str, module: &str) {
        let series = self.series;
        if self.matches_nothing == self.told_nothing || (!self.matches_nothing && series == 0) {
            return;
        }
        self.told_nothing = self.matches_nothing;
        if self.matches_nothing {
            let next_step = "compare its names and patterns with what `perfmon-exporter discover` lists";
            warn!(target, module, next_step, "Module matches nothing on the target");
        } else {
            info!(target, module, series, "Module matches something again");
        }
    }
}

/// What of a change is worth keeping: a target that is there from the first is no news.
fn turn(told: &Told, next: &Told) -> Option<Turn> {
    match (told, next) {
        (_, Told::Down(down)) => Some(Turn::Down(down.clone())),
        (_, Told::Partial(part)) => Some(Turn::Partly(part.clone())),
        (Told::Down(_) | Told::Partial(_), Told::Up) => Some(Turn::Up),
        _ => None,
    }
}
