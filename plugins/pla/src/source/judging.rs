//! The part of a collection after the replies: alerts are judged, logs take their samples, and both are shown.

use std::time::{Duration, SystemTime};

use plugin_sdk::{Collection, Coverage, Failure, GeneralReason, Stage};

use super::{PlaSource, unix_seconds};
use crate::actions::Moment;
use crate::calendar;
use crate::clock::ReplyKind;
use crate::counters::{Fetched, Found};
use crate::series;

impl PlaSource {
    /// What was fetched was read before.
    pub(super) async fn judge_and_show(&mut self, fetched: &Fetched, collection: &mut Collection) {
        collection.enter(Stage::Decode);
        if !self.is_on_demand {
            self.judge(fetched, collection.began()).await;
            self.show(collection);
        }
        self.show_sets(collection);
    }

    async fn judge(&mut self, fetched: &Fetched, at: Duration) {
        let Self { counters, alert_table, clock, actions, runs, is_gap, .. } = self;
        let replied = fetched.replied();
        let mut is_new_boot = false;
        if replied.any() {
            let kind = if replied.version_2 { ReplyKind::Version2 } else { ReplyKind::Classic };
            is_new_boot = clock.advance(kind, &counters.frame().clocks, at);
        }
        let now = clock.now();
        actions.expire(alert_table, now);
        if std::mem::take(is_gap) || is_new_boot {
            alert_table.miss(now);
        }
        if is_new_boot {
            // What the paths mean may have changed with the host.
            counters.search_again();
        } else if let Some(found) = counters.found() {
            let moment = Moment { sample: now, at, time: SystemTime::now() };
            let values = (found, counters.frame(), replied);
            actions.judge(alert_table, values, moment).await;
            runs.sample(values, |set| actions.is_running(set), now, calendar::moment(at)).await;
        }
    }

    /// Reports what changed, and sends what is known of all alerts. All have a limit together, and it is not cut off in between:
    /// series that are gone are retired.
    fn show(&mut self, collection: &mut Collection) {
        self.round += 1;
        let (now, unix_s) = (self.clock.now(), unix_seconds());
        let mut gone = Vec::new();
        self.reporter.begin();
        for alert in self.alert_table.alerts_mut() {
            for (instance, mut row) in alert.refresh(self.round, unix_s) {
                gone.extend(row.ids());
                self.reporter.close(alert, &instance, &mut row);
            }
            self.reporter.report(alert, now);
        }
        for mut alert in std::mem::take(&mut self.removed) {
            gone.extend(series::ids_of(&alert));
            self.reporter.close_all(&mut alert);
        }
        self.series.send_alerts(self.alert_table.alerts_mut(), gone, collection.output());
        let counts = self.actions.count(self.reporter.take_reported().into_iter());
        self.series.send_actions(counts, collection.output());
    }

    pub(super) fn coverage(&self, classic_failure: Option<Failure>) -> Coverage {
        let sentences: Vec<&str> = self.counters.found().into_iter().flat_map(Found::failures).collect();
        let failure = classic_failure.or_else(|| self.live.failure().cloned()).or_else(|| {
            let more = sentences.len().saturating_sub(SENTENCES_MAX);
            let mut text = sentences.iter().take(SENTENCES_MAX).copied().collect::<Vec<_>>().join("; ");
            if more > 0 {
                text += &format!("; and {more} more");
            }
            (!sentences.is_empty()).then(|| Failure::new(Stage::Query, GeneralReason::NotFound, text))
        });
        match failure {
            None => Coverage::Full,
            failure => Coverage::Partial { families: self.series.families(), failure },
        }
    }
}

/// Counters that the host does not have, in one failure.
const SENTENCES_MAX: usize = 5;
