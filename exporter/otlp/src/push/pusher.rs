use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use plugin_abi::{Completion, Event, Outcome};
use support::http_client::{Connector, NetConnector, SystemClock};
use support::telemetry::{Timings, unix_nanos};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tracing::{info, warn};

use super::counts::{AllCounts, Counts};
use super::endpoint::Endpoint;
use super::metrics::OtlpMetrics;
use super::records::{About, Records};
use super::{OtlpEndpoint, Shared, Signal, Supply, Traces};
use crate::encode::{Collected, Record, Resource, Scope, SpanIds, Templates, Trigger, spans};

/// All endpoints, until it is stopped.
pub struct Pusher {
    running: Vec<Running>,
    /// Those that were let go and send what waits.
    ending: JoinSet<()>,
    templates: Arc<Mutex<Templates>>,
    counts: Arc<AllCounts>,
    event_router: Arc<EventRouter>,
    timings: Timings,
}

/// One endpoint at work.
struct Running {
    settings: Arc<OtlpEndpoint>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    counts: Arc<Counts>,
    route: EventRoute,
}

impl Pusher {
    /// Begins to push what `supply` has to all `endpoints`. What that takes goes into `timings`.
    #[must_use]
    pub fn start(endpoints: &[Arc<OtlpEndpoint>], supply: &Arc<dyn Supply>, timings: &Timings) -> Self {
        let mut pusher = Self { timings: timings.clone(), ..Self::empty() };
        pusher.set_endpoints(endpoints, supply, Duration::ZERO);
        pusher
    }

    #[must_use]
    pub fn empty() -> Self {
        Self {
            running: Vec::new(),
            ending: JoinSet::new(),
            templates: Arc::default(),
            counts: Arc::default(),
            event_router: Arc::default(),
            timings: Timings::default(),
        }
    }

    /// From now on these are the endpoints. One that is as it was goes on with what waits for it; what changed begins
    /// again; one that is let go takes a last round and has `grace` to send what waits.
    pub fn set_endpoints(
        &mut self,
        endpoints: &[Arc<OtlpEndpoint>],
        supply: &Arc<dyn Supply>,
        grace: Duration,
    ) {
        let shared = Shared {
            supply: Arc::clone(supply),
            clock: Arc::new(SystemClock),
            templates: Arc::clone(&self.templates),
        };
        let stays = |one: &Running| endpoints.contains(&one.settings);
        let (stay, go): (Vec<Running>, Vec<Running>) = self.running.drain(..).partition(stays);
        self.running = stay;
        for one in go {
            info!(endpoint = one.settings.name, "Push stopped");
            self.ending.spawn(one.stop(grace));
        }
        for endpoint in endpoints {
            if self.running.iter().any(|one| one.settings == *endpoint) {
                continue;
            }
            let scheme = if endpoint.secure { "https" } else { "http" };
            info!(
                endpoint = endpoint.name,
                scheme,
                host = endpoint.host,
                port = endpoint.port,
                "Push started"
            );
            let connector = Arc::new(NetConnector::new(endpoint.server()));
            self.add(Arc::clone(endpoint), connector, shared.clone(), RandomState::new().hash_one(0));
        }
        let place = |one: &Running| endpoints.iter().position(|endpoint| one.settings == *endpoint);
        self.running.sort_by_key(place);
        self.show();
        // Those that have ended by now are forgotten.
        while self.ending.try_join_next().is_some() {}
    }

    /// Begins to push to one more endpoint. `seed` is for its waits.
    pub fn add(
        &mut self,
        settings: Arc<OtlpEndpoint>,
        connector: Arc<dyn Connector>,
        shared: Shared,
        seed: u64,
    ) -> Arc<Counts> {
        let mut signals = vec![Signal::Metrics];
        signals.extend(settings.logs.then_some(Signal::Logs));
        signals.extend(settings.traces.as_ref().map(|_| Signal::Traces));
        let counts = Counts::new(&settings.name, &signals, &self.timings);
        let records = |signal| Records::new(signal, settings.queue_records, &counts);
        let route = EventRoute {
            logs: settings.logs.then(|| records(Signal::Logs)),
            traces: settings.traces.clone().map(|rule| (rule, records(Signal::Traces))),
        };
        let stop = watch::Sender::new(false);
        let endpoint = Endpoint {
            settings: Arc::clone(&settings),
            connector,
            shared,
            counts: Arc::clone(&counts),
            logs: route.logs.clone(),
            traces: route.traces.as_ref().map(|(_, records)| Arc::clone(records)),
            seed,
        };
        let task = tokio::spawn(endpoint.run(stop.subscribe()));
        self.running.push(Running { settings, stop, task, counts: Arc::clone(&counts), route });
        self.show();
        counts
    }

    /// What became of each endpoint's data.
    #[must_use]
    pub fn counts(&self) -> &Arc<AllCounts> {
        &self.counts
    }

