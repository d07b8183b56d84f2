//! When a receiver is sent what.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use support::pause::doubled;
use tokio::time::Instant;

use super::options::ReceiverKind;
use super::payload::Alert;
use super::state::View;

/// What a receiver is sent next. It compares what the receiver took with what there is.
#[derive(Debug)]
pub struct Plan {
    kind: ReceiverKind,
    /// What was sent of each alert, or of each target for a webhook.
    sent: HashMap<Subject, Sent>,
}

/// A target; and of it an alert, by module and name.
type Subject = (Arc<str>, Option<(Arc<str>, Arc<str>)>);

#[derive(Clone, Copy, Debug)]
struct Sent {
    version: u64,
    at: Instant,
    /// How often in a row the receiver has refused it.
    refusals: u32,
}

impl Sent {
    /// When it is sent again. What was refused is tried sooner than what was taken is repeated: whoever mends the receiver
    /// does not wait for hours.
    fn due(&self, interval: Duration) -> Instant {
        let pause = match self.refusals.checked_sub(1) {
            None => interval,
            Some(further) => doubled(REFUSED_PAUSE, further, interval),
        };
        self.at + pause
    }
}

/// What a receiver is sent next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A request with these alerts, without `truncated`, for which there is no room.
    Send {
        alerts: Vec<Arc<Alert>>,
        /// Too many for it; the receiver hears how many.
        truncated: Vec<Arc<Alert>>,
    },
    /// Nothing before this time, unless alerts change.
    Wait(Option<Instant>),
}

impl Plan {
    /// Nothing was sent yet.
    #[must_use]
    pub fn new(kind: ReceiverKind) -> Self {
        Self { kind, sent: HashMap::new() }
    }

    /// What is sent at `now`.
    pub fn next(&mut self, view: &View, now: Instant) -> Next {
        match self.kind {
            ReceiverKind::Alertmanager { resend_interval } => self.next_alerts(view, now, resend_interval),
            ReceiverKind::Webhook { repeat_interval, .. } => self.next_target(view, now, repeat_interval),
        }
    }

    /// These were sent at `now`, and the receiver took them.
    pub fn settled(&mut self, alerts: &[Arc<Alert>], now: Instant) {
        self.note(alerts, now, 0);
    }

    /// The receiver refused these. Returns whether it does so for the last time, for ends that are sent no more then.
    pub fn refused(&mut self, alerts: &[Arc<Alert>], now: Instant) -> bool {
        // Those of one target have one entry.
        let before = alerts.first().and_then(|alert| self.sent.get(&self.subject(alert)));
        let refusals = 1 + before.map_or(0, |sent| sent.refusals);
        self.note(alerts, now, refusals);
        matches!(self.kind, ReceiverKind::Alertmanager { .. }) || refusals >= REFUSALS_MAX
    }

    fn note(&mut self, alerts: &[Arc<Alert>], now: Instant, refusals: u32) {
        for alert in alerts {
            let subject = self.subject(alert);
            let sent = self.sent.entry(subject).or_insert(Sent { version: 0, at: now, refusals: 0 });
            *sent = Sent { version: sent.version.max(alert.version), at: now, refusals };
        }
    }

    /// How many alerts the receiver does not know as they are.
    #[must_use]
    pub fn unknown(&self, view: &View) -> usize {
        view.closed.iter().chain(&view.open).filter(|alert| self.is_new(alert)).count()
    }

    /// Closed ones first: an alert of the same labels may have opened since.
    fn next_alerts(&mut self, view: &View, now: Instant, interval: Duration) -> Next {
        self.forget(view);
        let mut until = None;
        let mut alerts = view.closed.clone();
        alerts.truncate(ALERTS_MAX);
        for alert in &view.open {
            let sent = self.sent.get(&self.subject(alert));
            let due = sent.filter(|sent| sent.version >= alert.version).map(|sent| sent.due(interval));
            match due.filter(|due| *due > now) {
                Some(due) => until = Some(until.map_or(due, |until: Instant| until.min(due))),
                None if alerts.len() < ALERTS_MAX => alerts.push(Arc::clone(alert)),
                None => break,
            }
        }
        if alerts.is_empty() { Next::Wait(until) } else { Next::Send { alerts, truncated: Vec::new() } }
    }

    fn next_target(&mut self, view: &View, now: Instant, interval: Duration) -> Next {
        self.forget(view);
        let mut targets: BTreeMap<&Arc<str>, Vec<&Arc<Alert>>> = BTreeMap::new();
        for alert in view.open.iter().chain(&view.closed) {
            targets.entry(&alert.target).or_default().push(alert);
        }
        let mut until = None;
        for alerts in targets.values() {
            let sent = alerts.first().and_then(|alert| self.sent.get(&self.subject(alert)));
            let due = sent.filter(|_| !alerts.iter().any(|alert| self.is_new(alert)));
            match due.map(|sent| sent.due(interval)).filter(|due| *due > now) {
                Some(due) => until = Some(until.map_or(due, |until: Instant| until.min(due))),
                None => {
                    let mut alerts: Vec<Arc<Alert>> = alerts.iter().map(|alert| Arc::clone(alert)).collect();
                    let truncated = alerts.split_off(alerts.len().min(ALERTS_OF_TARGET_MAX));
                    return Next::Send { alerts, truncated };
                }
            }
        }
        Next::Wait(until)
    }

    fn is_new(&self, alert: &Alert) -> bool {
        self.sent.get(&self.subject(alert)).is_none_or(|sent| sent.version < alert.version)
    }

    fn subject(&self, alert: &Alert) -> Subject {
        let alone = matches!(self.kind, ReceiverKind::Alertmanager { .. });
        let alert_of = alone.then(|| (Arc::clone(&alert.module), Arc::clone(&alert.id)));
        (Arc::clone(&alert.target), alert_of)
    }

    /// Forgets what was sent of alerts that are gone, when they are many.
    fn forget(&mut self, view: &View) {
        let alerts = || view.open.iter().chain(&view.closed);
        if self.sent.len() > 2 * alerts().count() + FORGOTTEN_AT_ONCE {
            let there: std::collections::HashSet<Subject> =
                alerts().map(|alert| self.subject(alert)).collect();
            self.sent.retain(|subject, _| there.contains(subject));
        }
    }
}

/// Alerts in one request to Alertmanager, as Prometheus has it.
const ALERTS_MAX: usize = 256;
/// Alerts in one message of a webhook.
const ALERTS_OF_TARGET_MAX: usize = 1_000;
/// The pause after the first refusal; each further one doubles it.
const REFUSED_PAUSE: Duration = Duration::from_secs(60);
/// So often the end of an alert is sent to a webhook that refuses it.
const REFUSALS_MAX: u32 = 6;
const FORGOTTEN_AT_ONCE: usize = 256;
