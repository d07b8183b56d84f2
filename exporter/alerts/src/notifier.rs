use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use support::http_client::{Clock, NetConnector, SystemClock};
use support::telemetry::{Metric, Writer};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tracing::{info, warn};

use super::counts::{AllCounts, Counts, Loss};
use super::options::{AlertOptions, ReceiverOptions, UrlSource};
use super::receiver::{Dependencies, Receiver};
use super::registry::Registry;
use super::sender::Connect;
use super::state::ReceiverId;

/// All receivers, until it is stopped.
pub struct Notifier {
    registry: Arc<Registry>,
    running: Vec<Running>,
    /// Those that were let go and send what waits.
    ending: JoinSet<()>,
    counts: Arc<AllCounts>,
    url: Arc<Mutex<Option<String>>>,
}

/// One receiver at work.
struct Running {
    options: Arc<ReceiverOptions>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    counts: Arc<Counts>,
    registry: Arc<Registry>,
    id: ReceiverId,
}

impl Notifier {
    /// No receiver yet, and no alert.
    #[must_use]
    pub fn new() -> Self {
        Self {
            registry: Arc::default(),
            running: Vec::new(),
            ending: JoinSet::new(),
            counts: Arc::default(),
            url: Arc::default(),
        }
    }

    /// From now on these are the options, and the exporter's pages are at `url`. A receiver that is as it was goes on; one
    /// that is let go has `grace` to take what waits; a new one gets all open alerts.
    pub fn set(&mut self, options: &AlertOptions, url: Option<String>, grace: Duration) {
        self.registry.set(options.labels.clone(), options.alerts_max as usize);
        *self.url.lock() = url;
        let stays = |one: &Running| options.receivers.contains(&one.options);
        let (stay, go): (Vec<Running>, Vec<Running>) = self.running.drain(..).partition(stays);
        self.running = stay;
        for one in go {
            info!(receiver = one.options.name, "Alerts are no longer sent");
            self.ending.spawn(one.stop(grace));
        }
        for receiver in &options.receivers {
            if self.running.iter().any(|one| one.options == *receiver) {
                continue;
            }
            let (name, kind) = (&receiver.name, receiver.kind.as_str());
            match &receiver.url {
                UrlSource::Plain(url) => {
                    info!(receiver = name, kind, host = url.host, port = url.port, "Alerts are sent");
                }
                UrlSource::File(file) => {
                    info!(receiver = name, kind, url_file = %file.display(), "Alerts are sent");
                }
            }
            let connect: Connect = Arc::new(|server| Arc::new(NetConnector::new(Arc::clone(server))));
            self.add(Arc::clone(receiver), connect, Arc::new(SystemClock), RandomState::new().hash_one(0));
        }
        let place = |one: &Running| options.receivers.iter().position(|receiver| one.options == *receiver);
        self.running.sort_by_key(place);
        self.show();
        // Those that have ended by now are forgotten.
        while self.ending.try_join_next().is_some() {}
    }

    /// One more receiver. `seed` is for its waits.
    pub fn add(
        &mut self,
        options: Arc<ReceiverOptions>,
        connect: Connect,
        clock: Arc<dyn Clock>,
        seed: u64,
    ) -> Arc<Counts> {
        let counts = Counts::new(&options);
        let id = self.registry.enter(&counts);
        let stop = watch::Sender::new(false);
        let dependencies = Dependencies {
            options: Arc::clone(&options),
            connect,
            clock,
            registry: Arc::clone(&self.registry),
            counts: Arc::clone(&counts),
            id,
            url: Arc::clone(&self.url),
            seed,
        };
        let task = tokio::spawn(Receiver::new(dependencies, stop.subscribe()).run());
        let registry = Arc::clone(&self.registry);
        self.running.push(Running { options, stop, task, counts: Arc::clone(&counts), registry, id });
        self.show();
        counts
    }

    /// Which alerts are open.
    #[must_use]
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// What became of each receiver's alerts.
    #[must_use]
    pub fn counts(&self) -> &Arc<AllCounts> {
        &self.counts
    }

