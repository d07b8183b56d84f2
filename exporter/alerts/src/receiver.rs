//! The task of one receiver.

use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::json;
use support::http_client::{Clock, Trouble};
use support::pause::Backoff;
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::counts::{Counts, Loss};
use super::options::{ReceiverKind, ReceiverOptions};
use super::payload::{Alert, Pairs, alertmanager_body, generator_url, time};
use super::plan::{Next, Plan};
use super::registry::Registry;
use super::sender::{Connect, Sender, Verdict};
use super::state::ReceiverId;

/// What a receiver depends on.
pub(crate) struct Dependencies {
    pub(crate) options: Arc<ReceiverOptions>,
    pub(crate) connect: Connect,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) registry: Arc<Registry>,
    pub(crate) counts: Arc<Counts>,
    pub(crate) id: ReceiverId,
    /// Where the exporter's pages are, if that is known; a reload may change it.
    pub(crate) url: Arc<Mutex<Option<String>>>,
    pub(crate) seed: u64,
}

/// One receiver at work.
pub(crate) struct Receiver {
    dependencies: Dependencies,
    sender: Sender,
    plan: Plan,
    backoff: Backoff,
    /// The trouble that was logged last.
    reported: Option<Trouble>,
    stop: watch::Receiver<bool>,
}

impl Receiver {
    pub(crate) fn new(dependencies: Dependencies, stop: watch::Receiver<bool>) -> Self {
        let sender = Sender::new(
            Arc::clone(&dependencies.options),
            Arc::clone(&dependencies.connect),
            Arc::clone(&dependencies.clock),
        );
        let (plan, backoff) = (Plan::new(dependencies.options.kind), Backoff::new(dependencies.seed));
        Self { dependencies, sender, plan, backoff, reported: None, stop }
    }

