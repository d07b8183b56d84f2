//! The body of `POST /api/v2/alerts` of Alertmanager, and what it has in common with that of a webhook.

use std::time::{Duration, SystemTime};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use super::alert::Alert;

/// The body for Alertmanager, sent at `now`. Open alerts end by themselves after four intervals, if nothing is heard of
/// them. `url` is where the exporter's pages are, if that is known.
#[must_use]
pub fn alertmanager_body<'a>(
    alerts: impl IntoIterator<Item = &'a Alert>,
    now: SystemTime,
    resend_interval: Duration,
    url: Option<&str>,
) -> Vec<u8> {
    let rows = alerts.into_iter().map(|alert| {
        let ends_at = alert.ends_at.unwrap_or(now + resend_interval * INTERVALS_UNTIL_END);
        let mut row = json!({
            "labels": Pairs(&alert.labels),
            "annotations": Pairs(&alert.annotations),
            "startsAt": time(alert.starts_at),
            "endsAt": time(ends_at),
        });
        if let Some(url) = generator_url(alert, url) {
            row["generatorURL"] = url.into();
        }
        row
    });
    rows.collect::<serde_json::Value>().to_string().into_bytes()
}

/// The page of the alert's target.
pub(crate) fn generator_url(alert: &Alert, url: Option<&str>) -> Option<String> {
    let mut text = format!("{}/targets/", url?);
    for byte in alert.target.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    Some(text)
}

/// A time as RFC 3339 has it.
pub(crate) fn time(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

/// Names and values as an object.
pub(crate) struct Pairs<'a>(pub(crate) &'a [(String, String)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// As Prometheus does: an alert survives three requests that get lost.
const INTERVALS_UNTIL_END: u32 = 4;
