//! The messages of `io.prometheus.client` as far as a page needs them: field numbers, and simple writers.

use series::model::{Block, Family, Histogram, HistogramPoint, NativeBuckets, NativeHistogram, Values};

use super::Representation;
use super::own::{OwnFamily, OwnKind, OwnValue};
use super::protobuf::push_labels;
use super::text::known;

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

/// Appends a metric of the family. The bucket up to +Inf is left out: its count is that of the histogram.
pub(super) fn push_histogram(
    representation: Representation,
    family: &Family,
    prefix: &str,
    (histogram, start): (&HistogramPoint<'_>, Option<i64>),
    out: &mut Vec<u8>,
) {
    let mut value = Vec::new();
    push_number(SAMPLE_COUNT, histogram.count, &mut value);
    push_double(SAMPLE_SUM, histogram.sum, &mut value);
    let mut bucket = Vec::new();
    for (&bound, count) in family.bounds.iter().zip(histogram.cumulative()) {
        bucket.clear();
        push_number(BUCKET_CUMULATIVE_COUNT, count, &mut bucket);
        push_double(BUCKET_UPPER_BOUND, bound, &mut bucket);
        push_bytes(BUCKET, &bucket, &mut value);
    }
    if let Some(start) = known(start) {
        push_bytes(CREATED, &timestamp(start), &mut value);
    }
    let mut metric = Vec::new();
    push_labels(representation, prefix, &mut metric);
    push_bytes(METRIC_HISTOGRAM, &value, &mut metric);
    push_bytes(FAMILY_METRIC, &metric, out);
}

/// The bytes of all metrics of a block.
pub(super) fn block_bytes(representation: Representation, block: &Block, values: &Values) -> usize {
    let (mut bytes, mut metric) = (0, Vec::new());
    for (id, prefix) in block.chunks().iter().flat_map(|chunk| chunk.iter()) {
        if let Some(histogram) = values.histogram(id) {
            let prefix = std::str::from_utf8(prefix).unwrap_or_default();
            let point = (&histogram, values.start_time_unix_nanos(id));
            metric.clear();
            push_histogram(representation, block.family(), prefix, point, &mut metric);
            bytes += metric.len();
        }
    }
    bytes
}

// The numbers of the fields.
const SAMPLE_COUNT: u8 = 1;
const SAMPLE_SUM: u8 = 2;
const BUCKET: u8 = 3;
const CREATED: u8 = 15;
const BUCKET_CUMULATIVE_COUNT: u8 = 1;
const BUCKET_UPPER_BOUND: u8 = 2;

/// Appends a family as a message after its length.
pub(super) fn push_protobuf(family: &OwnFamily, out: &mut Vec<u8>) {
    let (kind, field) = match family.kind {
        OwnKind::Gauge | OwnKind::Info => (GAUGE, METRIC_GAUGE),
        OwnKind::Counter => (COUNTER, METRIC_COUNTER),
        OwnKind::Unknown => (UNTYPED, METRIC_UNTYPED),
        OwnKind::Histogram => (HISTOGRAM, METRIC_HISTOGRAM),
    };
    let mut metrics = Vec::new();
    for series in &family.series {
        let value = match &series.value {
            OwnValue::Number { value, start_time_unix_nanos } => point(*value, known(*start_time_unix_nanos)),
            OwnValue::Histogram(histogram) => histogram_message(histogram),
        };
        push_metric(&series.labels, field, &value, &mut metrics);
    }
    let name = format!("{}{}", family.name, family.kind.sample_suffix());
    out.extend_from_slice(&message_head(&name, &family.help, kind, &family.unit, metrics.len()));
    out.extend_from_slice(&metrics);
}

fn histogram_message(histogram: &Histogram) -> Vec<u8> {
    let mut out = Vec::new();
    push_number(1, histogram.count, &mut out);
    push_double(2, histogram.sum, &mut out);
    for bucket in &histogram.buckets {
        let mut message = Vec::new();
        push_number(1, bucket.cumulative_count, &mut message);
        push_double(2, bucket.upper_bound, &mut message);
        push_bytes(3, &message, &mut out);
    }
    if let Some(native) = &histogram.native {
        push_native(native, &mut out);
    }
    if let Some(start) = known(histogram.start_time_unix_nanos) {
        push_bytes(15, &timestamp(start), &mut out);
    }
    out
}

fn push_native(native: &NativeHistogram, out: &mut Vec<u8>) {
    push_number(5, zigzag(native.schema.into()), out);
    push_double(6, native.zero_threshold, out);
    push_number(7, native.zero_count, out);
    push_side(9, 10, &native.negative, out);
    push_side(12, 13, &native.positive, out);
}

fn push_side(span_field: u8, delta_field: u8, side: &NativeBuckets, out: &mut Vec<u8>) {
    for &(offset, length) in &side.spans {
        let mut span = Vec::new();
        push_number(1, zigzag(offset.into()), &mut span);
        push_number(2, length.into(), &mut span);
        push_bytes(span_field, &span, out);
    }
    if !side.deltas.is_empty() {
        let mut deltas = Vec::new();
        side.deltas.iter().for_each(|&delta| push_varint(zigzag(delta), &mut deltas));
        push_bytes(delta_field, &deltas, out);
    }
}

// The few parts of protobuf's wire format that a page needs.

/// The tag of a field with a length.
pub(super) const fn bytes_tag(field: u8) -> u8 {
    field << 3 | 2
}

/// The tag of a field with a number of varying length.
pub(super) const fn varint_tag(field: u8) -> u8 {
    field << 3
}

/// The tag of a field of eight bytes.
pub(super) const fn fixed64_tag(field: u8) -> u8 {
    field << 3 | 1
}

pub(super) fn varint_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

pub(super) fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

pub(super) fn push_len(len: usize, out: &mut Vec<u8>) {
    push_varint(len as u64, out);
}

/// Small numbers of either sign, alternating.
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// The field of that number: its bytes after their length.
pub(super) fn push_bytes(field: u8, bytes: &[u8], out: &mut Vec<u8>) {
    push_tag(field, 2, out);
    push_len(bytes.len(), out);
    out.extend_from_slice(bytes);
}

pub(super) fn push_number(field: u8, value: u64, out: &mut Vec<u8>) {
    push_tag(field, 0, out);
    push_varint(value, out);
}

pub(super) fn push_double(field: u8, value: f64, out: &mut Vec<u8>) {
    push_tag(field, 1, out);
    out.extend_from_slice(&value.to_le_bytes());
}

fn push_tag(field: u8, wire_type: u8, out: &mut Vec<u8>) {
    push_varint(u64::from(field) << 3 | u64::from(wire_type), out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_as_long_as_they_say() {
        for value in [0, 1, 127, 128, 300, 16_383, 16_384, u64::MAX] {
            let mut out = Vec::new();
            push_varint(value, &mut out);
            assert_eq!(out.len(), varint_len(value), "{value}");
        }
        let mut out = Vec::new();
        push_varint(300, &mut out);
        // The example of protobuf's documentation.
        assert_eq!(out, [0xac, 0x02]);
        assert_eq!([0, -1, 1, -2, i64::MIN].map(zigzag), [0, 1, 2, 3, u64::MAX]);
    }
}