    /// Sends until it is stopped, and then what is left, as long as the receiver takes it.
    pub(crate) async fn run(mut self) {
        let mut changes = self.dependencies.registry.watch();
        loop {
            // A notifier that was dropped without stopping wants no more.
            let is_last = *self.stop.borrow() || self.stop.has_changed().is_err();
            // What changes from here on is seen.
            changes.borrow_and_update();
            let view = self.dependencies.registry.view(self.dependencies.id);
            let unknown = self.plan.unknown(&view);
            self.dependencies.counts.set_waiting(unknown);
            if is_last && unknown == 0 {
                break;
            }
            let wait = match self.plan.next(&view, Instant::now()) {
                Next::Send { alerts, truncated } => match self.send(&alerts, &truncated).await {
                    Ok(()) => continue,
                    Err(_) if is_last => {
                        self.dependencies.counts.lose(unknown as u64, Loss::Ended);
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
        self.dependencies.registry.leave(self.dependencies.id);
    }

    /// Sends one request. If it must be sent again, how long to wait before.
    async fn send(
        &mut self,
        alerts: &[Arc<Alert>],
        truncated: &[Arc<Alert>],
    ) -> Result<(), std::time::Duration> {
        let body = Bytes::from(self.body(alerts, truncated.len()));
        let verdict = self.sender.send(&body).await;
        let now = self.dependencies.clock.now();
        match verdict {
            Verdict::Taken => {
                self.backoff.reset();
                self.dependencies.counts.succeed(alerts.len(), now);
                if self.reported.take().is_some() {
                    info!(receiver = self.dependencies.options.name, "Receiver accepts alerts again");
                }
            }
            Verdict::Refused { trouble, message } => {
                self.backoff.reset();
                self.dependencies.counts.fail(trouble, &message, now);
                self.log_trouble(trouble, &message, "Receiver refuses alerts");
                // One refusal: those of a webhook are of one target.
                let gives_up = self.plan.refused(&[alerts, truncated].concat(), Instant::now());
                if gives_up {
                    self.dependencies.counts.lose(alerts.len() as u64, Loss::Refused(trouble));
                    for alerts in [alerts, truncated] {
                        self.dependencies.registry.settled(self.dependencies.id, alerts);
                    }
                }
                return Ok(());
            }
            Verdict::Retry { after, trouble, message } => {
                self.dependencies.counts.fail(trouble, &message, now);
                self.log_trouble(trouble, &message, "Receiver accepts no alerts for now");
                return Err(self.backoff.next(after).min(self.dependencies.options.kind.retry_max()));
            }
        }
        for alerts in [alerts, truncated] {
            self.plan.settled(alerts, Instant::now());
            self.dependencies.registry.settled(self.dependencies.id, alerts);
        }
        Ok(())
    }

    fn body(&self, alerts: &[Arc<Alert>], truncated: usize) -> Vec<u8> {
        let url = self.dependencies.url.lock().clone();
        let options = &self.dependencies.options;
        match options.kind {
            ReceiverKind::Alertmanager { resend_interval } => {
                let alerts = alerts.iter().map(|alert| &**alert);
                alertmanager_body(alerts, self.dependencies.clock.now(), resend_interval, url.as_deref())
            }
            ReceiverKind::Webhook { .. } => {
                let target = alerts.first().map_or("", |alert| &alert.target);
                webhook_body(&options.name, target, alerts, truncated, url.as_deref())
            }
        }
    }

    /// Logs each kind of trouble once, as long as it lasts.
    fn log_trouble(&mut self, trouble: Trouble, message: &str, what: &'static str) {
        let (receiver, reason) = (&self.dependencies.options.name, trouble.as_str());
        if self.reported.replace(trouble) == Some(trouble) {
            debug!(receiver, reason, error = message, "{what}");
        } else {
            let next_step = trouble.next_step();
            warn!(receiver, reason, error = message, next_step, "{what}");
        }
    }
}

/// What is waited for.
enum Wait {
    /// A change, or this time.
    Change(Option<Instant>),
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

// The message of a webhook, in Alertmanager's format, version 4.

/// The message about the alerts of one target. `truncated` more are not in it. `url` is where the exporter's pages are, if
/// that is known.
#[must_use]
pub fn webhook_body(
    receiver: &str,
    target: &str,
    alerts: &[Arc<Alert>],
    truncated: usize,
    url: Option<&str>,
) -> Vec<u8> {
    let group = [("target".to_owned(), target.to_owned())];
    let is_firing = |alert: &Alert| alert.ends_at.is_none();
    let status = |is_firing: bool| if is_firing { "firing" } else { "resolved" };
    let rows = alerts.iter().map(|alert| {
        json!({
            "status": status(is_firing(alert)),
            "labels": Pairs(&alert.labels),
            "annotations": Pairs(&alert.annotations),
            "startsAt": time(alert.starts_at),
            "endsAt": alert.ends_at.map_or_else(|| NO_TIME.to_owned(), time),
            "generatorURL": generator_url(alert, url).unwrap_or_default(),
            "fingerprint": format!("{:016x}", alert.fingerprint()),
        })
    });
    let message = json!({
        "version": "4",
        "groupKey": format!("{{}}:{{target={target:?}}}"),
        "truncatedAlerts": truncated,
        "status": status(alerts.iter().any(|alert| is_firing(alert))),
        "receiver": receiver,
        "groupLabels": Pairs(&group),
        "commonLabels": Pairs(&common(alerts, |alert| &alert.labels)),
        "commonAnnotations": Pairs(&common(alerts, |alert| &alert.annotations)),
        "externalURL": url.unwrap_or_default(),
        "alerts": rows.collect::<serde_json::Value>(),
    });
    message.to_string().into_bytes()
}

/// The pairs that all alerts have.
fn common(alerts: &[Arc<Alert>], of: fn(&Alert) -> &[(String, String)]) -> Vec<(String, String)> {
    let Some((first, others)) = alerts.split_first() else { return Vec::new() };
    let has_all = |pair: &&(String, String)| others.iter().all(|other| of(other).contains(pair));
    of(first).iter().filter(has_all).cloned().collect()
}

/// What programs in Go write for no time.
const NO_TIME: &str = "0001-01-01T00:00:00Z";
