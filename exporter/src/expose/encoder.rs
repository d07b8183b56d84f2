//! Snapshots to text.

use std::sync::Arc;

use super::number::push_value;
use super::plan::{Step, plan};
use super::{Format, OwnMetrics};
use crate::model::{Block, Chunk, Family, Kind, Snapshot, Values};

/// Writes one page, piece by piece.
///
/// Call [`Encoder::next_chunk`] with the same emptied buffer until it answers `false`.
#[derive(Debug)]
pub struct Encoder {
    format: Format,
    chunk_bytes: usize,
    snapshots: Vec<Arc<Snapshot>>,
    steps: Vec<Step>,
    position: Position,
    own: Vec<u8>,
    own_written: usize,
    ended: bool,
}

/// The next series to look at.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    step: usize,
    chunk: usize,
    series: usize,
    /// The family whose HELP and TYPE were written last.
    headed: Option<u32>,
}

impl Encoder {
    /// A page of these snapshots and, behind them, the exporter's own metrics.
    #[must_use]
    pub fn new(format: Format, snapshots: Vec<Arc<Snapshot>>, own: Option<OwnMetrics>) -> Self {
        let steps = plan(&snapshots);
        Self {
            format,
            chunk_bytes: CHUNK_BYTES,
            snapshots,
            steps,
            position: Position::default(),
            own: own.map_or_else(Vec::new, |own| own.into_page(format)),
            own_written: 0,
            ended: false,
        }
    }

    /// The same in pieces of about so many bytes.
    #[must_use]
    pub fn with_chunk_bytes(mut self, chunk_bytes: usize) -> Self {
        self.chunk_bytes = chunk_bytes.max(1);
        self
    }

    /// Appends the next piece to `out`: about 64 KiB, and never more than that plus one sample. Answers `false`,
    /// and appends nothing, when the page is complete.
    pub fn next_chunk(&mut self, out: &mut Vec<u8>) -> bool {
        let begin = out.len();
        let limit = begin + self.chunk_bytes;
        out.reserve(self.chunk_bytes + RESERVE_BYTES);
        while out.len() < limit && self.position.step < self.steps.len() {
            self.write_step(out, limit);
        }
        if out.len() < limit && !self.ended {
            self.write_end(out, limit);
        }
        out.len() > begin
    }

    /// Writes the block at the position until it ends or `limit` is reached.
    fn write_step(&mut self, out: &mut Vec<u8>, limit: usize) {
        let step = self.steps[self.position.step];
        let snapshot = &self.snapshots[step.snapshot as usize];
        let block = &snapshot.layout().blocks()[step.block as usize];
        let position = &mut self.position;
        if position.headed != Some(step.family) {
            if !has_values(block, snapshot.values()) {
                position.next_step();
                return;
            }
            push_header(self.format, block.family(), out);
            position.headed = Some(step.family);
        }
        let is_info = block.family().kind == Kind::Info;
        while let Some(chunk) = block.chunks().get(position.chunk) {
            position.series = if is_info {
                push_infos(chunk, snapshot.values(), position.series, limit, out)
            } else {
                push_samples(chunk, snapshot.values(), position.series, limit, out)
            };
            if position.series < chunk.len() {
                return;
            }
            position.chunk += 1;
            position.series = 0;
        }
        position.next_step();
    }

    fn write_end(&mut self, out: &mut Vec<u8>, limit: usize) {
        let rest = &self.own[self.own_written..];
        let piece = &rest[..rest.len().min(limit - out.len())];
        out.extend_from_slice(piece);
        self.own_written += piece.len();
        if self.own_written == self.own.len() {
            self.ended = true;
            if self.format == Format::OpenMetrics {
                out.extend_from_slice(b"# EOF\n");
            }
        }
    }
}

impl Position {
    fn next_step(&mut self) {
        *self = Self { step: self.step + 1, chunk: 0, series: 0, headed: self.headed };
    }
}

fn has_values(block: &Block, values: &Values) -> bool {
    block.ids().any(|id| values.value(id).is_some())
}

/// Writes samples from the series at `from`; answers how far it came.
fn push_samples(chunk: &Chunk, values: &Values, from: usize, limit: usize, out: &mut Vec<u8>) -> usize {
    let (ids, ends, prefixes) = (chunk.ids(), chunk.ends(), chunk.prefixes());
    let mut start = from.checked_sub(1).map_or(0, |before| ends[before] as usize);
    for (index, (&id, &end)) in ids.iter().zip(ends).enumerate().skip(from) {
        if out.len() >= limit {
            return index;
        }
        let end = end as usize;
        if let Some(value) = values.value(id) {
            out.extend_from_slice(&prefixes[start..end]);
            push_value(value, out);
            out.push(b'\n');
        }
        start = end;
    }
    ids.len()
}

/// The same for infos, whose value is 1 whatever was sent.
fn push_infos(chunk: &Chunk, values: &Values, from: usize, limit: usize, out: &mut Vec<u8>) -> usize {
    for (index, (id, prefix)) in chunk.iter().enumerate().skip(from) {
        if out.len() >= limit {
            return index;
        }
        if values.value(id).is_some() {
            out.extend_from_slice(prefix);
            out.extend_from_slice(b"1\n");
        }
    }
    chunk.len()
}

/// Writes HELP, TYPE and, where the format has it, UNIT.
fn push_header(format: Format, family: &Family, out: &mut Vec<u8>) {
    let (name, kind) = match format {
        Format::OpenMetrics => (family.name.clone(), openmetrics_type(family.kind)),
        Format::Text => (family.sample_name(), text_type(family.kind)),
    };
    push_help(format, &name, &family.help, out);
    push_comment("TYPE", &name, out);
    out.extend_from_slice(kind.as_bytes());
    out.push(b'\n');
    if format == Format::OpenMetrics && !family.unit.is_empty() {
        push_comment("UNIT", &name, out);
        out.extend_from_slice(family.unit.as_bytes());
        out.push(b'\n');
    }
}

/// Writes a HELP line, unless there is nothing to say.
pub(super) fn push_help(format: Format, name: &str, help: &str, out: &mut Vec<u8>) {
    if help.is_empty() {
        return;
    }
    push_comment("HELP", name, out);
    for char in help.chars() {
        match char {
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '"' if format == Format::OpenMetrics => out.extend_from_slice(b"\\\""),
            _ if char.is_control() && char != '\t' => out.extend_from_slice("\u{fffd}".as_bytes()),
            _ => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    out.push(b'\n');
}

fn push_comment(keyword: &str, name: &str, out: &mut Vec<u8>) {
    for part in ["# ", keyword, " ", name, " "] {
        out.extend_from_slice(part.as_bytes());
    }
}

fn openmetrics_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Gauge => "gauge",
        Kind::Counter => "counter",
        Kind::Info => "info",
        Kind::Unknown => "unknown",
    }
}

/// Classic text knows no infos; there they are gauges.
fn text_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Gauge | Kind::Info => "gauge",
        Kind::Counter => "counter",
        Kind::Unknown => "untyped",
    }
}

const CHUNK_BYTES: usize = 64 << 10;
/// Room for the sample that passes the limit.
const RESERVE_BYTES: usize = 4 << 10;
