//! One collection: what is polled, what the host sent, and what is shown of both.

use com::dcom::RESOLVER_PORT;
use host_session::Target as HostTarget;
use plugin_sdk::{
    Collection, Coverage, DeclaredReason, End, Failure, FamilyKey, GeneralReason, Problem, Selects, Setup,
    Source, Stage, Target, Transport,
};
use plugin_session::DCOM_TRANSPORT;
use tokio::time::Instant;

use super::reasons::REASONS;
use crate::config::{Mode, SHOWN, Settings};
use crate::events::{Events, changes};
use crate::model::HostFigures;
use crate::poller::Poller;
use crate::series::{HostSeries, NAMESPACE, is_of_events};

/// The COM+ applications of one host.
#[derive(Debug)]
pub(crate) struct ComtSource {
    name: String,
    target: HostTarget,
    /// An instance for single questions only polls: a subscription would outlive the answer.
    is_on_demand: bool,
    mode: Mode,
    logs_changes: bool,
    poller: Poller,
    /// In the modes with events, and after those until the subscription is removed.
    events: Option<Events>,
    /// What was shown last, if changes are logged.
    shown: Option<HostFigures>,
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

    fn selects(settings: &Settings, family: &FamilyKey) -> Selects {
        if family.namespace != NAMESPACE {
            Selects::No(Vec::new())
        } else if settings.mode() == Mode::Poll && is_of_events(family) {
            Selects::No(vec![Problem::new("/mode", "let the host tell its state by events").suggest("both")])
        } else {
            Selects::Yes
        }
    }

    fn create(setup: Setup<Settings>) -> Result<Self, Vec<Problem>> {
        let Setup { settings, target, .. } = setup;
        let host = HostTarget::new(target.host, target.port.unwrap_or(RESOLVER_PORT));
        let poller = Poller::new(host.clone(), settings.transport.clone(), settings.limits());
        let mut source = Self {
            name: target.name,
            target: host,
            is_on_demand: target.is_on_demand,
            mode: Mode::Poll,
            logs_changes: false,
            poller,
            events: None,
            shown: None,
            series: HostSeries::default(),
        };
        source.reconfigure(settings);
        Ok(source)
    }

    fn reconfigure(&mut self, settings: Settings) {
        self.mode = if self.is_on_demand { Mode::Poll } else { settings.mode() };
        self.logs_changes = settings.log_changes;
        let (limits, max_age, transport) = (settings.limits(), settings.events_max_age(), settings.transport);
        match &mut self.events {
            Some(events) => events.reconfigure(&transport, limits, max_age),
            None if self.mode == Mode::Poll => {}
            None => {
                let events = Events::new(self.name.clone(), &self.target, &transport, limits, max_age);
                self.events = Some(events);
            }
        }
        self.poller.reconfigure(transport, limits);
    }

    async fn collect(&mut self, collection: &mut Collection) -> Result<Coverage, Failure> {
        let is_told = match &mut self.events {
            Some(events) if self.mode == Mode::Poll => {
                if events.leave(collection).await {
                    self.events = None;
                }
                false
            }
            Some(events) => events.step(collection).await,
            None => false,
        };
        let polled = match self.mode {
            Mode::Events if is_told => None,
            Mode::Events | Mode::Poll | Mode::Both => Some(self.poller.read(collection).await),
        };
        let told = self.events.as_ref().filter(|_| is_told).and_then(Events::newest);
        let read;
        let (host, failure) = match (polled, told) {
            (Some(Ok(mut polled)), told) => {
                if let (Mode::Both, Some(told)) = (self.mode, told) {
                    polled.complete_with(told);
                }
                let failure = polled.failure.take();
                read = polled;
                (&read, failure)
            }
            (Some(Err(failure)), Some(told)) => (told, Some(failure)),
            (Some(Err(failure)), None) => return Err(failure),
            (None, Some(told)) => (told, None),
            (None, None) => {
                return Err(Failure::new(Stage::Plugin, GeneralReason::Internal, "nothing was read"));
            }
        };
        let events = self.events.as_ref().filter(|_| self.mode != Mode::Poll);
        let totals = events.map(|events| events.totals(is_told));
        let failure = failure.or_else(|| events?.failure().cloned());
        self.series.emit(host, totals.as_ref(), collection.output());
        if self.logs_changes {
            if let Some(before) = &self.shown {
                changes::report(before, host, collection.handle());
            }
            self.shown = Some(host.clone());
        } else {
            self.shown = None;
        }
        Ok(match failure {
            None => Coverage::Full,
            failure => Coverage::Partial { families: self.series.families_of(host), failure },
        })
    }

    async fn end(mut self, end: End) {
        let deadline = Instant::from_std(end.deadline);
        if let Some(mut events) = self.events.take() {
            events.end(deadline).await;
        }
        self.poller.release(deadline).await;
    }
}
