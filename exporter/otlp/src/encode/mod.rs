//! Snapshots as OTLP requests. It only makes bytes: no sockets, no clocks, no tasks.
//!
//! A [`Part`] is what one plugin instance knew of one target after a collection. [`Requests`] walks over parts and
//! writes `ExportMetricsServiceRequest` messages (opentelemetry-proto, package
//! `opentelemetry.proto.collector.metrics.v1`) of at most so many bytes, each complete in itself:
//!
//! | in the model | in OTLP |
//! | --- | --- |
//! | target | a `Resource`: `service.name`, `service.instance.id`, `host.name`, `os.type` and `os.version` once it said them, its labels |
//! | plugin | a scope |
//! | family | a `Metric` under the family's name without the suffix of its kind, its unit as UCUM has it |
//! | counter | a monotonic sum, cumulative or delta |
//! | gauge, unknown | a gauge |
//! | info | a gauge that is 1, under the name with `_info` |
//! | histogram | a histogram with explicit bounds, cumulative or delta; without a sum where observations may be negative |
//!
//! An event is a `LogRecord`, a collection a `Span` with one for each of its stages: [`Record`], made when it happens.
//!
//! **Start times.** A cumulative sum or histogram says when it began where that is known. Where it is not, the field is 0,
//! which the protocol defines as "unknown"; a guess would turn into a wrong rate at the reader, who sees a restart
//! by the value that falls. A delta's start is the time of what it is compared with. Where the start is another one than
//! then, the growth is counted from there if that was since the last export; else, and where the value fell, there is no
//! point, since nobody knows the growth.
//!
//! **What vanished** since the part before is sent once more with the flag "no recorded value"; not so the
//! sums of delta endpoints, where silence says as much.
//!
//! **Speed.** Labels come from [`Templates`]: a point's bytes, made when the series is new, in which only times
//! and value change. A chunk of series is copied as a whole and then filled in.
//!
//! ```
//! # use std::sync::Arc;
//! use series::model::{Snapshot, Target};
//! use otlp::encode::{Facts, Part, Requests, Resource, Scope, Templates, Temporality};
//!
//! let target = Arc::new(Target::new("web1"));
//! let part = Part {
//!     resource: Arc::new(Resource::of(&target, &Facts { host: "web1.example.com", ..Facts::default() })),
//!     scope: Arc::new(Scope::new("pcq", "1.0")),
//!     snapshot: Arc::new(Snapshot::empty(target)),
//!     time_unix_nanos: 1_750_000_000_000_000_000,
//!     earlier: None,
//! };
//! let (mut templates, mut body) = (Templates::default(), Vec::new());
//! let mut requests = Requests::new(vec![part], Temporality::Cumulative);
//! while let Some(request) = requests.next_request(&mut templates, 3 << 20, &mut body) {
//!     println!("{} points in {} bytes", request.points, body.len());
//! }
//! ```
#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod change;
mod requests;
mod resource;
mod run;
mod spans;
mod templates;
mod writing;

use std::collections::BTreeSet;
use std::sync::Arc;

use plugin_abi::{Attribute, Event, Level};
use series::model::{Snapshot, Value};

pub use self::requests::{Request, Requests};
pub use self::resource::{Facts, Resource, Scope};
pub use self::spans::{Collected, SpanIds, Trigger, spans};
pub use self::templates::Templates;

use crate::encode::resource::put_owner;

/// A `LogRecord` or a `Span`, in bytes. It is made when it happens, because its data is not kept.
#[derive(Clone, Debug)]
pub struct Record(Vec<u8>);

impl Record {
    /// How long it is.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.len()
    }
}

