//! What points, records and spans have in common, in the JSON of protocol buffers.

use serde_json::Value;

use crate::Result;
use crate::scraped::Labels;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Owner {
    pub(super) resource: Labels,
    pub(super) scope: String,
}

impl Owner {
    pub(super) fn target(&self) -> &str {
        self.resource.get("service.instance.id").map_or("", String::as_str)
    }
}

/// Unix nanoseconds; 0 is "unknown". JSON has integers of 64 bits as text.
pub(super) fn nanoseconds(value: &Value) -> Result<u64> {
    match value.as_str() {
        Some(text) => Ok(text.parse()?),
        None => Ok(0),
    }
}

/// Attributes: texts and integers.
pub(super) fn labels(attributes: &Value) -> Labels {
    let value = |value: &Value| {
        value["intValue"].as_str().map_or_else(|| text_of(&value["stringValue"]), str::to_owned)
    };
    list(attributes).map(|pair| (text_of(&pair["key"]), value(&pair["value"]))).collect()
}

pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
