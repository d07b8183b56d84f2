//! Snapshots to pages.

use std::sync::Arc;

use std::collections::HashMap;

use series::model::{
    Block, Chunk, Escaping, Family, HistogramPoint, Kind, Labels, Snapshot, Value, Values, is_legacy_name,
    push_prefix,
};

use super::histogram_protobuf::push_histogram;
use super::protobuf::Metrics;
use super::room::Room;
use super::text::TextSamples;
use super::{Format, OwnMetrics, Representation, histogram_protobuf, protobuf, text};
use crate::bound_text;
use crate::number::{put_sample, put_unix_seconds};
use crate::text::{known, push_number, shown_names};

/// Writes one page, piece by piece.
///
/// Call [`Encoder::next_piece`] until it returns `None`.
#[derive(Debug)]
pub struct Encoder {
    representation: Representation,
    chunk_bytes: usize,
    snapshots: Vec<Arc<Snapshot>>,
    steps: Vec<Step>,
    position: Position,
    room: Room,
    /// Lines of one series with escaped names, or of one own family of the exporter.
    scratch: Vec<u8>,
    own: OwnMetrics,
    /// How much of an own family in `scratch` was written.
    own_written: usize,
    ended: bool,
}

/// The next series to look at.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    step: usize,
    chunk: usize,
    series: usize,
    /// The family whose header was written last.
    headed: Option<u32>,
}

impl Encoder {
    /// A page of these snapshots, followed by the exporter's own metrics.
    #[must_use]
    pub fn new(
        representation: impl Into<Representation>,
        snapshots: Vec<Arc<Snapshot>>,
        own: Option<OwnMetrics>,
    ) -> Self {
        let representation = representation.into();
        Self {
            representation,
            chunk_bytes: CHUNK_BYTES,
            steps: plan(&snapshots, representation.escaping),
            snapshots,
            position: Position::default(),
            room: Room::default(),
            scratch: Vec::new(),
            own: own.unwrap_or_default(),
            own_written: 0,
            ended: false,
        }
    }

    /// The same with the approximate size of pieces.
    #[must_use]
    pub fn with_chunk_bytes(mut self, chunk_bytes: usize) -> Self {
        self.chunk_bytes = chunk_bytes.max(1);
        self
    }

    /// The next piece: about 8 KiB, and never more than that plus one series. Nothing when the page is complete.
    pub fn next_piece(&mut self) -> Option<&[u8]> {
        self.room.begin(self.chunk_bytes);
        while !self.room.is_full() && self.position.step < self.steps.len() {
            self.write_step();
        }
        while !self.room.is_full() && !self.ended {
            self.write_own();
        }
        Some(self.room.written()).filter(|piece| !piece.is_empty())
    }

    /// Appends the next piece to `out`. Answers `false`, and appends nothing, when the page is complete.
    pub fn next_chunk(&mut self, out: &mut Vec<u8>) -> bool {
        let piece = self.next_piece();
        out.extend_from_slice(piece.unwrap_or_default());
        piece.is_some()
    }

    /// Writes the block at the position until it ends or the piece is full.
    fn write_step(&mut self) {
        let step = self.steps[self.position.step];
        let (block, values) = block_of(&self.snapshots, step);
        if self.position.headed != Some(step.family) {
            if !has_values(block, values) {
                self.position.next_step();
                return;
            }
            let header = self.header(step);
            self.room.push(&header);
            self.position.headed = Some(step.family);
        }
        let (room, position) = (&mut self.room, &mut self.position);
        let (representation, family) = (self.representation, block.family());
        while let Some(chunk) = block.chunks().get(position.chunk) {
            let next = &mut position.series;
            match representation.format {
                _ if family.kind == Kind::Histogram => {
                    let series = (block, &**chunk, values);
                    write_histograms(representation, series, next, room, &mut self.scratch);
                }
                Format::Protobuf => {
                    let metrics = Metrics::of(representation, family, values);
                    room.fill(metrics.bytes_max(chunk), |room, at, limit| {
                        metrics.write(chunk, values, next, (room, at, limit))
                    });
                }
                Format::Text | Format::OpenMetrics => {
                    let samples = TextSamples::of(representation, family, values);
                    if chunk.is_quoted() && representation.escaping != Escaping::AllowUtf8 {
                        write_escaped(
                            samples,
                            representation,
                            (block, chunk, values),
                            next,
                            room,
                            &mut self.scratch,
                        );
                    } else {
                        room.fill(samples.bytes_max(chunk), |room, at, limit| {
                            samples.write(chunk, values, next, (room, at, limit))
                        });
                    }
                }
            }
            if position.series < chunk.len() {
                return;
            }
            (position.chunk, position.series) = (position.chunk + 1, 0);
        }
        position.next_step();
    }