/// Appends records of one target and one plugin to an `ExportLogsServiceRequest`, or spans to an
/// `ExportTraceServiceRequest`: such messages one after the other are one message.
pub fn put_records<'a>(
    out: &mut Vec<u8>,
    resource: &Resource,
    scope: &Scope,
    records: impl IntoIterator<Item = &'a Record>,
) {
    let mut nest = Nest::default();
    nest.open(out, 1 /* resource_logs, resource_spans */);
    put_owner(out, &resource.message, true);
    nest.open(out, 2 /* scope_logs, scope_spans */);
    put_owner(out, &scope.message, false);
    for record in records {
        put_bytes(out, key(2, BYTES) /* log_records, spans */, &record.0);
    }
    nest.close_to(out, 0);
}

/// The messages that are open, the outermost first.
#[derive(Clone, Copy, Debug, Default)]
struct Nest {
    begins: [usize; LEVELS],
    depth: usize,
}

/// `ResourceMetrics`, `ScopeMetrics`, `Metric`, `Gauge` or `Sum`.
const LEVELS: usize = 4;
/// Bytes of a length: up to 256 MiB.
const LENGTH_BYTES: usize = 4;
/// Maximum size of a request, independent of the configuration.
const REQUEST_BYTES_MAX: usize = 1 << (7 * LENGTH_BYTES - 1);

impl Nest {
    fn depth(self) -> usize {
        self.depth
    }

    fn open(&mut self, out: &mut Vec<u8>, field: u8) {
        out.push(key(field, BYTES));
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        self.begins[self.depth] = out.len();
        self.depth += 1;
    }

    /// Ends messages until `depth` of them are open.
    fn close_to(&mut self, out: &mut [u8], depth: usize) {
        while self.depth > depth {
            self.depth -= 1;
            let begin = self.begins[self.depth];
            let length = out.len() - begin;
            padded_varint(&mut out[begin - LENGTH_BYTES..begin], length);
        }
    }
}

/// A value as `NumberDataPoint` has it: the key of its field, and eight bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Number {
    key: u8,
    bits: u64,
}

const DOUBLE: u8 = key(4, FIXED64);
const INT: u8 = key(6, FIXED64);

impl Number {
    /// The value of an info, whatever was sent.
    const ONE: Self = Self { key: INT, bits: 1 };

    /// Integers beyond what OTLP's signed ones hold become doubles.
    #[inline]
    fn of(value: Value) -> Self {
        match value {
            Value::F64(value) => Self { key: DOUBLE, bits: value.to_bits() },
            Value::I64(value) => Self { key: INT, bits: value.cast_unsigned() },
            Value::U64(value) if i64::try_from(value).is_ok() => Self { key: INT, bits: value },
            #[expect(clippy::cast_precision_loss, reason = "no other type of OTLP holds it")]
            Value::U64(value) => Self { key: DOUBLE, bits: (value as f64).to_bits() },
        }
    }
}

/// The increase of a counter. `None` if it fell: it was reset, and nobody said when.
#[inline]
fn growth(before: Value, now: Value) -> Option<Value> {
    match (before, now) {
        (Value::U64(before), Value::U64(now)) => now.checked_sub(before).map(Value::U64),
        (Value::I64(before), Value::I64(now)) if now >= before => {
            Some(Value::I64(now.saturating_sub(before)))
        }
        (Value::F64(before), Value::F64(now)) if now >= before => Some(Value::F64(now - before)),
        _ => None,
    }
}

/// The temporality of sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Temporality {
    /// From when they began.
    #[default]
    Cumulative,
    /// From the last export that was acknowledged.
    Delta,
}

/// The data of one plugin instance on one target after one collection.
#[derive(Clone, Debug)]
pub struct Part {
    /// The target. Parts of one target share it and stand side by side.
    pub resource: Arc<Resource>,
    pub scope: Arc<Scope>,
    pub snapshot: Arc<Snapshot>,
    /// When the collection ended.
    pub time_unix_nanos: u64,
    /// The data of the same instance at its last export.
    pub earlier: Option<Earlier>,
}

/// The last export of an instance's series.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// The sent snapshot: series that are missing now have vanished.
    pub sent: Arc<Snapshot>,
    /// The base of deltas.
    pub counts: Arc<Snapshot>,
    /// The time of `counts`.
    pub counts_time_unix_nanos: u64,
}

