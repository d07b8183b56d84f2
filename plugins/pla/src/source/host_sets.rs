//! The part of a collection that sets of the host have: they are read beside the counters, shown, and started for alerts.

use plugin_sdk::{Collection, Coverage, Failure, Stage};
use tokio::time::Instant;

use super::{PlaSource, unix_seconds};
use crate::actions::{ActionResult, HostStart};
use crate::host::{AUDIT, Started};
use crate::sets::ShownSet;

impl PlaSource {
    /// Collects the counters of a host whose sets are read, too. Without counters the sets are shown all the same, if the host
    /// is there.
    pub(super) async fn collect_beside_sets(
        &mut self,
        collection: &mut Collection,
    ) -> Result<Coverage, Failure> {
        let now = collection.began();
        // Another attempt would log on.
        let failure = match self.counters_backoff.check(now) {
            Err(failure) => failure,
            Ok(()) => {
                let deadline =
                    Instant::from_std(collection.deadline()) - collection.remaining() / RESERVED_PARTS;
                match plugin_session::collect_until(self, collection, deadline).await {
                    Ok(coverage) => {
                        self.counters_backoff.succeeded();
                        return Ok(coverage);
                    }
                    Err(failure) => {
                        self.counters_backoff.fail(now, &failure);
                        // Where nobody logged on, the next attempt costs nothing.
                        if matches!(failure.stage, Stage::Dns | Stage::Tcp | Stage::Smb) {
                            self.counters_backoff.cut_short();
                        }
                        failure
                    }
                }
            }
        };
        self.is_gap = true;
        if !self.live.answers(collection, share(collection)).await {
            // The exporter pauses the whole target.
            self.counters_backoff.cut_short();
            return Err(failure);
        }
        self.show_sets(collection);
        Ok(Coverage::Partial { families: self.series.families_of_sets(), failure: Some(failure) })
    }

    /// Has the host start what alerts want, in the time that is left of the collection. What came of it is counted with the next
    /// one.
    pub(super) async fn start_on_host(&mut self, collection: &Collection) {
        while let Some(HostStart { set, key }) = self.actions.next_host_start() {
            let deadline = Instant::from_std(collection.deadline()) - collection.remaining() / RESERVED_PARTS;
            let (alert, identity) = (&*key.alert, &*self.target.identity);
            let result = match self.starter.start(&set, collection, deadline).await {
                Ok(Started::Now) => {
                    tracing::warn!(audit = AUDIT, identity, set, alert, "An alert had the host start a set");
                    ActionResult::Done
                }
                Ok(Started::Before) => ActionResult::Skipped,
                Err(failure) => {
                    let problem = &failure.message;
                    tracing::warn!(
                        audit = AUDIT,
                        identity,
                        set,
                        alert,
                        problem,
                        "The host did not start the set of an alert"
                    );
                    ActionResult::Failed
                }
            };
            self.actions.end_host_start(result);
        }
        self.actions.end_host_starts();
    }

    pub(super) fn show_sets(&mut self, collection: &mut Collection) {
        #[expect(clippy::cast_possible_truncation, reason = "whole seconds of a time")]
        let now_unix_s = unix_seconds() as i64;
        let of_host = self.live.sets().map(|set| ShownSet {
            next_start_unix_s: self.local_time.next_start(&set.schedules, now_unix_s),
            ..ShownSet::from(set)
        });
        let own = self.sets.iter().map(|set| {
            let logs = set.set().logs.as_ref();
            let lacks_storage = logs.is_some_and(|logs| !self.is_on_demand && !self.runs.has_place(logs));
            let counters_elsewhere = self.runs.counters_elsewhere(&set.set().name);
            ShownSet { lacks_storage, counters_elsewhere, ..ShownSet::from(set) }
        });
        let sets: Vec<ShownSet<'_>> = own.chain(of_host).collect();
        self.series.send_sets(&sets, self.alert_table.alerts(), &self.actions, collection.output());
        #[cfg(feature = "logs")]
        self.series.send_logs(self.runs.all(), collection.output());
    }
}

/// What the host's sets may take of a collection, so that a fault there delays the counters by that part alone.
pub(super) fn share(collection: &Collection) -> Instant {
    Instant::now() + collection.remaining() / SHARE_PARTS
}

const SHARE_PARTS: u32 = 3;
/// The part of a collection that is left after counters that do not come.
const RESERVED_PARTS: u32 = 8;