    /// What `/metrics` shows of it.
    #[must_use]
    pub fn metrics(&self) -> AlertMetrics {
        AlertMetrics { registry: Arc::clone(&self.registry), counts: Arc::clone(&self.counts) }
    }

    /// Tries for `grace` to send what waits, and ends. Alerts that are open stay open for receivers: another process may
    /// go on with them. In Alertmanager they end after four intervals.
    pub async fn stop(mut self, grace: Duration) {
        for one in self.running.drain(..) {
            self.ending.spawn(one.stop(grace));
        }
        while self.ending.join_next().await.is_some() {}
    }

    fn show(&self) {
        self.counts.set(self.running.iter().map(|one| Arc::clone(&one.counts)).collect());
    }
}

impl Default for Notifier {
    fn default() -> Self {
        Self::new()
    }
}

impl Running {
    async fn stop(mut self, grace: Duration) {
        // A task that ended by itself does not listen.
        let _ = self.stop.send(true);
        if tokio::time::timeout(grace, &mut self.task).await.is_err() {
            warn!(receiver = self.options.name, "Receiver did not accept all alerts in time");
            self.counts.lose(self.counts.waiting(), Loss::Ended);
            self.task.abort();
            self.registry.leave(self.id);
        }
    }
}

#[derive(Debug)]
pub struct AlertMetrics {
    pub(crate) registry: Arc<Registry>,
    pub(crate) counts: Arc<AllCounts>,
}

impl Collector for AlertMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let all = self.counts.get();
        let mut out = Writer(&mut encoder);
        out.row(&OPEN, self.registry.open_count() as u64)?;
        out.row(&OVER_LIMIT, self.registry.over_limit())?;
        let each = |read: fn(&Counts) -> u64| all.iter().map(move |counts| ([counts.name()], read(counts)));
        let tried =
            all.iter().filter_map(|counts| Some(([counts.name()], u64::from(counts.last().is_up()?))));
        out.rows(&UP, tried.collect::<Vec<_>>())?;
        out.rows(&WAITING, each(Counts::waiting))?;
        out.rows(&SENT, each(Counts::sent))?;
        let by_reason = |read: fn(&Counts) -> Vec<(&'static str, u64)>| {
            let rows = all.iter().flat_map(move |counts| {
                read(counts).into_iter().map(move |(reason, count)| ([counts.name(), reason], count))
            });
            rows.collect::<Vec<_>>()
        };
        out.rows(&FAILED, by_reason(Counts::failed))?;
        out.rows(&DROPPED, by_reason(Counts::dropped))
    }
}

/// What is shown of alerts and their receivers.
pub const METRICS: &[&Metric] = &[&OPEN, &OVER_LIMIT, &UP, &WAITING, &SENT, &FAILED, &DROPPED];

static OPEN: Metric = Metric::gauge("perfmon_exporter_alerts_open", &[], "Alerts of targets that are open.");
static OVER_LIMIT: Metric = Metric::counter(
    "perfmon_exporter_alerts_over_limit",
    &[],
    "Events that would have opened an alert above `alerts.max_alerts`.",
);
static UP: Metric = Metric::gauge(
    "perfmon_exporter_alerts_up",
    RECEIVER,
    "Whether the receiver accepted the last request; absent before the first one.",
);
static WAITING: Metric = Metric::gauge(
    "perfmon_exporter_alerts_waiting",
    RECEIVER,
    "Alerts whose state the receiver does not know yet.",
);
static SENT: Metric = Metric::counter(
    "perfmon_exporter_alerts_sent",
    RECEIVER,
    "Alerts that the receiver accepted, each time that they were sent.",
);
static FAILED: Metric = Metric::counter(
    "perfmon_exporter_alerts_failed",
    &["receiver", "reason"],
    "Requests that the receiver did not answer, or did not accept.",
);
static DROPPED: Metric = Metric::counter(
    "perfmon_exporter_alerts_dropped",
    &["receiver", "reason"],
    "Alerts that were not delivered to the receiver.",
);

const RECEIVER: &[&str] = &["receiver"];
