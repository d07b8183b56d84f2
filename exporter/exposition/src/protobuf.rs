//! `io.prometheus.client.MetricFamily`, each message after its length.
//!
//! A message's length comes first, so the lengths of all series of a family are added up before one of them is
//! written. For regular series (see [`Shape`]) that is a sum of a few bytes, and writing them is copying: a label's
//! text `name="value` has the length of `NAME 12 LENGTH VALUE`.

use series::model::{Block, Chunk, Family, Kind, Labels, Shape, Value, Values};

use super::Representation;
use super::message::{
    COUNTER, COUNTER_START, FAMILY_METRIC, GAUGE, HISTOGRAM, LABEL_NAME, LABEL_VALUE, METRIC_COUNTER,
    METRIC_GAUGE, METRIC_LABEL, METRIC_UNTYPED, NANOS, POINT_VALUE, TIMESTAMP_NANOS, TIMESTAMP_SECONDS,
    UNTYPED, message_head, push_label,
};
use super::room::{put, put_wide};
use super::text::{known, shown_names};
use super::wire::{bytes_tag, fixed64_tag, varint_len, varint_tag};

/// The fields of a family before its metrics.
pub(super) fn header(representation: Representation, family: &Family, metrics_bytes: usize) -> Vec<u8> {
    let shown = shown_names(representation, family);
    let kind = match family.kind {
        Kind::Counter => COUNTER,
        Kind::Gauge | Kind::Info => GAUGE,
        Kind::Histogram => HISTOGRAM,
        Kind::Unknown => UNTYPED,
    };
    message_head(&shown.sample, &family.help, kind, &family.unit, metrics_bytes)
}

/// How the metrics of one family are written that have one value each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metrics {
    representation: Representation,
    kind: Kind,
    has_starts: bool,
}

impl Metrics {
    pub(super) fn of(representation: Representation, family: &Family, values: &Values) -> Self {
        let has_starts = family.kind == Kind::Counter && values.has_start_times();
        Self { representation, kind: family.kind, has_starts }
    }

    /// How far one metric may go beyond the limit, and what is read and written beyond it. Each label takes at most
    /// twice its text; irregular ones are escaped besides.
    pub(super) fn bytes_max(self, chunk: &Chunk) -> usize {
        ESCAPE_GROWTH * chunk.longest_prefix() + METRIC_BYTES_MAX
    }

    /// The bytes of all metrics of a block.
    pub(super) fn block_bytes(self, block: &Block, values: &Values) -> usize {
        block.chunks().iter().map(|chunk| self.chunk_bytes(chunk, values)).sum()
    }

    fn chunk_bytes(self, chunk: &Chunk, values: &Values) -> usize {
        let labels = LabelLengths::of(chunk);
        let mut sum = 0;
        let mut scratch = Vec::new();
        for (index, &id) in chunk.ids().iter().enumerate() {
            if values.value(id).is_none() {
                continue;
            }
            let labels_bytes = labels.regular(chunk, index).map(|lengths| labels.bytes(lengths));
            let labels_bytes = labels_bytes.unwrap_or_else(|| {
                scratch.clear();
                push_labels(self.representation, prefix(chunk, index), &mut scratch);
                scratch.len()
            });
            let body = labels_bytes + self.point_len(values, id);
            sum += 1 + varint_len(body as u64) + body;
        }
        sum
    }

    /// Writes metrics from the series at `next` on, up to `limit`; answers where they end.
    pub(super) fn write(
        self,
        chunk: &Chunk,
        values: &Values,
        next: &mut usize,
        (room, mut at, limit): (&mut [u8], usize, usize),
    ) -> usize {
        let labels = LabelLengths::of(chunk);
        let (ids, ends, prefixes) = (chunk.ids(), chunk.ends(), chunk.prefixes());
        let from = *next;
        let mut start = from.checked_sub(1).map_or(0, |before| ends[before] as usize);
        let mut scratch = Vec::new();
        for (index, (&id, &end)) in ids.iter().zip(ends).enumerate().skip(from) {
            if at >= limit {
                break;
            }
            *next = index + 1;
            if let Some(value) = values.value(id) {
                if let Some(lengths) = labels.regular(chunk, index) {
                    at = put_head(room, at, labels.bytes(lengths) + self.point_len(values, id));
                    at = labels.put(room, at, prefixes, start, lengths);
                } else {
                    scratch.clear();
                    push_labels(self.representation, prefix(chunk, index), &mut scratch);
                    at = put_head(room, at, scratch.len() + self.point_len(values, id));
                    room[at..at + scratch.len()].copy_from_slice(&scratch);
                    at += scratch.len();
                }
                at = self.put_point(room, at, value, values, id);
            }
            start = end as usize;
        }
        at
    }

    #[inline]
    fn start(self, values: &Values, id: u32) -> Option<u64> {
        if self.has_starts { known(values.start_time_unix_nanos(id)) } else { None }
    }

    #[inline]
    fn point_len(self, values: &Values, id: u32) -> usize {
        self.start(values, id).map_or(0, |start| 2 + timestamp_len(start)) + 2 + DOUBLE_BYTES
    }

