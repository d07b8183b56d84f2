//! Which countersets the host has.

use counter_poll::WELL_KNOWN;
use counter_poll::over_host::{PcqError, PerflibSession as _, error_of_registry, registry};
use counters::rrp::RegisteredCounterSets;
use plugin_sdk::{Collection, Failure, Stage};
use tokio::time::Instant;
use wire::Guid;

use super::{Counters, Open};
use crate::REGISTRY;

impl Counters {
    /// The host's countersets. If there are more than the 256 that PCQ can list, those that its registry lists.
    pub(super) async fn list(
        &mut self,
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<Vec<Guid>, PcqError> {
        self.unlisted = None;
        match open.session().perflib(deadline).enumerate_counter_set().await {
            Err(counters::pcq::Error::LimitExceeded { .. }) => {}
            listed => return listed,
        }
        let listed = self.list_registered(open, collection, share(deadline)).await;
        collection.enter(Stage::Query);
        let (guids, why) = match listed {
            Ok(RegisteredCounterSets { counter_sets, denied_providers: 0, .. }) => return Ok(counter_sets),
            Ok(RegisteredCounterSets { counter_sets, denied_providers, .. }) => {
                (counter_sets, format!("hides the countersets of {denied_providers} providers"))
            }
            Err(failure) => (WELL_KNOWN.to_vec(), format!("does not list them: {}", failure.message)),
        };
        self.unlisted =
            Some(format!("the host has more countersets than it can list, and its registry {why}"));
        Ok(guids)
    }

    /// What a host refuses is asked for ever more rarely.
    async fn list_registered(
        &mut self,
        open: &mut Open,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<RegisteredCounterSets, Failure> {
        self.list_backoff.begin(self.now)?;
        let listed = registered(open, collection, deadline).await;
        match &listed {
            Ok(_) => self.list_backoff.succeeded(),
            Err(failure) => self.list_backoff.fail(self.now, failure),
        }
        listed
    }
}

async fn registered(
    open: &mut Open,
    collection: &Collection,
    deadline: Instant,
) -> Result<RegisteredCounterSets, Failure> {
    let pipe = open.side_pipe(REGISTRY, collection, deadline).await?;
    let listed = counters::rrp::enumerate_counter_sets(&mut registry(pipe.association, deadline)).await;
    listed.map_err(|error| {
        let error = error_of_registry(open.session().target(), &error);
        open.side_pipe_failed(&error)
    })
}

/// The share of a collection's time for the list of countersets; the rest is for the values.
fn share(deadline: Instant) -> Instant {
    let now = Instant::now();
    now + deadline.saturating_duration_since(now) * 3 / 4
}
