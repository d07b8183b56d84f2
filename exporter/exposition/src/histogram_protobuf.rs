//! Histograms as messages.

use series::model::{Block, Family, HistogramPoint, Values};

use super::Representation;
use super::message::{FAMILY_METRIC, METRIC_HISTOGRAM, timestamp};
use super::protobuf::push_labels;
use super::text::known;
use super::wire::{push_bytes, push_double, push_number};

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
