//! Records that are not in a row group yet, in a form that may be cut off anywhere.
//!
//! A journal is eight letters and frames: length (4 bytes), CRC-32 (4 bytes), content. The first frame has the header of the
//! log and the footer of the Parquet file as it was when the journal was begun, each further one a record. Numbers are little
//! endian. What follows the last frame that is whole and right does not count.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Error;
use crate::batch::{Batch, RawSample, Row, Sample};
use crate::header::{Column, LogHeader};

/// The most columns of a log.
pub const COLUMNS_MAX: usize = 1 << 18;

/// The most bytes that a journal is read with. It is closed long before.
pub const JOURNAL_BYTES_MAX: usize = 256 << 20;

/// The most samples of a journal: a row group is made when it has [`super::ROW_GROUP_VALUES`].
const SAMPLES_MAX: usize = super::ROW_GROUP_VALUES + COLUMNS_MAX;

/// The most bytes of the first frame, so that the records have room as well.
const HEADER_BYTES_MAX: usize = JOURNAL_BYTES_MAX / 2;

const START: &[u8; 8] = b"PMLOGJ1\n";

/// What a journal has.
#[derive(Clone, Debug)]
pub struct Journal {
    /// The header of the log.
    pub header: LogHeader,
    /// Where the row groups of the Parquet file end.
    pub end: u64,
    /// The footer that is there.
    pub footer: Vec<u8>,
    pub records: Batch,
    /// How many bytes of the journal are whole.
    pub whole_bytes: usize,
}

/// The begin of a journal for a Parquet file whose row groups end at `end`, with the footer that is there.
///
/// # Errors
/// When the log has more than [`COLUMNS_MAX`] columns, or its names and the footer are longer than half a journal.
pub fn begin(header: &LogHeader, end: u64, footer: &[u8]) -> Result<Vec<u8>, Error> {
    let columns = header.columns.len();
    if columns > COLUMNS_MAX {
        return Err(Error::Columns { columns, max: COLUMNS_MAX });
    }
    let mut content = Vec::new();
    put_bytes(&mut content, header.description.as_bytes());
    put_bytes(&mut content, header.zone.iana_name().unwrap_or_default().as_bytes());
    content.extend_from_slice(&end.to_le_bytes());
    put_bytes(&mut content, footer);
    put_length(&mut content, columns);
    for column in &header.columns {
        put_column(&mut content, column);
    }
    if content.len() > HEADER_BYTES_MAX {
        return Err(Error::Names { bytes: content.len(), max: HEADER_BYTES_MAX });
    }
    let mut journal = START.to_vec();
    put_frame(&mut journal, |frame| frame.extend_from_slice(&content));
    Ok(journal)
}

/// Adds a record to the bytes of a journal.
pub fn put_record(row: Row<'_>, journal: &mut Vec<u8>) {
    journal.reserve(FRAME_BYTES + TIME_BYTES + row.samples.len() * SAMPLE_BYTES_MAX);
    put_frame(journal, |frame| {
        frame.extend_from_slice(&row.time.as_second().to_le_bytes());
        frame.extend_from_slice(&row.time.subsec_nanosecond().to_le_bytes());
        for sample in row.samples {
            put_sample(frame, sample);
        }
    });
}

/// Reads a journal that may be cut off. Records after the first one that is not whole, or was changed, are left out.
///
/// # Errors
/// When the bytes are no journal, or more than [`JOURNAL_BYTES_MAX`], or the first frame, the header of the log, is not whole
/// or not valid: there is nothing to read then.
pub fn read(bytes: &[u8]) -> Result<Journal, Error> {
    if bytes.len() > JOURNAL_BYTES_MAX {
        return Err(Error::Journal("it is too long"));
    }
    let frames = bytes.strip_prefix(START).ok_or(Error::Journal("it begins with other letters"))?;
    let (first, mut rest) = split_frame(frames).ok_or(Error::Journal("its first frame is incomplete"))?;
    let (header, end, footer) =
        read_header(first).ok_or(Error::Journal("its first frame has another form"))?;
    let columns = header.columns.len();
    let mut records = Batch::new(columns);
    let mut samples = Vec::new();
    while let Some((frame, behind)) = split_frame(rest) {
        let is_full = records.len().saturating_add(1).saturating_mul(columns.max(1)) > SAMPLES_MAX;
        let Some(time) = read_record(frame, columns, &mut samples).filter(|_| !is_full) else { break };
        records.push(time, samples.drain(..));
        rest = behind;
    }
    Ok(Journal { header, end, footer, records, whole_bytes: bytes.len() - rest.len() })
}

const FRAME_BYTES: usize = 4 /* length */ + 4 /* checksum */;
const TIME_BYTES: usize = 8 /* seconds */ + 4 /* nanoseconds */;
const SAMPLE_BYTES_MAX: usize = 1 /* parts */ + 8 /* value */ + 8 /* first */ + 8 /* second */ + 4 /* count */;
const HAS_VALUE: u8 = 1;
const HAS_RAW: u8 = 2;

fn put_frame(journal: &mut Vec<u8>, content: impl FnOnce(&mut Vec<u8>)) {
    let at = journal.len();
    journal.extend_from_slice(&[0; FRAME_BYTES]);
    content(journal);
    let content = &journal[at + FRAME_BYTES..];
    let (length, sum) = (length_of(content.len()), crc32fast::hash(content));
    journal[at..at + 4].copy_from_slice(&length.to_le_bytes());
    journal[at + 4..at + FRAME_BYTES].copy_from_slice(&sum.to_le_bytes());
}

