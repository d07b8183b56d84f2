//! What pages remember between two looks.

mod files;
mod state_reader;
mod watched;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use alerts::Registry;
use otlp::push::AllCounts;
use parking_lot::Mutex;

use self::files::Files;
use self::state_reader::StateReader;
use self::watched::Watched;
use crate::rpc_state::Keeping;
use targets::Plugins;

pub(super) use self::files::{Kept, NoFiles};
pub(super) use self::state_reader::NoState;
pub(super) use self::watched::{Collected, Moment, POINTS_MAX, Seen, TRACKS_MAX, unit_of};

/// What the pages for people show besides the targets, and what they remember between two looks.
#[derive(Default)]
pub struct PageState {
    pub(super) plugins: Arc<Plugins>,
    pub(super) plugin_limits: plugin_host::Limits,
    pub(super) pushes: Arc<AllCounts>,
    pub(super) watched: Watched,
    pub(super) pulse: Pulse,
    pub(super) rpc_state: StateReader,
    pub(super) files: Files,
    pub(super) alerts: Arc<Registry>,
    pub(super) receivers: Arc<alerts::AllCounts>,
}

impl PageState {
    /// What is loaded, what a plugin may ask for, what became of data that was pushed, for each endpoint, and where the
    /// state of RPC calls is.
    #[must_use]
    pub fn new(
        plugins: Arc<Plugins>,
        plugin_limits: plugin_host::Limits,
        pushes: Arc<AllCounts>,
        keeping: Keeping,
    ) -> Self {
        let rpc_state = StateReader::new(keeping);
        Self { plugins, plugin_limits, pushes, rpc_state, ..Self::default() }
    }

    /// The same, with the alerts of targets, and what became of them for each receiver.
    #[must_use]
    pub fn with_alerts(self, alerts: Arc<Registry>, receivers: Arc<alerts::AllCounts>) -> Self {
        Self { alerts, receivers, ..self }
    }
}

/// The approximate window of the rate.
const WINDOW: Duration = Duration::from_secs(60);
/// Looks closer together than this count as one.
const APART: Duration = Duration::from_secs(2);

/// Remembers how many collections there were at the last looks.
#[derive(Debug, Default)]
pub(crate) struct Pulse(Mutex<VecDeque<(Instant, u64)>>);

impl Pulse {
    /// Adds a sample; returns the collections per second since an earlier one, if there was one.
    pub(crate) fn look(&self, now: Instant, collections: u64) -> Option<f64> {
        let mut looks = self.0.lock();
        // Targets that went took their collections with them.
        if looks.back().is_some_and(|&(_, last)| last > collections) {
            looks.clear();
        }
        while looks.len() > 1 && looks.get(1).is_some_and(|&(at, _)| now.duration_since(at) >= WINDOW) {
            looks.pop_front();
        }
        let first = looks.front().copied();
        if looks.back().is_none_or(|&(at, _)| now.duration_since(at) >= APART) {
            looks.push_back((now, collections));
        }
        let (at, then) = first?;
        let seconds = now.duration_since(at).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a minute has fewer collections than 2⁵³")]
        let gained = (collections - then) as f64;
        (seconds >= APART.as_secs_f64()).then(|| gained / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_minute() {
        let (pulse, begin) = (Pulse::default(), Instant::now());
        let look = |second: u64, count| pulse.look(begin + Duration::from_secs(second), count);
        assert_eq!(look(0, 1_000), None);
        assert_eq!(look(1, 1_050), None);
        assert_eq!(look(10, 1_500), Some(50.0));
        for second in 11..200 {
            look(second, 1_500);
        }
        assert_eq!(look(200, 1_500), Some(0.0));
        // After a reload there may be fewer.
        assert_eq!(look(210, 7), None);
    }
}
