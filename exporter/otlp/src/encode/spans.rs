//! Collections as spans.

use plugin_abi::{Completion, Failure, Outcome, StageReport};

use super::{
    BYTES, FIXED64, Record, VARINT, key, put_attribute, put_bytes, put_fixed64, put_number_attribute,
    put_text,
};

/// What started a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The schedule, by the target's interval.
    Schedule,
    /// A request for `/probe`.
    Probe,
}

impl Trigger {
    /// The word of the attribute `perfmon.trigger`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Probe => "probe",
        }
    }
}

/// A collection that ended.
#[derive(Clone, Copy, Debug)]
pub struct Collected<'a> {
    /// The module that was collected.
    pub module: &'a str,
    pub plugin: &'a str,
    pub trigger: Trigger,
    /// When it began, in Unix nanoseconds.
    pub begin_unix_nanos: u64,
    /// When it ended, in Unix nanoseconds.
    pub end_unix_nanos: u64,
    /// The end on the monotonic clock, which the stages are told by.
    pub end_ns: u64,
    pub completion: &'a Completion<'a>,
    /// Series that it brought.
    pub series: usize,
}

/// The random ids of spans.
#[derive(Clone, Copy, Debug)]
pub struct SpanIds {
    /// Of all spans of the collection.
    pub trace: [u8; 16],
    /// Of the collection; those of its stages follow from it.
    pub root: [u8; 8],
}

impl SpanIds {
    /// Makes ids from random bytes. Ids that are all zeros would be invalid.
    #[must_use]
    pub fn of(random: &[u8; 24]) -> Self {
        let (mut trace, mut root) = ([0; 16], [0; 8]);
        trace.copy_from_slice(&random[..16]);
        root.copy_from_slice(&random[16..]);
        trace[15] |= 1;
        root[7] |= 1;
        Self { trace, root }
    }

    /// Whether a sampler that takes this share of traces takes this one (W3C Trace Context Level 2, 5.1: by the last
    /// seven bytes).
    #[must_use]
    pub fn is_sampled(&self, ratio: f64) -> bool {
        let drawn = self.trace[9..].iter().fold(0_u64, |drawn, &byte| drawn << 8 | u64::from(byte));
        #[expect(clippy::cast_precision_loss, reason = "56 bits; the last three matter to nobody")]
        let drawn = drawn as f64 / (1_u64 << 56) as f64;
        drawn < ratio
    }

    /// The id of a stage. The step is even, so that the last bit stays set and no id is zero.
    fn child(&self, index: usize) -> [u8; 8] {
        let step = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c16);
        u64::from_be_bytes(self.root).wrapping_add(step).to_be_bytes()
    }
}

/// A span for the collection and one for each of its stages. A stage that was gone through several times is one span
/// from its first beginning, as long as all of them.
#[must_use]
pub fn spans(ids: &SpanIds, collected: &Collected<'_>) -> Vec<Record> {
    let Completion { outcome, stages } = collected.completion;
    let (word, failure) = match outcome {
        Outcome::Full => ("full", None),
        Outcome::Partial { failure, .. } => ("partial", failure.as_ref()),
        Outcome::Failed(failure) => ("failed", Some(failure)),
    };
    let mut root = Span::begin(ids, ids.root, None, INTERNAL, &format!("collect {}", collected.module));
    root.times(collected.begin_unix_nanos, collected.end_unix_nanos);
    root.text("perfmon.module", collected.module);
    root.text("perfmon.plugin", collected.plugin);
    root.text("perfmon.trigger", collected.trigger.as_str());
    root.text("perfmon.outcome", word);
    root.number("perfmon.series", collected.series as u64);
    if let Some(failure) = failure {
        root.text("perfmon.stage", failure.stage.as_str());
        root.fail(failure);
    }
    let mut records = vec![root.end()];
    for (index, report) in stages.iter().enumerate() {
        records.push(stage(ids, index, collected, report, failure));
    }
    records
}

fn stage(
    ids: &SpanIds,
    index: usize,
    collected: &Collected<'_>,
    report: &StageReport,
    failure: Option<&Failure>,
) -> Record {
    let mut span = Span::begin(ids, ids.child(index), Some(ids.root), CLIENT, report.stage.as_str());
    // By how long ago it began, so that the wall clock may be set in between.
    let ago = collected.end_ns.saturating_sub(report.start_ns);
    let begin = collected.end_unix_nanos.saturating_sub(ago).max(collected.begin_unix_nanos);
    span.times(begin, begin.saturating_add(report.duration_ns));
    span.number("perfmon.calls", report.calls);
    span.number("perfmon.received_bytes", report.bytes_in);
    span.number("perfmon.sent_bytes", report.bytes_out);
    if let Some(failure) = failure.filter(|failure| failure.stage == report.stage) {
        span.fail(failure);
    }
    span.end()
}

/// A `Span` that is being written.
struct Span(Vec<u8>);

impl Span {
    fn begin(ids: &SpanIds, id: [u8; 8], parent: Option<[u8; 8]>, kind: u8, name: &str) -> Self {
        let mut out = Vec::with_capacity(256);
        put_bytes(&mut out, key(1, BYTES) /* trace_id */, &ids.trace);
        put_bytes(&mut out, key(2, BYTES) /* span_id */, &id);
        if let Some(parent) = parent {
            put_bytes(&mut out, key(4, BYTES) /* parent_span_id */, &parent);
        }
        put_text(&mut out, key(5, BYTES) /* name */, name);
        out.extend_from_slice(&[key(6, VARINT) /* kind */, kind]);
        Self(out)
    }

    fn times(&mut self, begin_unix_nanos: u64, end_unix_nanos: u64) {
        put_fixed64(&mut self.0, key(7, FIXED64) /* start_time_unix_nano */, begin_unix_nanos);
        put_fixed64(&mut self.0, key(8, FIXED64) /* end_time_unix_nano */, end_unix_nanos);
    }

    fn text(&mut self, name: &str, value: &str) {
        put_attribute(&mut self.0, key(9, BYTES) /* attributes */, name, value);
    }

    fn number(&mut self, name: &str, value: u64) {
        put_number_attribute(&mut self.0, key(9, BYTES) /* attributes */, name, value);
    }

    fn fail(&mut self, failure: &Failure) {
        self.text("error.type", failure.reason.as_str());
        let mut status = Vec::new();
        put_text(&mut status, key(2, BYTES) /* message */, &failure.to_string());
        status.extend_from_slice(&[key(3, VARINT) /* code */, STATUS_ERROR]);
        put_bytes(&mut self.0, key(15, BYTES) /* status */, &status);
    }

    fn end(self) -> Record {
        Record(self.0)
    }
}

const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const STATUS_ERROR: u8 = 2;
