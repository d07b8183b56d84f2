//! The task of one receiver.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_client::{Backoff, Clock, Connector, Trouble};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::alert::Alert;
use super::counts::{Counts, Loss};
use super::options::{ReceiverKind, ReceiverOptions};
use super::payload::alertmanager_body;
use super::plan::{Next, Plan};
use super::registry::Registry;
use super::sender::{Sender, Verdict};
use super::state::ReceiverId;
use super::webhook::webhook_body;

/// What a receiver works with.
pub(crate) struct Means {
    pub(crate) options: Arc<ReceiverOptions>,
    pub(crate) connector: Arc<dyn Connector>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) id: ReceiverId,
    /// Where the exporter's pages are, if that is known; a reload may change it.
    pub(crate) url: Arc<Mutex<Option<String>>>,
    /// For its waits.
    pub(crate) seed: u64,
}

/// One receiver at work.
pub(crate) struct Receiver {
    means: Means,
    sender: Sender,
    plan: Plan,
    backoff: Backoff,
    /// What the log said last.
    told: Option<Trouble>,
    stop: watch::Receiver<bool>,
}

impl Receiver {
    pub(crate) fn new(means: Means, stop: watch::Receiver<bool>) -> Self {
        let sender =
            Sender::new(Arc::clone(&means.options), Arc::clone(&means.connector), Arc::clone(&means.clock));
        let (plan, backoff) = (Plan::new(means.options.kind), Backoff::new(means.seed));
        Self { means, sender, plan, backoff, told: None, stop }
    }

    /// Sends until it is stopped, and then what is left, as long as the receiver takes it.
    pub(crate) async fn run(mut self) {
        let mut changes = self.means.registry.watch();
        loop {
            // Who let go of us without a word wants no more.
            let is_last = *self.stop.borrow() || self.stop.has_changed().is_err();
            // What changes from here on is seen.
            changes.borrow_and_update();
            let view = self.means.registry.view(self.means.id);
            let unknown = self.plan.unknown(&view);
            self.means.counts.set_waiting(unknown);
            if is_last && unknown == 0 {
                break;
            }
            let wait = match self.plan.next(&view, Instant::now()) {
                Next::Send { alerts, truncated } => match self.send(&alerts, &truncated).await {
                    Ok(()) => continue,
                    Err(_) if is_last => {
                        self.means.counts.lose(unknown as u64, Loss::Ended);
                        break;
                    }
                    Err(wait) => Wait::Retry(Instant::now() + wait),
                },
                Next::Wait(_) if is_last => break,
                Next::Wait(until) => Wait::Change(until),
            };
            tokio::select! {
                () = wait.until() => {}
                // The registry lives as long as we do.
                _ = changes.changed(), if matches!(wait, Wait::Change(_)) => {}
                _ = self.stop.wait_for(|stop| *stop) => {}
            }
        }
        self.means.registry.leave(self.means.id);
    }

    /// Sends one request. If it must be sent again, how long to wait before.
    async fn send(
        &mut self,
        alerts: &[Arc<Alert>],
        truncated: &[Arc<Alert>],
    ) -> Result<(), std::time::Duration> {
        let body = Bytes::from(self.body(alerts, truncated.len()));
        let verdict = self.sender.send(&body).await;
        let now = self.means.clock.now();
        match verdict {
            Verdict::Taken => {
                self.backoff.reset();
                self.means.counts.succeed(alerts.len(), now);
                if self.told.take().is_some() {
                    info!(receiver = self.means.options.name, "Receiver accepts alerts again");
                }
            }
            Verdict::Refused { trouble, message } => {
                self.backoff.reset();
                self.means.counts.fail(trouble, &message, now);
                self.means.counts.lose(alerts.len() as u64, Loss::Refused(trouble));
                self.tell(trouble, &message, "Receiver refuses alerts");
            }
            Verdict::Retry { after, trouble, message } => {
                self.means.counts.fail(trouble, &message, now);
                self.tell(trouble, &message, "Receiver accepts no alerts for now");
                return Err(self.backoff.next(after));
            }
        }
        for alerts in [alerts, truncated] {
            self.plan.settled(alerts, Instant::now());
            self.means.registry.settled(self.means.id, alerts);
        }
        Ok(())
    }

    fn body(&self, alerts: &[Arc<Alert>], truncated: usize) -> Vec<u8> {
        let url = self.means.url.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let options = &self.means.options;
        match options.kind {
            ReceiverKind::Alertmanager { resend_interval } => {
                let alerts = alerts.iter().map(|alert| &**alert);
                alertmanager_body(alerts, self.means.clock.now(), resend_interval, url.as_deref())
            }
            ReceiverKind::Webhook { .. } => {
                let target = alerts.first().map_or("", |alert| &alert.target);
                webhook_body(&options.name, target, alerts, truncated, url.as_deref())
            }
        }
    }

    /// Logs each kind of trouble once, as long as it lasts.
    fn tell(&mut self, trouble: Trouble, message: &str, what: &'static str) {
        let (receiver, reason) = (&self.means.options.name, trouble.as_str());
        if self.told.replace(trouble) == Some(trouble) {
            debug!(receiver, reason, error = message, "{what}");
        } else {
            warn!(receiver, reason, error = message, "{what}");
        }
    }
}

/// What is waited for.
enum Wait {
    /// A change, or this time.
    Change(Option<Instant>),
    /// This time.
    Retry(Instant),
}

impl Wait {
    async fn until(&self) {
        match self {
            Self::Retry(until) | Self::Change(Some(until)) => tokio::time::sleep_until(*until).await,
            Self::Change(None) => std::future::pending().await,
        }
    }
}
