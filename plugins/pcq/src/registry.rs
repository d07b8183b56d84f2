//! The countersets of a host with more of them than PCQ can list. They are read from its registry.
//!
//! This needs another pipe and another logon, which the host may refuse. So after a failure the registry is not
//! read for a while, even over a new connection. This avoids repeated logons for a list that the
//! host does not return.

use counters::rrp::RegisteredCounterSets;
use plugin_sdk::{Collection, Failure, GeneralReason, Stage};
use plugin_session::{Backoff, OpenSession, failure_of};
use tokio::time::Instant;
use wire::Guid;

/// Reads the list, and delays the next attempt after failures.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    backoff: Backoff,
}

/// The countersets in the registry.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) guids: Vec<Guid>,
    /// Why there may be more countersets.
    pub(crate) unlisted: Option<Failure>,
}

impl Registry {
    /// Reads the list over `open`.
    ///
    /// # Errors If the host does not return it, or recently did not. The connection may be lost then.
    pub(crate) async fn read<H>(
        &mut self,
        open: &mut OpenSession<H>,
        collection: &Collection,
        deadline: Instant,
    ) -> Result<Listed, Failure> {
        self.backoff.begin(collection.began())?;
        match list(open, collection, share(deadline)).await {
            Ok(registered) => {
                self.backoff.succeeded();
                let hidden = registered.denied_providers;
                let message =
                    format!("the host's registry hides the countersets of {hidden} providers from us");
                let unlisted = Failure::new(Stage::Query, GeneralReason::AccessDenied, message);
                Ok(Listed { guids: registered.counter_sets, unlisted: (hidden > 0).then_some(unlisted) })
            }
            Err(why) => {
                self.backoff.fail(collection.began(), &why);
                tracing::warn!(
                    error = %why.message,
                    next_attempt_in_s = self.backoff.left(collection.began()).as_secs(),
                    "Host has more countersets than it can list, and its registry does not list them; only \
                     well-known ones and those with a guid in the settings are found"
                );
                Err(why)
            }
        }
    }

    /// Drops the record of failures: their cause may have been removed.
    pub(crate) fn forget(&mut self) {
        self.backoff.forget();
    }
}

/// The countersets in the registry of the host. This is a logon, too, so it needs a lease.
async fn list<H>(
    open: &mut OpenSession<H>,
    collection: &Collection,
    deadline: Instant,
) -> Result<RegisteredCounterSets, Failure> {
    let lease = open.lease(collection, deadline).await?;
    let listed = counter_poll::over_host::registered_counter_sets(open.session(), deadline).await;
    lease.settle(&listed);
    listed.map_err(|error| failure_of(&error))
}

/// The share of a collection's time for the list; the rest is for the values of known countersets.
fn share(deadline: Instant) -> Instant {
    let now = Instant::now();
    now + deadline.saturating_duration_since(now) * 3 / 4
}