    /// How long everything takes, here and elsewhere.
    #[must_use]
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// The router of events and collections.
    #[must_use]
    pub fn event_router(&self) -> &Arc<EventRouter> {
        &self.event_router
    }

    /// What `/metrics` shows of it; nothing without endpoints.
    #[must_use]
    pub fn metrics(&self) -> OtlpMetrics {
        OtlpMetrics(Arc::clone(&self.counts))
    }

    /// Takes a last round, tries for `grace` to send what waits, and ends.
    pub async fn stop(mut self, grace: Duration) {
        for one in self.running.drain(..) {
            self.ending.spawn(one.stop(grace));
        }
        while self.ending.join_next().await.is_some() {}
    }

    fn show(&self) {
        self.counts.set(self.running.iter().map(|one| Arc::clone(&one.counts)).collect());
        self.event_router.set(self.running.iter().map(|one| one.route.clone()).collect());
    }
}

impl Running {
    async fn stop(mut self, grace: Duration) {
        // A task that ended by itself does not listen.
        let _ = self.stop.send(true);
        if tokio::time::timeout(grace, &mut self.task).await.is_err() {
            warn!(endpoint = self.settings.name, "Collector did not accept all queued data in time");
            self.task.abort();
        }
    }
}

// Which events and collections go to which endpoint.

/// Routes events and collections to the queues of the endpoints that get them.
#[derive(Debug, Default)]
pub struct EventRouter {
    all: Mutex<Arc<[EventRoute]>>,
    /// Whether anybody wants collections; else they cost a look at this.
    has_traces: AtomicBool,
}

/// What one endpoint wants.
#[derive(Clone, Debug, Default)]
pub(super) struct EventRoute {
    pub(super) logs: Option<Arc<Records>>,
    pub(super) traces: Option<(Traces, Arc<Records>)>,
}

/// A collection of a module, as it ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    pub target: &'a str,
    pub module: &'a str,
    pub plugin: &'a str,
    pub trigger: Trigger,
    pub completion: &'a Completion<'a>,
    /// Series that it brought.
    pub series: usize,
    /// How long it took.
    pub took: Duration,
    /// When it ended, on the clock of the stages in `completion`.
    pub end_ns: u64,
}

impl EventRouter {
    pub(super) fn set(&self, all: Vec<EventRoute>) {
        self.has_traces.store(all.iter().any(|route| route.traces.is_some()), Ordering::Relaxed);
        *self.all.lock() = all.into();
    }

    fn get(&self) -> Arc<[EventRoute]> {
        Arc::clone(&self.all.lock())
    }

    /// Something happened on a target, and was seen at `now`.
    pub fn event(&self, resource: &Arc<Resource>, scope: &Arc<Scope>, event: &Event<'_>, now: SystemTime) {
        let all = self.get();
        let mut queues = all.iter().filter_map(|route| route.logs.as_ref()).peekable();
        if queues.peek().is_none() {
            return;
        }
        let record = Record::of_event(event, unix_nanos(now));
        queues.for_each(|queue| queue.push(about(resource, scope, record.clone())));
    }

    /// A collection ended at `now`.
    pub fn collected(
        &self,
        resource: &Arc<Resource>,
        scope: &Arc<Scope>,
        ended: &Ended<'_>,
        now: SystemTime,
    ) {
        if !self.has_traces.load(Ordering::Relaxed) {
            return;
        }
        let all = self.get();
        let traces = all.iter().filter_map(|route| route.traces.as_ref());
        let mut traces = traces.filter(|(rule, _)| rule.wants_target(ended.target)).peekable();
        let mut random = [0; 24];
        // Without random bytes there is no trace.
        if traces.peek().is_none() || getrandom::fill(&mut random).is_err() {
            return;
        }
        let ids = SpanIds::of(&random);
        let failed = match &ended.completion.outcome {
            Outcome::Full => false,
            Outcome::Partial { failure, .. } => failure.is_some(),
            Outcome::Failed(_) => true,
        };
        let drawn = traces.filter(|(rule, _)| ids.is_sampled(rule.ratio()));
        let mut wanted = drawn.filter(|(rule, _)| rule.wants_end(failed, ended.took)).peekable();
        if wanted.peek().is_none() {
            return;
        }
        let end_unix_nanos = unix_nanos(now);
        let took_nanos = u64::try_from(ended.took.as_nanos()).unwrap_or(u64::MAX);
        let spans = spans(
            &ids,
            &Collected {
                module: ended.module,
                plugin: ended.plugin,
                trigger: ended.trigger,
                begin_unix_nanos: end_unix_nanos.saturating_sub(took_nanos),
                end_unix_nanos,
                end_ns: ended.end_ns,
                completion: ended.completion,
                series: ended.series,
            },
        );
        for (_, queue) in wanted {
            spans.iter().for_each(|span| queue.push(about(resource, scope, span.clone())));
        }
    }
}

fn about(resource: &Arc<Resource>, scope: &Arc<Scope>, record: Record) -> About {
    About { resource: Arc::clone(resource), scope: Arc::clone(scope), record }
}
