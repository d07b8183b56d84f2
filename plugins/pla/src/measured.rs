//! Replies in, states of alerts out, as in each collection: what a benchmark and a test of allocations measure.

use std::time::Duration;

use counter_poll::paths::{PathPlan, PathQuery};
use counter_types::CounterPath;
use ms_pcq::perflibv2::CounterData;

use crate::board::{Board, Watched};
use crate::counters::{Counters, Kinds};
use crate::model::{Alert, Origin, SampleInterval, Set, Start};

/// The alerts of one target.
#[derive(Debug, Default)]
pub struct Alerts {
    board: Board,
    counters: Counters,
}

impl Alerts {
    /// Takes alerts with these thresholds, as far as they are some. Returns the paths of their counters.
    pub fn select(&mut self, thresholds: &[String]) -> Vec<CounterPath> {
        let alert = |(number, threshold): (usize, &String)| {
            Some(Alert {
                name: number.to_string(),
                threshold: threshold.parse().ok()?,
                interval: SampleInterval::DEFAULT,
                hold: Duration::ZERO,
                logs_events: false,
                task: None,
                start_set: None,
            })
        };
        let alerts = thresholds.iter().enumerate().filter_map(alert).collect();
        let set = Set {
            name: "Measured".to_owned(),
            origin: Origin::Configuration,
            start: Start::Always,
            duration: Duration::ZERO,
            alerts,
            collectors: Default::default(),
            problems: Vec::new(),
        };
        self.board.select(std::iter::once(&set), |_| true).1
    }

    /// The paths mean this.
    pub fn found(&mut self, plan: PathPlan, paths: usize) {
        self.counters.take(plan, paths);
    }

    /// Judges what is due on a reply.
    pub fn judge(&mut self, query: &PathQuery, data: &CounterData, now: Duration) {
        self.counters.read(Some((query, data)), false);
        if let Some(found) = self.counters.found() {
            let replied = Kinds { version_2: true, classic: false };
            self.board.judge(found, self.counters.frame(), replied, now);
        }
    }

    /// The samples that fired so far.
    #[must_use]
    pub fn fired(&self) -> u64 {
        self.board.alerts().iter().map(Watched::triggered).sum()
    }
}
