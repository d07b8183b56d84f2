//! Targets that are up again: what one cause took down comes back at once, and the log needs no line for each.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use plugin_abi::Stage;

use super::is_milestone;

/// Why targets are down or partial: stage and reason.
pub(super) type Cause = (Stage, String);

/// What each cause keeps from being up, and what came back from it.
#[derive(Debug, Default)]
pub(super) struct Recoveries(Mutex<HashMap<Cause, Group>>);

#[derive(Debug, Default)]
struct Group {
    /// Targets that are down or partial.
    failing: usize,
    /// Targets that came back, each within [`PAUSE`] of the one before.
    recovered: usize,
    /// When the last one did.
    last: Option<Instant>,
    /// Whether some of them have no line, and no line has their number.
    has_untold: bool,
}

/// What the log says of a target that is up again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recovery {
    /// How many targets recovered, this one included.
    pub(super) targets: Option<usize>,
    /// Whether this one has a line of its own.
    pub(super) is_alone: bool,
}

impl Recovery {
    /// Nothing but a line of its own.
    pub(super) const ALONE: Self = Self { targets: None, is_alone: true };
}

/// Maximum recoveries in quick succession that are logged one by one.
const ALONE_MAX: usize = 9;
/// Targets that come back later than this after the one before have lines of their own again.
const PAUSE: Duration = Duration::from_secs(60);

impl Recoveries {
    /// Counts one more target that `cause` keeps from being up.
    pub(super) fn enter(&self, cause: Cause) {
        let mut groups = self.0.lock();
        let group = groups.entry(cause).or_default();
        group.failing += 1;
        // A single target that comes and goes has its lines each time.
        if group.recovered <= ALONE_MAX {
            group.recovered = 0;
        }
    }

    /// Counts one less: it fails for another cause, or is asked no longer.
    pub(super) fn leave(&self, cause: &Cause) {
        let mut groups = self.0.lock();
        let Some(group) = groups.get_mut(cause) else { return };
        group.failing = group.failing.saturating_sub(1);
        if group.failing == 0 {
            groups.remove(cause);
        }
    }

    /// Counts one less, which is up at `now`. The first ones have a line each; then a line has their number at 10, 100
    /// and so on, and when the last one is back.
    pub(super) fn recover(&self, cause: &Cause, now: Instant) -> Recovery {
        let mut groups = self.0.lock();
        let Some(group) = groups.get_mut(cause) else { return Recovery::ALONE };
        let goes_on = group.last.is_some_and(|last| now.saturating_duration_since(last) < PAUSE);
        let before = (!goes_on && group.has_untold).then_some(group.recovered);
        if !goes_on {
            (group.recovered, group.has_untold) = (0, false);
        }
        group.failing = group.failing.saturating_sub(1);
        group.recovered += 1;
        group.last = Some(now);
        let (count, is_last) = (group.recovered, group.failing == 0);
        let is_alone = count <= ALONE_MAX;
        let is_counted = !is_alone && (is_last || is_milestone(count));
        group.has_untold = !is_alone && !is_counted;
        if is_last {
            groups.remove(cause);
        }
        Recovery { targets: if is_counted { Some(count) } else { before }, is_alone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause() -> Cause {
        (Stage::Tcp, "timeout".to_owned())
    }

    fn counted(targets: usize) -> Recovery {
        Recovery { targets: Some(targets), is_alone: false }
    }

    const SILENT: Recovery = Recovery { targets: None, is_alone: false };

    #[test]
    fn targets_that_come_back_after_a_pause_have_lines_again_and_those_before_their_number() {
        let recoveries = Recoveries::default();
        (0..30).for_each(|_| recoveries.enter(cause()));
        let began = Instant::now();
        let at = |seconds| recoveries.recover(&cause(), began + Duration::from_secs(seconds));
        let first: Vec<Recovery> = (0..12).map(at).collect();
        assert_eq!(first[..9], [Recovery::ALONE; 9]);
        assert_eq!(first[9..], [counted(10), SILENT, SILENT]);
        assert_eq!(at(100), Recovery { targets: Some(12), is_alone: true });
        assert_eq!(at(101), Recovery::ALONE);
    }

    #[test]
    fn a_target_that_comes_and_goes_beside_one_that_stays_down_has_its_lines() {
        let recoveries = Recoveries::default();
        recoveries.enter(cause());
        let now = Instant::now();
        for _ in 0..20 {
            recoveries.enter(cause());
            assert_eq!(recoveries.recover(&cause(), now), Recovery::ALONE);
        }
        // Nothing is kept of a cause that nobody fails for.
        recoveries.leave(&cause());
        assert!(recoveries.0.lock().is_empty());
    }
}
