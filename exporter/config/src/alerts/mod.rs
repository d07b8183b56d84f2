//! `alerts:`, who gets the alerts of targets.

mod url;

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ::alerts::{AlertOptions, ReceiverKind, ReceiverOptions, UrlSource};
use series::model::is_legacy_label;
use support::http_client::HttpUrl;

use self::url::url;
use super::item::Item;
use super::node::Position;
use super::outgoing::{headers, tls};
use super::section::{Section, set};
use super::shown::{unique, without_secrets};

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
        let Some(mut receiver) = receiver else { return };
        if self.all.iter().all(|other| other.url != receiver.url) {
            receiver.name = unique(receiver.name, |name| self.all.iter().any(|other| other.name == name));
        }
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
    let mut receiver = receiver(section, base, |_| ReceiverKind::Alertmanager { resend_interval })?;
    if let UrlSource::Plain(HttpUrl { path, .. }) = &mut receiver.url {
        let prefix = path.trim_end_matches('/').trim_end_matches(ALERTS_PATH);
        *path = format!("{prefix}{ALERTS_PATH}");
    }
    Some(receiver)
}

fn webhook(item: &Item<'_>, base: &Path) -> Option<ReceiverOptions> {
    let section = item.section(&["max_alerts", "http_config"])?;
    receiver(section, base, |section| ReceiverKind::Webhook {
        repeat_interval: section.duration("repeat_interval", REPEAT_INTERVALS).unwrap_or(REPEAT_INTERVAL),
        send_resolved: section.flag("send_resolved").unwrap_or(true),
    })
}

/// Reads what all receivers have.
fn receiver(
    mut section: Section<'_>,
    base: &Path,
    kind: impl FnOnce(&mut Section<'_>) -> ReceiverKind,
) -> Option<ReceiverOptions> {
    let kind = kind(&mut section);
    let name = section.text("name");
    let url = match kind {
        ReceiverKind::Alertmanager { .. } => {
            let hint = "write it like `http://alertmanager.example.com:9093`";
            section.require("url", hint).and_then(|item| plain(&item, hint, Some(9093)))
        }
        ReceiverKind::Webhook { .. } => url_of_webhook(&mut section, base),
    };
    let timeout = section.duration("timeout", TIMEOUTS);
    let headers = section.get("headers").map(|item| headers(&item, base)).unwrap_or_default();
    let tls_item = section.get("tls");
    let tls = tls_item.as_ref().map(|item| tls(item, base)).unwrap_or_default();
    section.finish();
    let (shown, url) = url?;
    if let (Some(item), UrlSource::Plain(HttpUrl { secure: false, host, port, .. })) = (tls_item, &url) {
        item.problem("is for `https` receivers", Some(format!("write `https://{host}:{port}`")));
    }
    Some(ReceiverOptions {
        name: name.unwrap_or(shown),
        kind,
        url,
        timeout: timeout.unwrap_or(Duration::from_secs(10)),
        headers,
        tls,
    })
}

/// `url` or `url_file`, and how it is shown.
fn url_of_webhook(section: &mut Section<'_>, base: &Path) -> Option<(String, UrlSource)> {
    let hint =
        "write it like `https://hooks.example.com/alerts`, or a secret one into a file, as `url_file: …`";
    let file = section.file("url_file", base);
    match (section.get("url"), file) {
        (Some(item), None) => plain(&item, hint, None),
        (None, Some(file)) => Some((file.display().to_string(), UrlSource::File(file))),
        (Some(item), Some(_)) => {
            item.problem("there is `url_file`, too", Some("remove one of them".to_owned()));
            None
        }
        (None, None) => {
            section.require("url", hint);
            None
        }
    }
}

fn plain(item: &Item<'_>, hint: &str, port: Option<u16>) -> Option<(String, UrlSource)> {
    Some((without_secrets(item.text()?), UrlSource::Plain(url(item, hint, port)?)))
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
const OWN_LABELS: [&str; 6] = ["alertname", "id", "module", "plugin", "severity", "target"];
const ALERTS_PATH: &str = "/api/v2/alerts";
const RESEND_INTERVAL: Duration = Duration::from_secs(60);
const REPEAT_INTERVAL: Duration = Duration::from_secs(4 * 3600);
const RESEND_INTERVALS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(3600);
const REPEAT_INTERVALS: RangeInclusive<Duration> =
    Duration::from_secs(10)..=Duration::from_secs(30 * 24 * 3600);
const TIMEOUTS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(300);