/// A place in the parts: the next series to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Position {
    part: usize,
    block: usize,
    chunk: usize,
    series: usize,
    /// How many of those that vanished were written.
    gone: usize,
}

// Protocol buffers, as far as OTLP needs them.

const VARINT: u8 = 0;
/// Wire type 1: eight bytes, little endian.
const FIXED64: u8 = 1;
/// Wire type 2: a length, then so many bytes.
const BYTES: u8 = 2;

/// The key of a field with a number below 16.
const fn key(field: u8, wire_type: u8) -> u8 {
    field << 3 | wire_type
}

fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push((value & 0x7f) as u8);
}

/// How many bytes [`put_varint`] writes.
const fn varint_len(value: usize) -> usize {
    let bits = (usize::BITS - value.leading_zeros()) as usize;
    if bits == 0 { 1 } else { bits.div_ceil(7) }
}

/// A varint in exactly so many bytes. Readers take leading zeros, so a length can be filled in later.
fn padded_varint(room: &mut [u8], value: usize) {
    let mut value = value as u64;
    let last = room.len().saturating_sub(1);
    for (index, byte) in room.iter_mut().enumerate() {
        *byte = (value & 0x7f) as u8 | if index < last { 0x80 } else { 0 };
        value >>= 7;
    }
}

fn put_bytes(out: &mut Vec<u8>, key: u8, bytes: &[u8]) {
    out.push(key);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A string that is left out where it is empty, which says the same.
fn put_text(out: &mut Vec<u8>, key: u8, text: &str) {
    if !text.is_empty() {
        put_bytes(out, key, text.as_bytes());
    }
}

fn put_fixed64(out: &mut Vec<u8>, key: u8, value: u64) {
    out.push(key);
    out.extend_from_slice(&value.to_le_bytes());
}

/// `KeyValue {key = 1, value = 2: AnyValue {string_value = 1}}` as field `field`.
fn put_attribute(out: &mut Vec<u8>, field: u8, name: &str, value: &str) {
    let any = 1 + varint_len(value.len()) + value.len();
    let pair = 1 + varint_len(name.len()) + name.len() + 1 + varint_len(any) + any;
    out.push(field);
    put_varint(out, pair as u64);
    put_bytes(out, key(1, BYTES), name.as_bytes());
    out.push(key(2, BYTES));
    put_varint(out, any as u64);
    // An empty text is a text all the same: without the field it would be no value at all.
    put_bytes(out, key(1, BYTES), value.as_bytes());
}

/// The same with `AnyValue {int_value = 3}`.
fn put_number_attribute(out: &mut Vec<u8>, field: u8, name: &str, value: u64) {
    let mut any = vec![key(3, VARINT)];
    put_varint(&mut any, value);
    put_any_attribute(out, field, name, &any);
}

/// The same with `AnyValue {double_value = 4}`.
fn put_double_attribute(out: &mut Vec<u8>, field: u8, name: &str, value: f64) {
    let mut any = Vec::new();
    put_fixed64(&mut any, key(4, FIXED64), value.to_bits());
    put_any_attribute(out, field, name, &any);
}

fn put_any_attribute(out: &mut Vec<u8>, field: u8, name: &str, any: &[u8]) {
    let mut pair = Vec::with_capacity(64);
    put_bytes(&mut pair, key(1, BYTES), name.as_bytes());
    put_bytes(&mut pair, key(2, BYTES), any);
    put_bytes(out, field, &pair);
}

// Events as log records.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_varint_has_as_many_bytes_as_it_says() {
        for value in [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, usize::MAX] {
            let mut out = Vec::new();
            put_varint(&mut out, value as u64);
            assert_eq!(out.len(), varint_len(value), "{value}");
            let mut padded = [0xee; 10];
            padded_varint(&mut padded, value);
            let read = prost::decode_length_delimiter(&padded[..]).unwrap();
            assert_eq!(read, value);
        }
    }
}
