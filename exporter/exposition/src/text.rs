//! Both text formats.

use series::model::{Chunk, Family, Kind, Labels, Value, Values, push_metric_name, push_prefix};

use super::number::{put_sample, put_unix_seconds};
use super::room::{put, put_wide};
use super::{Format, Representation};

/// How the series of one family are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextSamples {
    is_info: bool,
    /// Where a prefix has `_total`, if there are to be samples that say since when the series counts.
    created_at: Option<usize>,
}

impl TextSamples {
    pub(super) fn of(representation: Representation, family: &Family, values: &Values) -> Self {
        let wants = representation.format == Format::OpenMetrics && family.kind == Kind::Counter;
        let quote = if series::model::is_legacy_name(&family.name) { 0 } else { "{\"".len() };
        let created_at = (wants && values.has_start_times()).then_some(family.name.len() + quote);
        Self { is_info: family.kind == Kind::Info, created_at }
    }

    /// How far one series may go beyond the limit, and what is read and written beyond it.
    pub(super) fn bytes_max(self, chunk: &Chunk) -> usize {
        2 * (chunk.longest_prefix() + VALUE_BYTES_MAX) + WIDEST
    }

    /// Writes samples from the series at `next` on, up to `limit`; answers where the text ends.
    pub(super) fn write(
        self,
        chunk: &Chunk,
        values: &Values,
        next: &mut usize,
        (room, at, limit): (&mut [u8], usize, usize),
    ) -> usize {
        let run = Run { chunk, values, samples: self, next, limit };
        match chunk.longest_prefix() {
            _ if self.created_at.is_some() || self.is_info => run.write::<0>(room, at),
            0..=64 => run.write::<64>(room, at),
            65..=96 => run.write::<96>(room, at),
            97..=128 => run.write::<128>(room, at),
            129..=160 => run.write::<160>(room, at),
            161..=WIDEST => run.write::<WIDEST>(room, at),
            _ => run.write::<0>(room, at),
        }
    }

    /// Appends the samples of one series, names escaped as the reader wants it.
    pub(super) fn push_escaped(
        self,
        representation: Representation,
        family: &Family,
        prefix: &str,
        (value, start): (Value, Option<i64>),
        out: &mut Vec<u8>,
    ) {
        let escaping = representation.escaping;
        let names: Vec<_> = Labels::of_prefix(prefix).map(|(name, _)| escaping.label_name(name)).collect();
        let mut push = |sample_name: &str, write: &dyn Fn(&mut [u8]) -> usize| {
            let mut labels = Labels::of_prefix(prefix);
            let values = std::iter::from_fn(|| Some(labels.next_escaped()?.1));
            push_prefix(sample_name, names.iter().map(|name| &**name).zip(values), out);
            push_number(write, out);
        };
        let value = if self.is_info { Value::U64(1) } else { value };
        let shown = shown_names(representation, family);
        push(&shown.sample, &|room| put_sample(room, 0, |_, at| at, value));
        if let (Some(_), Some(start)) = (self.created_at, known(start)) {
            push(&format!("{}_created", shown.family), &|room| put_unix_seconds(room, 0, start));
        }
    }
}

/// Appends what `write` puts into a small room: a number and the line's end.
pub(super) fn push_number(write: &dyn Fn(&mut [u8]) -> usize, out: &mut Vec<u8>) {
    let mut room = [0; VALUE_BYTES_MAX];
    let end = write(&mut room);
    out.extend_from_slice(&room[..end]);
}

/// One call of [`TextSamples::write`].
struct Run<'a> {
    chunk: &'a Chunk,
    values: &'a Values,
    samples: TextSamples,
    next: &'a mut usize,
    limit: usize,
}