    /// The field `gauge`, `counter` or `untyped`.
    #[inline]
    fn put_point(self, room: &mut [u8], at: usize, value: Value, values: &Values, id: u32) -> usize {
        let (tag, value) = match self.kind {
            Kind::Gauge => (bytes_tag(METRIC_GAUGE), value),
            Kind::Counter => (bytes_tag(METRIC_COUNTER), value),
            Kind::Unknown | Kind::Histogram => (bytes_tag(METRIC_UNTYPED), value),
            Kind::Info => (bytes_tag(METRIC_GAUGE), Value::U64(1)),
        };
        #[expect(clippy::cast_possible_truncation, reason = "a point has some thirty bytes at most")]
        let len = (self.point_len(values, id) - 2) as u8;
        room[at..at + 3].copy_from_slice(&[tag, len, fixed64_tag(POINT_VALUE)]);
        room[at + 3..at + 11].copy_from_slice(&value.as_f64().to_le_bytes());
        match self.start(values, id) {
            Some(start) => put_timestamp(room, at + 11, start),
            None => at + 11,
        }
    }
}

/// The lengths of the labels of a chunk's regular series.
struct LabelLengths {
    head: usize,
    names: [u8; LABELS_MAX],
    count: usize,
    /// The bytes of all labels but those of the values.
    fixed: usize,
}

impl LabelLengths {
    fn of(chunk: &Chunk) -> Self {
        let shape = chunk.shape();
        let (mut names, mut fixed) = ([0; LABELS_MAX], 0);
        for (length, name) in names.iter_mut().zip(shape.names()) {
            *length = u8::try_from(name.len()).unwrap_or(0);
            fixed += name.len() + LABEL_FRAME;
        }
        let count = if shape.names().len() <= LABELS_MAX { shape.names().len() } else { 0 };
        Self { head: shape.head(), names, count, fixed }
    }

    /// The lengths of the series' values, if it is regular.
    #[inline]
    fn regular<'a>(&self, chunk: &'a Chunk, index: usize) -> Option<&'a [u8]> {
        let lengths = chunk.value_lengths().get(index * self.count..(index + 1) * self.count)?;
        lengths.first().is_some_and(|&length| length != Shape::IRREGULAR).then_some(lengths)
    }

    #[inline]
    fn bytes(&self, lengths: &[u8]) -> usize {
        self.fixed + lengths.iter().map(|&length| usize::from(length)).sum::<usize>()
    }

    /// Writes the labels of the series whose prefix begins at `start`.
    #[inline]
    fn put(&self, room: &mut [u8], mut at: usize, prefixes: &[u8], start: usize, lengths: &[u8]) -> usize {
        let mut from = start + self.head;
        for (&name, &value) in self.names.iter().zip(lengths) {
            let text = name + 2 + value;
            room[at..at + 4].copy_from_slice(&[
                bytes_tag(METRIC_LABEL),
                text + 2,
                bytes_tag(LABEL_NAME),
                name,
            ]);
            at += 4;
            let text = usize::from(text);
            if text > WIDE || !put_wide::<WIDE>(room, at, prefixes, from) {
                put(room, at, &prefixes[from..from + text]);
            }
            let between = at + usize::from(name);
            room[between..between + 2].copy_from_slice(&[bytes_tag(LABEL_VALUE), value]);
            at += text;
            from += text + 2;
        }
        at
    }
}

fn prefix(chunk: &Chunk, index: usize) -> &str {
    let start = index.checked_sub(1).map_or(0, |before| chunk.ends()[before] as usize);
    std::str::from_utf8(&chunk.prefixes()[start..chunk.ends()[index] as usize]).unwrap_or_default()
}

/// Appends the labels of any prefix.
pub(super) fn push_labels(representation: Representation, prefix: &str, out: &mut Vec<u8>) {
    for (name, value) in Labels::of_prefix(prefix) {
        push_label(&representation.escaping.label_name(name), &value, out);
    }
}

/// The tag and the length of a metric.
#[inline]
fn put_head(room: &mut [u8], at: usize, len: usize) -> usize {
    room[at] = bytes_tag(FAMILY_METRIC);
    if len < 0x80 {
        room[at + 1] = len.to_le_bytes()[0];
        return at + 2;
    }
    put_varint(room, at + 1, len as u64)
}

fn put_varint(room: &mut [u8], mut at: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        room[at] = value.to_le_bytes()[0] | 0x80;
        value >>= 7;
        at += 1;
    }
    room[at] = value.to_le_bytes()[0];
    at + 1
}

/// The length of a `google.protobuf.Timestamp`.
fn timestamp_len(nanos: u64) -> usize {
    2 + varint_len(nanos / NANOS) + varint_len(nanos % NANOS)
}

/// The field `start_timestamp` of a counter.
fn put_timestamp(room: &mut [u8], at: usize, nanos: u64) -> usize {
    room[at] = bytes_tag(COUNTER_START);
    let at = put_varint(room, at + 1, timestamp_len(nanos) as u64);
    room[at] = varint_tag(TIMESTAMP_SECONDS);
    let at = put_varint(room, at + 1, nanos / NANOS);
    room[at] = varint_tag(TIMESTAMP_NANOS);
    put_varint(room, at + 1, nanos % NANOS)
}

/// A tag and a double.
const DOUBLE_BYTES: usize = 9;
/// What a short label has besides its name and value: three tags and three lengths.
const LABEL_FRAME: usize = 6;
/// Series with more labels take the slow way.
const LABELS_MAX: usize = 32;
/// The length of one copy.
const WIDE: usize = 32;
/// Framing at most doubles a label, escaping a name makes at most four bytes of one.
const ESCAPE_GROWTH: usize = 8;
/// The value, the start time and the metric's own head, and what wide copies write beyond a text.
const METRIC_BYTES_MAX: usize = 64 + 5 * WIDE;
