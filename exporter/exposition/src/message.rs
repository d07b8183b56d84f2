//! The messages of `io.prometheus.client` as far as a page needs them: field numbers, and simple writers.

use super::wire::{bytes_tag, push_bytes, push_double, push_len, push_number, push_varint, varint_len};

/// Everything of a family's message but its metrics: its own length, then the name, help, type and unit.
pub(super) fn message_head(name: &str, help: &str, kind: u64, unit: &str, metrics_bytes: usize) -> Vec<u8> {
    let mut head = Vec::new();
    push_bytes(FAMILY_NAME, name.as_bytes(), &mut head);
    if !help.is_empty() {
        push_bytes(FAMILY_HELP, help.as_bytes(), &mut head);
    }
    push_number(FAMILY_TYPE, kind, &mut head);
    if !unit.is_empty() {
        push_bytes(FAMILY_UNIT, unit.as_bytes(), &mut head);
    }
    let mut out = Vec::with_capacity(head.len() + 5);
    push_len(head.len() + metrics_bytes, &mut out);
    out.extend_from_slice(&head);
    out
}

pub(super) fn push_label(name: &str, value: &str, out: &mut Vec<u8>) {
    let field = |text: &str| 1 + varint_len(text.len() as u64) + text.len();
    out.push(bytes_tag(METRIC_LABEL));
    push_len(field(name) + field(value), out);
    push_bytes(LABEL_NAME, name.as_bytes(), out);
    push_bytes(LABEL_VALUE, value.as_bytes(), out);
}

/// The bytes of a `google.protobuf.Timestamp`.
pub(super) fn timestamp(nanos: u64) -> Vec<u8> {
    let mut out = Vec::new();
    push_number(TIMESTAMP_SECONDS, nanos / NANOS, &mut out);
    push_number(TIMESTAMP_NANOS, nanos % NANOS, &mut out);
    out
}

/// Appends a metric whose labels and value are there.
pub(super) fn push_metric(labels: &[(String, String)], value_field: u8, value: &[u8], out: &mut Vec<u8>) {
    let mut metric = Vec::new();
    for (name, value) in labels {
        push_label(name, value, &mut metric);
    }
    push_bytes(value_field, value, &mut metric);
    out.push(bytes_tag(FAMILY_METRIC));
    push_varint(metric.len() as u64, out);
    out.extend_from_slice(&metric);
}

/// The message of a gauge, a counter or an untyped value.
pub(super) fn point(value: f64, start: Option<u64>) -> Vec<u8> {
    let mut out = Vec::new();
    push_double(POINT_VALUE, value, &mut out);
    if let Some(start) = start {
        push_bytes(COUNTER_START, &timestamp(start), &mut out);
    }
    out
}

// The numbers of the fields, by message.
pub(super) const FAMILY_NAME: u8 = 1;
pub(super) const FAMILY_HELP: u8 = 2;
pub(super) const FAMILY_TYPE: u8 = 3;
pub(super) const FAMILY_METRIC: u8 = 4;
pub(super) const FAMILY_UNIT: u8 = 5;
pub(super) const METRIC_LABEL: u8 = 1;
pub(super) const METRIC_GAUGE: u8 = 2;
pub(super) const METRIC_COUNTER: u8 = 3;
pub(super) const METRIC_UNTYPED: u8 = 5;
pub(super) const METRIC_HISTOGRAM: u8 = 7;
pub(super) const LABEL_NAME: u8 = 1;
pub(super) const LABEL_VALUE: u8 = 2;
pub(super) const POINT_VALUE: u8 = 1;
pub(super) const COUNTER_START: u8 = 3;
pub(super) const TIMESTAMP_SECONDS: u8 = 1;
pub(super) const TIMESTAMP_NANOS: u8 = 2;

// The numbers of the types.
pub(super) const COUNTER: u64 = 0;
pub(super) const GAUGE: u64 = 1;
pub(super) const UNTYPED: u64 = 3;
pub(super) const HISTOGRAM: u64 = 4;

pub(super) const NANOS: u64 = 1_000_000_000;
