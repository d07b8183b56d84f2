//! One collection, from any state after the last one.

use host_session::Recovery;
use plugin_sdk::{
    Collection, Coverage, DeclaredReason, End, Failure, FamilyKey, Problem, Selects, Setup, Source, Stage,
    Target, Transport,
};
use plugin_session::{AttemptError, DCOM_TRANSPORT, HostSource, ObjectConnection, Retry};
use tokio::time::Instant;

use crate::config::{SHOWN, Settings};
use crate::poll::{Limits, PollError, poll};
use crate::series::{HostSeries, NAMESPACE};
use crate::stalls::Stalls;
use crate::tracker::{REASONS, TRACKER};

/// [MS-DCOM] 1.9: the port of a host's object resolver.
pub(crate) const RESOLVER_PORT: u16 = 135;

/// The COM+ applications of one host.
#[derive(Debug)]
pub(crate) struct ComtSource {
    connection: ObjectConnection,
    limits: Limits,
    stalls: Stalls,
    series: HostSeries,
}

impl Source for ComtSource {
    const NAME: &'static str = "comt";
    const HELP: &'static str =
        "COM+ applications of a Windows host and their components, from its COM+ tracker";
    const REASONS: &'static [DeclaredReason] = &REASONS;
    const SHOWN: &'static [&'static str] = SHOWN;
    const TRANSPORTS: &'static [Transport] = &[DCOM_TRANSPORT];
    type Settings = Settings;

    fn check(settings: &Settings, target: &Target) -> Vec<Problem> {
        let mut problems = settings.problems();
        // Without a host only the settings are checked.
        if target.identity.is_empty() && !target.host.is_empty() {
            problems.push(Problem::new(Problem::NO_IDENTITY, "the host asks who logs on"));
        }
        problems
    }

    fn selects(_: &Settings, family: &FamilyKey) -> Selects {
        if family.namespace == NAMESPACE { Selects::Yes } else { Selects::No(Vec::new()) }
    }

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let Setup { settings, target, .. } = setup;
        let limits = settings.limits();
        let target = host_session::Target::new(target.host, target.port.unwrap_or(RESOLVER_PORT));
        let connection = ObjectConnection::new(target, TRACKER, settings.transport);
        Ok(Self { connection, limits, stalls: Stalls::default(), series: HostSeries::default() })
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.limits = settings.limits();
        self.connection.reconfigure(settings.transport);
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        self.stalls.begin();
        plugin_session::collect(self, collection).await
    }

    async fn end(mut self, end: End) {
        self.connection.release(Instant::from_std(end.deadline)).await;
    }
}

impl HostSource for ComtSource {
    type Connection = ObjectConnection;

    fn connection(&mut self) -> &mut ObjectConnection {
        &mut self.connection
    }

    async fn attempt(
        &mut self,
        collection: &mut Collection,
        deadline: Instant,
    ) -> Result<Coverage, AttemptError> {
        let mut tracker = self.connection.take(collection, deadline).await?;
        collection.enter(Stage::Query);
        let timer = tracker.start_stage(host_session::Stage::Query);
        let polled = poll(&mut tracker, &self.limits, &self.stalls, deadline).await;
        let report = tracker.stop_stage(timer);
        collection.stages().add(report.calls, report.received_bytes, report.sent_bytes);
        let polled = match polled {
            Ok(polled) => polled,
            Err(PollError { error, stalled }) => {
                let mut failed = self.connection.fail(tracker, &error);
                if stalled.is_some_and(|application| self.stalls.add(application)) {
                    failed.retry = Retry::Always(Recovery::Connection);
                }
                return Err(failed);
            }
        };
        self.connection.put_back(tracker);
        self.series.emit(&polled, collection.output());
        Ok(match polled.failure {
            None => Coverage::Full,
            failure => Coverage::Partial { families: self.series.families(), failure },
        })
    }
}
