//! `alerts:`, who gets the alerts of targets.

mod url;

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::alerts::{AlertOptions, ReceiverKind, ReceiverOptions};
use series::model::is_legacy_label;

use self::url::Url;
use super::client_tls::tls;
use super::headers::headers;
use super::item::Item;
use super::node::Position;
use super::section::{Section, set};

/// Reads `alerts:`.
pub(super) fn alerts(item: &Item<'_>, base: &Path) -> AlertOptions {
    let mut options = AlertOptions::default();
    let Some(mut section) = item.section(&["relabel_configs", "timeout"]) else { return options };
    let resend_interval = section.duration("resend_interval", RESEND_INTERVALS).unwrap_or(RESEND_INTERVAL);
    let mut receivers = Receivers::default();
    for item in section.get("alertmanagers").map(|item| item.list()).unwrap_or_default() {
        receivers.add(&item, alertmanager(&item, base, resend_interval));
    }
    for item in section.get("webhooks").map(|item| item.list()).unwrap_or_default() {
        receivers.add(&item, webhook(&item, base));
    }
    options.receivers = receivers.all;
    options.labels = section.get("labels").map(|item| labels(&item)).unwrap_or_default();
    set(&mut options.alerts_max, section.count("max_alerts", 1..=1_000_000));
    section.finish();
    options
}

#[derive(Default)]
struct Receivers {
    all: Vec<Arc<ReceiverOptions>>,
    positions: Vec<Position>,
}

impl Receivers {
    fn add(&mut self, item: &Item<'_>, receiver: Option<ReceiverOptions>) {
        let Some(receiver) = receiver else { return };
        if let Some(first) = self.all.iter().position(|first| first.name == receiver.name) {
            let line = self.positions[first].line;
            let message = format!("receiver `{}` is already defined, on line {line}", receiver.name);
            item.problem(message, Some("give one of them another `name`".to_owned()));
        }
        self.positions.push(item.position());
        self.all.push(Arc::new(receiver));
    }
}

fn alertmanager(item: &Item<'_>, base: &Path, resend_interval: Duration) -> Option<ReceiverOptions> {
    let section = item.section(&["path_prefix", "api_version", "basic_auth", "relabel_configs"])?;
    let receiver = receiver(section, base, |_| ReceiverKind::Alertmanager { resend_interval })?;
    let path = receiver.path.trim_end_matches('/').trim_end_matches(ALERTS_PATH);
    Some(ReceiverOptions { path: format!("{path}{ALERTS_PATH}"), ..receiver })
}

fn webhook(item: &Item<'_>, base: &Path) -> Option<ReceiverOptions> {
    let section = item.section(&["url_file", "send_resolved", "max_alerts", "http_config"])?;
    receiver(section, base, |section| {
        let interval = section.duration("repeat_interval", REPEAT_INTERVALS);
        ReceiverKind::Webhook { repeat_interval: interval.unwrap_or(REPEAT_INTERVAL) }
    })
}

/// Reads what all receivers have.
fn receiver(
    mut section: Section<'_>,
    base: &Path,
    kind: impl FnOnce(&mut Section<'_>) -> ReceiverKind,
) -> Option<ReceiverOptions> {
    let kind = kind(&mut section);
    let (hint, port) = match kind {
        ReceiverKind::Alertmanager { .. } => {
            ("write it like `http://alertmanager.example.com:9093`", Some(9093))
        }
        ReceiverKind::Webhook { .. } => ("write it like `https://hooks.example.com/alerts`", None),
    };
    let url = section.require("url", hint).and_then(|item| Url::read(&item, hint, port));
    let name = section.text("name");
    let timeout = section.duration("timeout", TIMEOUTS);
    let headers = section.get("headers").map(|item| headers(&item, base)).unwrap_or_default();
    let tls_item = section.get("tls");
    let tls = tls_item.as_ref().map(|item| tls(item, base)).unwrap_or_default();
    section.finish();
    let Url { shown, secure, host, port, path } = url?;
    if let Some(item) = tls_item.filter(|_| !secure) {
        item.problem("is for `https` receivers", Some(format!("write `https://{host}:{port}`")));
    }
    Some(ReceiverOptions {
        name: name.unwrap_or(shown),
        kind,
        secure,
        host,
        port,
        path,
        timeout: timeout.unwrap_or(Duration::from_secs(10)),
        headers,
        tls,
    })
}

fn labels(item: &Item<'_>) -> Vec<(String, String)> {
    let mut labels = Vec::new();
    for (entry, value) in item.named() {
        let name = entry.key.as_str();
        if !is_legacy_label(name) || name.starts_with("__") || OWN_LABELS.contains(&name) {
            let hint = "use letters, digits and `_`, and none of the exporter's own labels".to_owned();
            item.problem_at(entry.position, format!("`{name}` is not a label's name"), Some(hint));
        } else if let Some(value) = value.text() {
            labels.push((name.to_owned(), value.to_owned()));
        }
    }
    labels
}

/// What each alert has.
const OWN_LABELS: [&str; 6] = ["alert", "alertname", "module", "plugin", "severity", "target"];
const ALERTS_PATH: &str = "/api/v2/alerts";
const RESEND_INTERVAL: Duration = Duration::from_secs(60);
const REPEAT_INTERVAL: Duration = Duration::from_secs(4 * 3600);
const RESEND_INTERVALS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(3600);
const REPEAT_INTERVALS: RangeInclusive<Duration> =
    Duration::from_secs(10)..=Duration::from_secs(30 * 24 * 3600);
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(300);