impl Run<'_> {
    /// `WIDE` is at least the length of each prefix, or 0: then the samples are not just a prefix and a value.
    #[inline]
    fn write<const WIDE: usize>(self, room: &mut [u8], mut at: usize) -> usize {
        let (ids, ends, prefixes) = (self.chunk.ids(), self.chunk.ends(), self.chunk.prefixes());
        let mut index = *self.next;
        let mut start = index.checked_sub(1).map_or(0, |before| ends[before] as usize);
        for (&id, &end) in ids[index..].iter().zip(&ends[index..]) {
            if at >= self.limit {
                break;
            }
            let end = end as usize;
            index += 1;
            if let Some(value) = self.values.value(id) {
                at = if WIDE > 0 && start + WIDE <= prefixes.len() {
                    let copy = |room: &mut [u8], at| {
                        put_wide::<WIDE>(room, at, prefixes, start);
                        at + end - start
                    };
                    put_sample(room, at, copy, value)
                } else {
                    self.put_series(room, at, &prefixes[start..end], id, value)
                };
            }
            start = end;
        }
        *self.next = index;
        at
    }

    #[inline(never)]
    fn put_series(&self, room: &mut [u8], at: usize, prefix: &[u8], id: u32, value: Value) -> usize {
        let value = if self.samples.is_info { Value::U64(1) } else { value };
        let at = put_sample(room, at, |room, at| put(room, at, prefix), value);
        let start = known(self.values.start_time_unix_nanos(id));
        let (Some(name_end), Some(start)) = (self.samples.created_at, start) else { return at };
        let at = put(room, at, &prefix[..name_end]);
        let at = put(room, at, b"_created");
        let at = put(room, at, &prefix[name_end + Kind::Counter.sample_suffix().len()..]);
        put_unix_seconds(room, at, start)
    }
}

/// A start time before 1970 is a clock's mistake.
pub(super) fn known(start_time_unix_nanos: Option<i64>) -> Option<u64> {
    start_time_unix_nanos.and_then(|start| u64::try_from(start).ok())
}

/// The names of a family as a reader gets them.
pub(super) struct ShownNames {
    /// Of the family, in OpenMetrics' sense.
    pub(super) family: String,
    pub(super) sample: String,
}

/// The sample's name is escaped as a whole, so that a reader can undo it.
pub(super) fn shown_names(representation: Representation, family: &Family) -> ShownNames {
    let sample = representation.escaping.metric_name(&family.sample_name()).into_owned();
    let stem = sample.strip_suffix(family.kind.sample_suffix()).unwrap_or(&sample);
    ShownNames { family: stem.to_owned(), sample }
}

/// HELP, TYPE and, where the format has it, UNIT.
pub(super) fn header(representation: Representation, family: &Family) -> Vec<u8> {
    let shown = shown_names(representation, family);
    let (name, word) = match representation.format {
        Format::OpenMetrics => (shown.family, openmetrics_type(family.kind)),
        Format::Text | Format::Protobuf => (shown.sample, text_type(family.kind)),
    };
    let mut out = Vec::new();
    push_header(representation.format, &name, word, [&family.help, &family.unit], &mut out);
    out
}

/// The same for any name and type.
pub(super) fn push_header(
    format: Format,
    name: &str,
    word: &str,
    [help, unit]: [&str; 2],
    out: &mut Vec<u8>,
) {
    if !help.is_empty() {
        push_comment("HELP", name, out);
        push_help(format, help, out);
    }
    push_comment("TYPE", name, out);
    out.extend_from_slice(word.as_bytes());
    out.push(b'\n');
    let ends_in_unit = name.strip_suffix(unit).is_some_and(|stem| stem.ends_with('_'));
    if format == Format::OpenMetrics && !unit.is_empty() && ends_in_unit {
        push_comment("UNIT", name, out);
        out.extend_from_slice(unit.as_bytes());
        out.push(b'\n');
    }
}

fn push_help(format: Format, help: &str, out: &mut Vec<u8>) {
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
    out.extend_from_slice(b"# ");
    out.extend_from_slice(keyword.as_bytes());
    out.push(b' ');
    push_metric_name(name, out);
    out.push(b' ');
}

pub(super) fn openmetrics_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Gauge => "gauge",
        Kind::Counter => "counter",
        Kind::Info => "info",
        Kind::Histogram => "histogram",
        Kind::Unknown => "unknown",
    }
}

/// Classic text knows no infos; there they are gauges.
pub(super) fn text_type(kind: Kind) -> &'static str {
    match kind {
        Kind::Gauge | Kind::Info => "gauge",
        Kind::Counter => "counter",
        Kind::Histogram => "histogram",
        Kind::Unknown => "untyped",
    }
}

/// Room for any value and its newline, and for the bytes that are written beyond it.
const VALUE_BYTES_MAX: usize = 48;
/// The longest copy of fixed length.
const WIDEST: usize = 192;