    /// The header lines of the family at the position.
    fn header(&self, step: Step) -> Vec<u8> {
        let (block, _) = block_of(&self.snapshots, step);
        match self.representation.format {
            Format::Text | Format::OpenMetrics => text::header(self.representation, block.family()),
            Format::Protobuf => {
                let family =
                    self.steps[self.position.step..].iter().take_while(|other| other.family == step.family);
                let bytes = family.map(|&step| {
                    let (block, values) = block_of(&self.snapshots, step);
                    if block.family().kind == Kind::Histogram {
                        return histogram_protobuf::block_bytes(self.representation, block, values);
                    }
                    Metrics::of(self.representation, block.family(), values).block_bytes(block, values)
                });
                protobuf::header(self.representation, block.family(), bytes.sum())
            }
        }
    }

    /// Writes the exporter's own metrics until the piece is full, and the page's end.
    fn write_own(&mut self) {
        if self.own_written == self.scratch.len() {
            self.scratch.clear();
            self.own_written = 0;
            if !self.own.write_next(self.representation, &mut self.scratch) {
                self.ended = true;
                if self.representation.format == Format::OpenMetrics {
                    self.room.push(b"# EOF\n");
                }
                return;
            }
        }
        let rest = &self.scratch[self.own_written..];
        let next = &rest[..rest.len().min(self.room.left())];
        self.room.push(next);
        self.own_written += next.len();
    }
}

impl Position {
    fn next_step(&mut self) {
        *self = Self { step: self.step + 1, chunk: 0, series: 0, headed: self.headed };
    }
}

fn block_of(snapshots: &[Arc<Snapshot>], step: Step) -> (&Block, &Values) {
    let snapshot = &snapshots[step.snapshot as usize];
    (&snapshot.layout().blocks()[step.block as usize], snapshot.values())
}

fn has_values(block: &Block, values: &Values) -> bool {
    block.ids().any(|id| values.has_value(id))
}

/// Writes histograms, each whole.
fn write_histograms(
    representation: Representation,
    (block, chunk, values): (&Block, &Chunk, &Values),
    next: &mut usize,
    room: &mut Room,
    scratch: &mut Vec<u8>,
) {
    let family = block.family();
    let samples = HistogramSamples::of(representation, family);
    for (id, prefix) in chunk.iter().skip(*next) {
        if room.is_full() {
            break;
        }
        *next += 1;
        if let Some(histogram) = values.histogram(id) {
            let prefix = std::str::from_utf8(prefix).unwrap_or_default();
            let start = values.start_time_unix_nanos(id);
            scratch.clear();
            match representation.format {
                Format::Protobuf => {
                    push_histogram(representation, family, prefix, (&histogram, start), scratch);
                }
                Format::Text | Format::OpenMetrics => samples.push(prefix, &histogram, start, scratch),
            }
            room.push(scratch);
        }
    }
    // What is left belongs to no own family.
    scratch.clear();
}

/// Writes series whose names differ from those in their prefixes: the slow path for unusual names.
fn write_escaped(
    samples: TextSamples,
    representation: Representation,
    (block, chunk, values): (&Block, &Chunk, &Values),
    next: &mut usize,
    room: &mut Room,
    scratch: &mut Vec<u8>,
) {
    for (id, prefix) in chunk.iter().skip(*next) {
        if room.is_full() {
            break;
        }
        *next += 1;
        if let Some(value) = values.value(id) {
            let prefix = std::str::from_utf8(prefix).unwrap_or_default();
            let point = (value, values.start_time_unix_nanos(id));
            scratch.clear();
            samples.push_escaped(representation, block.family(), prefix, point, scratch);
            room.push(scratch);
        }
    }
    // What is left belongs to no own family.
    scratch.clear();
}

/// Input and output of a piece fit into the processor's first-level cache: pieces of 32 KiB take a tenth longer.
const CHUNK_BYTES: usize = 8 << 10;

/// One block of one snapshot. The order of the fields is the order on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    /// The family's place among all names.
    pub(super) family: u32,
    pub(super) snapshot: u32,
    pub(super) block: u32,
}

