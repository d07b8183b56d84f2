//! Log records and spans, as a collector wrote them down.

use serde_json::Value;

use super::{Owner, labels, nanoseconds, text_of};
use crate::Result;
use crate::scraped::Labels;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    pub(super) owner: Owner,
    pub(super) name: String,
    /// `SeverityNumber`, and the word beside it.
    pub(super) severity: (u64, String),
    pub(super) body: String,
    pub(super) attributes: Labels,
    /// Unix nanoseconds; 0 is "unknown".
    pub(super) time: u64,
    /// In nanoseconds since 1970.
    pub(super) observed: u64,
}

impl Event {
    pub(super) fn read(owner: &Owner, record: &Value) -> Result<Self> {
        let body = record["body"]["stringValue"].as_str();
        Ok(Self {
            owner: owner.clone(),
            name: text_of(&record["eventName"]),
            severity: (number(&record["severityNumber"]), text_of(&record["severityText"])),
            body: body.ok_or_else(|| format!("a body that is no text: {record}"))?.to_owned(),
            attributes: labels(&record["attributes"]),
            time: nanoseconds(&record["timeUnixNano"])?,
            observed: nanoseconds(&record["observedTimeUnixNano"])?,
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) owner: Owner,
    /// In hexadecimal digits, as the other two.
    pub(super) trace: String,
    pub(super) id: String,
    /// Empty for the collection itself.
    pub(super) parent: String,
    pub(super) name: String,
    /// What documents call `SpanKind`.
    pub(super) kind: u64,
    pub(super) attributes: Labels,
    /// In nanoseconds since 1970.
    pub(super) start: u64,
    /// In nanoseconds since 1970.
    pub(super) end: u64,
    /// `StatusCode` and the message.
    pub(super) status: (u64, String),
}

impl Span {
    pub(super) fn read(owner: &Owner, span: &Value) -> Result<Self> {
        let status = &span["status"];
        Ok(Self {
            owner: owner.clone(),
            trace: text_of(&span["traceId"]),
            id: text_of(&span["spanId"]),
            parent: text_of(&span["parentSpanId"]),
            name: text_of(&span["name"]),
            kind: number(&span["kind"]),
            attributes: labels(&span["attributes"]),
            start: nanoseconds(&span["startTimeUnixNano"])?,
            end: nanoseconds(&span["endTimeUnixNano"])?,
            status: (number(&status["code"]), text_of(&status["message"])),
        })
    }

    pub(super) fn is_root(&self) -> bool {
        self.parent.is_empty()
    }

    pub(super) fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

/// An enumeration's number; the first one is left out.
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}
