//! The body of `POST /api/v2/alerts` of Alertmanager, and what it has in common with that of a webhook.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

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

/// An alert as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    /// Grows with each change of any alert, so that a receiver knows what it has seen.
    pub version: u64,
    /// The target that it is about.
    pub target: Arc<str>,
    /// The module that found it.
    pub module: Arc<str>,
    /// Its name in its instance.
    pub id: Arc<str>,
    /// What identifies it for receivers, by name. Does not change while it is open.
    pub labels: Arc<[(String, String)]>,
    /// What may change: `summary`, and the event's other fields.
    pub annotations: Arc<[(String, String)]>,
    pub starts_at: SystemTime,
    pub ends_at: Option<SystemTime>,
}

impl Alert {
    /// The value of a label, or nothing.
    #[must_use]
    pub fn label(&self, name: &str) -> &str {
        self.labels.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// The value of an annotation, or nothing.
    #[must_use]
    pub fn annotation(&self, name: &str) -> &str {
        self.annotations.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    /// Alertmanager's fingerprint of the labels: FNV-1a of 64 bits over names and values, each with 0xFF after it.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let bytes = self.labels.iter().flat_map(|(name, value)| {
            name.bytes().chain([SEPARATOR]).chain(value.bytes()).chain([SEPARATOR])
        });
        bytes.fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
    }
}

/// No byte of UTF-8.
const SEPARATOR: u8 = 0xff;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
