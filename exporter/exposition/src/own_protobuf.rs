use series::model::{Histogram, NativeBuckets, NativeHistogram};

use super::message::{
    COUNTER, GAUGE, HISTOGRAM, METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_UNTYPED, UNTYPED,
    message_head, point, push_metric, timestamp,
};
use super::own_family::{OwnFamily, OwnKind, OwnValue};
use super::text::known;
use super::wire::{push_bytes, push_double, push_number, push_varint, zigzag};

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
