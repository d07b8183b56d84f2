//! Snapshots to text.

use std::sync::Arc;

use super::number::put_sample;
use super::piece::Piece;
use super::plan::{Step, plan};
use super::{Format, OwnMetrics};
use crate::model::{Block, Chunk, Family, Kind, Snapshot, Value, Values};

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

    /// Appends the next piece to `out`: about 32 KiB, and never more than that plus one sample. Answers `false`,
    /// and appends nothing, when the page is complete.
    pub fn next_chunk(&mut self, out: &mut Vec<u8>) -> bool {
        let begin = out.len();
        let mut piece = Piece::new(out, self.chunk_bytes);
        while !piece.is_full() && self.position.step < self.steps.len() {
            self.write_step(&mut piece);
        }
        if !piece.is_full() && !self.ended {
            self.write_end(&mut piece);
        }
        drop(piece);
        out.len() > begin
    }

    /// Writes the block at the position until it ends or the piece is full.
    fn write_step(&mut self, piece: &mut Piece<'_>) {
        let step = self.steps[self.position.step];
        let snapshot = &self.snapshots[step.snapshot as usize];
        let block = &snapshot.layout().blocks()[step.block as usize];
        let position = &mut self.position;
        if position.headed != Some(step.family) {
            if !has_values(block, snapshot.values()) {
                position.next_step();
                return;
            }
            piece.push(&header(self.format, block.family()));
            position.headed = Some(step.family);
        }
        let is_info = block.family().kind == Kind::Info;
        while let Some(chunk) = block.chunks().get(position.chunk) {
            piece.fill(chunk.longest_prefix() + VALUE_BYTES_MAX, |room, at, limit| {
                write_samples(chunk, snapshot.values(), is_info, &mut position.series, room, at, limit)
            });
            if position.series < chunk.len() {
                return;
            }
            position.chunk += 1;
            position.series = 0;
        }
        position.next_step();
    }

    fn write_end(&mut self, piece: &mut Piece<'_>) {
        let rest = &self.own[self.own_written..];
        let next = &rest[..rest.len().min(piece.left())];
        piece.push(next);
        self.own_written += next.len();
        if self.own_written == self.own.len() {
            self.ended = true;
            if self.format == Format::OpenMetrics {
                piece.push(b"# EOF\n");
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

/// Writes samples from the series at `next` on, up to `limit`; answers where the text ends. The value of an info is
/// 1, whatever was sent.
fn write_samples(
    chunk: &Chunk,
    values: &Values,
    is_info: bool,
    next: &mut usize,
    room: &mut [u8],
    mut at: usize,
    limit: usize,
) -> usize {
    let (ids, ends, prefixes) = (chunk.ids(), chunk.ends(), chunk.prefixes());
    let from = *next;
    *next = ids.len();
    let mut start = from.checked_sub(1).map_or(0, |before| ends[before] as usize);
    for (index, (&id, &end)) in ids.iter().zip(ends).enumerate().skip(from) {
        if at >= limit {
            *next = index;
            break;
        }
        let end = end as usize;
        if let Some(value) = values.value(id) {
            let value = if is_info { Value::U64(1) } else { value };
            at = put_sample(room, at, &prefixes[start..end], value);
        }
        start = end;
    }
    at
}

/// HELP, TYPE and, where the format has it, UNIT.
fn header(format: Format, family: &Family) -> Vec<u8> {
    let mut out = Vec::new();
    let (name, kind) = match format {
        Format::OpenMetrics => (family.name.clone(), openmetrics_type(family.kind)),
        Format::Text => (family.sample_name(), text_type(family.kind)),
    };
    push_help(format, &name, &family.help, &mut out);
    push_comment("TYPE", &name, &mut out);
    out.extend_from_slice(kind.as_bytes());
    out.push(b'\n');
    if format == Format::OpenMetrics && !family.unit.is_empty() {
        push_comment("UNIT", &name, &mut out);
        out.extend_from_slice(family.unit.as_bytes());
        out.push(b'\n');
    }
    out
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

const CHUNK_BYTES: usize = 32 << 10;
/// Room for any value and its newline, and for the bytes that are written beyond it.
const VALUE_BYTES_MAX: usize = 48;
