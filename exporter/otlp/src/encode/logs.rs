//! Events as log records.

use std::collections::BTreeSet;

use plugin_abi::{Attribute, Event, Level};

use super::{
    BYTES, FIXED64, Record, VARINT, key, put_attribute, put_bytes, put_double_attribute, put_fixed64,
    put_text,
};

impl Record {
    /// The log record of an event that was seen at `observed_unix_nanos`.
    #[must_use]
    pub fn of_event(event: &Event<'_>, observed_unix_nanos: u64) -> Self {
        let mut out = Vec::new();
        let (number, word) = severity(event.level);
        // Readers sort and delete by this, and not all of them know the other time.
        let time = event.time_unix_nanos.and_then(|time| u64::try_from(time).ok());
        put_fixed64(&mut out, key(1, FIXED64) /* time_unix_nano */, time.unwrap_or(observed_unix_nanos));
        out.extend_from_slice(&[key(2, VARINT) /* severity_number */, number]);
        put_text(&mut out, key(3, BYTES) /* severity_text */, word);
        let mut body = Vec::new();
        put_bytes(&mut body, key(1, BYTES) /* string_value */, event.body.as_bytes());
        put_bytes(&mut out, key(5, BYTES) /* body */, &body);
        let alert = event.alert.map(|alert| [(ALERT_ID, alert.id), (ALERT_STATE, alert.state.as_str())]);
        let is_own = |name: &str| alert.is_some() && [ALERT_ID, ALERT_STATE].contains(&name);
        let mut names = BTreeSet::new();
        // A key is there once in a record: the first counts.
        let said = event.attributes().filter(|(name, _)| !is_own(name) && names.insert(*name));
        let own = alert.into_iter().flatten().map(|(name, text)| (name, Attribute::Text(text)));
        for (name, value) in said.chain(own) {
            let field = key(6, BYTES) /* attributes */;
            match value {
                Attribute::Text(text) => put_attribute(&mut out, field, name, text),
                Attribute::Number(number) => put_double_attribute(&mut out, field, name, number),
            }
        }
        put_fixed64(&mut out, key(11, FIXED64) /* observed_time_unix_nano */, observed_unix_nanos);
        put_text(&mut out, key(12, BYTES) /* event_name */, event.name);
        Self(out)
    }
}

/// Which alert the event is about.
const ALERT_ID: &str = "alert.id";
/// `opened`, `open` or `closed`.
const ALERT_STATE: &str = "alert.state";

/// `SeverityNumber` and its short name.
fn severity(level: Level) -> (u8, &'static str) {
    match level {
        Level::Trace => (1, "TRACE"),
        Level::Debug => (5, "DEBUG"),
        Level::Info => (9, "INFO"),
        Level::Warn => (13, "WARN"),
        Level::Error => (17, "ERROR"),
    }
}
