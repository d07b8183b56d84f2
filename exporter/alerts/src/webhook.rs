//! The message of a webhook, in Alertmanager's format, version 4.

use std::sync::Arc;

use serde_json::json;

use super::alert::Alert;
use super::payload::{Pairs, generator_url, time};

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
