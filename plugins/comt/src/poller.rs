//! Polls of one host, over a tracker that is kept from collection to collection.

use host_session::{Recovery, Target};
use plugin_sdk::{Collection, Coverage, Failure, Stage};
use plugin_session::{
    AttemptError, HostSource, KeptConnection as _, ObjectConnection, Retry, TransportSettings,
};
use tokio::time::Instant;

use crate::model::{HostFigures, Limits};
use crate::poll::{Components, PollError, poll};
use crate::progress::Progress;
use crate::stalls::Stalls;
use crate::tracker::TRACKER;

/// The tracker of one host.
#[derive(Debug)]
pub(crate) struct Poller {
    connection: ObjectConnection,
    limits: Limits,
    stalls: Stalls,
    progress: Progress,
    /// What the last attempt read.
    polled: HostFigures,
}

impl Poller {
    pub(crate) fn new(target: Target, transport: TransportSettings, limits: Limits) -> Self {
        let connection = ObjectConnection::new(target, TRACKER, transport);
        Self {
            connection,
            limits,
            stalls: Stalls::default(),
            progress: Progress::default(),
            polled: HostFigures::default(),
        }
    }

    pub(crate) fn reconfigure(&mut self, transport: TransportSettings, limits: Limits) {
        self.limits = limits;
        self.stalls.forget();
        self.connection.reconfigure(transport);
    }

    /// Polls once; the tracker is activated if it is not there.
    ///
    /// # Errors
    /// If nothing could be read.
    pub(crate) async fn read(&mut self, collection: &mut Collection) -> Result<HostFigures, Failure> {
        self.stalls.begin(collection.began());
        plugin_session::collect(self, collection).await?;
        Ok(std::mem::take(&mut self.polled))
    }

    /// Gives the tracker back to the host.
    pub(crate) async fn release(&mut self, deadline: Instant) {
        self.connection.release(deadline).await;
    }
}

impl HostSource for Poller {
    type Connection = ObjectConnection;

    fn connection(&mut self) -> &mut ObjectConnection {
        &mut self.connection
    }

    async fn attempt(
        &mut self,
        collection: &mut Collection,
        deadline: Instant,
    ) -> Result<Coverage, AttemptError> {
        if self.connection.take_was_away() {
            self.stalls.forget();
            self.progress.forget_begun();
        }
        let mut tracker = self.connection.take(collection, deadline).await?;
        collection.enter(Stage::Query);
        let timer = tracker.start_stage(host_session::Stage::Query);
        let Self { limits, stalls, progress, .. } = self;
        let polled = poll(&mut tracker, Components::All, limits, stalls, progress, deadline).await;
        let report = tracker.stop_stage(timer);
        collection.stages().add(report.calls, report.received_bytes, report.sent_bytes);
        match polled {
            Ok(polled) => {
                self.polled = polled;
                self.connection.put_back(tracker);
                Ok(Coverage::Full)
            }
            Err(PollError { error, stalled }) => {
                let mut failed = self.connection.fail(tracker, &error);
                if stalled.is_some() {
                    failed.retry = Retry::Always(Recovery::Connection);
                }
                Err(failed)
            }
        }
    }
}