/// The content of the first frame, and what follows. An empty frame is none: a file may end with zeros after a loss of power.
fn split_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<4>()?;
    let (content, rest) = rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)?;
    (!content.is_empty() && crc32fast::hash(content) == u32::from_le_bytes(*sum)).then_some((content, rest))
}

fn read_header(frame: &[u8]) -> Option<(LogHeader, u64, Vec<u8>)> {
    let mut fields = Fields(frame);
    let description = fields.text()?;
    let zone = fields.text()?;
    let end = u64::from_le_bytes(fields.array()?);
    let footer = fields.bytes()?.to_vec();
    let count = usize::try_from(fields.number()?).ok()?;
    if count > COLUMNS_MAX || count > fields.0.len() / COLUMN_BYTES_MIN {
        return None;
    }
    let columns = (0..count).map(|_| read_column(&mut fields)).collect::<Option<Vec<_>>>()?;
    // Times in a journal are UTC: a zone that is not known here is only a note that gets lost.
    let zone = TimeZone::get(&zone).unwrap_or(TimeZone::UTC);
    fields.0.is_empty().then_some((LogHeader { columns, zone, description }, end, footer))
}

const COLUMN_BYTES_MIN: usize =
    3 * 4 /* texts */ + 2 /* optional texts */ + 4 /* index */ + 4 /* type */ + 4 /* scale */ + 8 /* time base */;

fn put_column(content: &mut Vec<u8>, column: &Column) {
    let Column {
        machine,
        object,
        parent,
        instance,
        instance_index,
        counter,
        counter_type,
        default_scale,
        time_base,
    } = column;
    put_bytes(content, machine.as_bytes());
    put_bytes(content, object.as_bytes());
    put_optional(content, parent.as_deref());
    put_optional(content, instance.as_deref());
    content.extend_from_slice(&instance_index.to_le_bytes());
    put_bytes(content, counter.as_bytes());
    content.extend_from_slice(&counter_type.to_le_bytes());
    content.extend_from_slice(&default_scale.to_le_bytes());
    content.extend_from_slice(&time_base.to_le_bytes());
}

fn read_column(fields: &mut Fields<'_>) -> Option<Column> {
    Some(Column {
        machine: fields.text()?,
        object: fields.text()?,
        parent: fields.optional()?,
        instance: fields.optional()?,
        instance_index: fields.number()?,
        counter: fields.text()?,
        counter_type: fields.number()?,
        default_scale: i32::from_le_bytes(fields.array()?),
        time_base: u64::from_le_bytes(fields.array()?),
    })
}

fn put_sample(frame: &mut Vec<u8>, sample: &Sample) {
    let parts = u8::from(sample.value.is_some()) * HAS_VALUE + u8::from(sample.raw.is_some()) * HAS_RAW;
    frame.push(parts);
    if let Some(value) = sample.value {
        frame.extend_from_slice(&value.to_le_bytes());
    }
    if let Some(raw) = sample.raw {
        frame.extend_from_slice(&raw.first.to_le_bytes());
        frame.extend_from_slice(&raw.second.to_le_bytes());
        frame.extend_from_slice(&raw.multi_count.to_le_bytes());
    }
}

fn read_record(frame: &[u8], columns: usize, samples: &mut Vec<Sample>) -> Option<Timestamp> {
    samples.clear();
    let mut fields = Fields(frame);
    let (second, nanosecond) = (i64::from_le_bytes(fields.array()?), i32::from_le_bytes(fields.array()?));
    let time = Timestamp::new(second, nanosecond).ok()?;
    // A time has one form.
    if (time.as_second(), time.subsec_nanosecond()) != (second, nanosecond) || columns > fields.0.len() {
        return None;
    }
    for _ in 0..columns {
        let [parts] = fields.array()?;
        if parts > HAS_VALUE | HAS_RAW {
            return None;
        }
        let value = if parts & HAS_VALUE == 0 { None } else { Some(f64::from_le_bytes(fields.array()?)) };
        let raw = if parts & HAS_RAW == 0 { None } else { Some(read_raw(&mut fields)?) };
        samples.push(Sample { value, raw });
    }
    fields.0.is_empty().then_some(time)
}

fn read_raw(fields: &mut Fields<'_>) -> Option<RawSample> {
    let (first, second) = (i64::from_le_bytes(fields.array()?), i64::from_le_bytes(fields.array()?));
    Some(RawSample { first, second, multi_count: fields.number()? })
}

fn put_length(content: &mut Vec<u8>, length: usize) {
    content.extend_from_slice(&length_of(length).to_le_bytes());
}

/// A length as it is written. What is longer than all that may be read is refused when it is read.
fn length_of(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// What is left to read.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn number(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Bytes after their number.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        std::str::from_utf8(self.bytes()?).ok().map(str::to_owned)
    }

    /// A text after a byte that says whether there is one.
    fn optional(&mut self) -> Option<Option<String>> {
        match self.array()? {
            [0] => Some(None),
            [1] => self.text().map(Some),
            _ => None,
        }
    }
}

fn put_bytes(content: &mut Vec<u8>, bytes: &[u8]) {
    put_length(content, bytes.len());
    content.extend_from_slice(bytes);
}

fn put_optional(content: &mut Vec<u8>, text: Option<&str>) {
    content.push(u8::from(text.is_some()));
    if let Some(text) = text {
        put_bytes(content, text.as_bytes());
    }
}