/// All blocks that have series: by the family's name, then in the order of the snapshots.
///
/// Two families of one name but of different kinds, or that only differ until names are escaped, cannot stand on
/// one page; the catalog lets no such pair live. If there are snapshots of different catalogs, the first family is
/// kept and the other is dropped.
fn plan(snapshots: &[Arc<Snapshot>], escaping: Escaping) -> Vec<Step> {
    let mut places: HashMap<*const Family, u32> = HashMap::new();
    let mut families: Vec<&Family> = Vec::new();
    let mut steps = Vec::new();
    for (snapshot, index) in snapshots.iter().zip(0..) {
        for (block, at) in snapshot.layout().blocks().iter().zip(0..) {
            if !block.chunks().is_empty() {
                let family = *places.entry(Arc::as_ptr(block.family())).or_insert_with(|| {
                    families.push(block.family());
                    u32::try_from(families.len() - 1).unwrap_or(u32::MAX)
                });
                steps.push(Step { family, snapshot: index, block: at });
            }
        }
    }
    let ranks = ranks(&families, escaping);
    steps.retain_mut(|step| match ranks[step.family as usize] {
        Some(rank) => {
            step.family = rank;
            true
        }
        None => false,
    });
    steps.sort_unstable();
    steps
}

/// The rank of each family by name; `None` for one that would make the page invalid.
fn ranks(families: &[&Family], escaping: Escaping) -> Vec<Option<u32>> {
    let shown: Vec<_> = families.iter().map(|family| escaping.metric_name(&family.name)).collect();
    let mut order: Vec<usize> = (0..families.len()).collect();
    order.sort_by(|&left, &right| shown[left].cmp(&shown[right]));
    let mut ranks = vec![None; families.len()];
    for (group, rank) in order.chunk_by(|&left, &right| shown[left] == shown[right]).zip(0..) {
        let first = families[group[0]];
        let same = |family: &Family| family.kind == first.kind && family.name == first.name;
        for &index in group.iter().filter(|&&index| same(families[index])) {
            ranks[index] = Some(rank);
        }
    }
    ranks
}

/// How the histograms of one family are written.
pub(super) struct HistogramSamples {
    representation: Representation,
    /// The family's name as the reader gets it.
    name: String,
    /// The values of `le`.
    bounds: Vec<String>,
    /// OpenMetrics wants sums to grow, and a count only beside a sum.
    has_sum: bool,
}

impl HistogramSamples {
    pub(super) fn of(representation: Representation, family: &Family) -> Self {
        let openmetrics = representation.format == Format::OpenMetrics;
        let bounds = family.bounds.iter().map(|&bound| bound_text(bound));
        Self {
            representation,
            name: shown_names(representation, family).family,
            bounds: bounds.chain(["+Inf".to_owned()]).collect(),
            has_sum: !(openmetrics && family.bounds.are_signed()),
        }
    }

    /// Appends the samples of a series.
    pub(super) fn push(
        &self,
        prefix: &str,
        histogram: &HistogramPoint<'_>,
        start: Option<i64>,
        out: &mut Vec<u8>,
    ) {
        let mut escaped = Vec::new();
        let prefix = self.shown(prefix, &mut escaped);
        let quote = if is_legacy_name(&self.name) { 0 } else { "{\"".len() };
        let (stem, behind) = prefix.split_at(self.name.len() + quote);
        let behind = behind.trim_end();
        // Labels, if there are any, or the end of a name in quotes stand in braces, into which `le` goes.
        let (inside, before_le) = match behind.strip_suffix('}') {
            Some(inside) => (inside, ",le=\""),
            None => ("", "{le=\""),
        };
        for (bound, count) in self.bounds.iter().zip(histogram.cumulative()) {
            push_texts(&[stem, "_bucket", inside, before_le, bound, "\"} "], out);
            push_number(&|room| put_sample(room, 0, |_, at| at, Value::U64(count)), out);
        }
        if self.has_sum {
            push_texts(&[stem, "_sum", behind, " "], out);
            push_number(&|room| put_sample(room, 0, |_, at| at, Value::F64(histogram.sum)), out);
            push_texts(&[stem, "_count", behind, " "], out);
            push_number(&|room| put_sample(room, 0, |_, at| at, Value::U64(histogram.count)), out);
        }
        if let Some(start) = known(start).filter(|_| self.representation.format == Format::OpenMetrics) {
            push_texts(&[stem, "_created", behind, " "], out);
            push_number(&|room| put_unix_seconds(room, 0, start), out);
        }
    }

    /// The prefix with its names as the reader wants them.
    fn shown<'a>(&self, prefix: &'a str, escaped: &'a mut Vec<u8>) -> &'a str {
        let escaping = self.representation.escaping;
        let names: Vec<_> = Labels::of_prefix(prefix).map(|(name, _)| escaping.label_name(name)).collect();
        let mut labels = Labels::of_prefix(prefix);
        let values = std::iter::from_fn(|| Some(labels.next_escaped()?.1));
        push_prefix(&self.name, names.iter().map(|name| &**name).zip(values), escaped);
        std::str::from_utf8(escaped).unwrap_or_default()
    }
}

fn push_texts(texts: &[&str], out: &mut Vec<u8>) {
    texts.iter().for_each(|text| out.extend_from_slice(text.as_bytes()));
}
