//! Points that are complete except for their numbers.

mod histograms;

use std::collections::HashMap;
use std::sync::Arc;

use series::model::{Block, Chunk, Family, Kind, Labels};

pub(super) use self::histograms::HistogramNumbers;
use super::Number;
use super::resource::Resource;
use super::wire::{
    BYTES, FIXED64, VARINT, key, padded_varint, put_attribute, put_fixed64, put_number_attribute, varint_len,
};

/// The points of all chunks of series that were ever written and still live.
///
/// What is kept for a series is about as long as its labels. Chunks are shared by the snapshots of a store and
/// change only when series come or go; a chunk that changed is made again, the others are not.
#[derive(Debug, Default)]
pub struct Templates {
    /// By the chunk's address, which stays taken as long as the entry holds the chunk.
    chunks: HashMap<usize, Template>,
}

impl Templates {
    pub(super) fn of(&mut self, chunk: &Arc<Chunk>, block: &Block, resource: &Resource) -> &Template {
        let entry = self.chunks.entry(Arc::as_ptr(chunk).addr());
        entry.or_insert_with(|| Template::new(chunk, block.family(), resource))
    }

    /// Drops chunks that are not used elsewhere.
    pub fn sweep(&mut self) {
        self.chunks.retain(|_, template| Arc::strong_count(&template.chunk) > 1);
    }

    /// How many chunks are known.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.chunks.len()
    }

    /// The bytes that are kept for them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.chunks.values().map(|template| template.points.capacity() + 4 * template.ends.capacity()).sum()
    }
}

/// The points of one chunk: field 1 of `Gauge` or `Sum`, one `NumberDataPoint` after the other.
///
/// ```text
/// 0a LENGTH  [11 start]  19 time  21|31 value  3a attribute 3a attribute …
/// ```
///
/// Of histograms it is field 1 of `Histogram`, and a `HistogramDataPoint`: see `histograms`.
#[derive(Debug)]
pub(super) struct Template {
    chunk: Arc<Chunk>,
    pub(super) points: Vec<u8>,
    /// Where each point ends.
    pub(super) ends: Vec<u32>,
    /// Bytes before a point's first number.
    head: usize,
    /// There is room for a start time.
    starts: bool,
    /// Bytes of all numbers, which come before the attributes.
    numbers: usize,
    /// The key of the flags.
    flags: u8,
    /// Where the counts of a histogram are.
    histogram: Option<histograms::NumberOffsets>,
}

impl Template {
    fn new(chunk: &Arc<Chunk>, family: &Family, resource: &Resource) -> Self {
        let starts = family.kind == Kind::Counter;
        let histogram = histograms::NumberOffsets::of(family);
        let numbers = histogram.map_or(numbers_len(starts), |offsets| offsets.end);
        let (attribute, flags) = if histogram.is_some() { (9, 10) } else { (7, 8) };
        let (mut attributes, mut attribute_ends) = (Vec::new(), Vec::with_capacity(chunk.len()));
        for (_, prefix) in chunk.iter() {
            let prefix = std::str::from_utf8(prefix).unwrap_or_default();
            for (name, value) in Labels::of_prefix(prefix) {
                if !resource.says(name, &value) {
                    put_label(&mut attributes, key(attribute, BYTES), family, name, &value);
                }
            }
            attribute_ends.push(attributes.len());
        }
        let longest = lengths(&attribute_ends).max().unwrap_or(0) + numbers;
        let head = 1 + varint_len(longest);
        let mut points = Vec::with_capacity(attributes.len() + chunk.len() * (head + numbers));
        let mut ends = Vec::with_capacity(chunk.len());
        let mut begin = 0;
        for end in attribute_ends {
            let at = points.len();
            points.resize(at + head, 0);
            points[at] = POINT;
            padded_varint(&mut points[at + 1..], end - begin + numbers);
            match histogram {
                Some(offsets) => offsets.put_empty(&family.bounds, &mut points),
                None => put_numbers(starts, &mut points),
            }
            points.extend_from_slice(&attributes[begin..end]);
            ends.push(u32::try_from(points.len()).unwrap_or(u32::MAX));
            begin = end;
        }
        let flags = key(flags, VARINT);
        Self { chunk: Arc::clone(chunk), points, ends, head, starts, numbers, flags, histogram }
    }

    /// Where the point at `index` begins.
    #[inline]
    pub(super) fn begin(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.ends[before] as usize)
    }

    /// Fills the numbers of a point in. `at` is where it begins.
    #[inline]
    pub(super) fn fill(&self, out: &mut [u8], at: usize, numbers: Numbers) {
        let mut at = at + self.head;
        if self.starts {
            out[at + 1..at + 9].copy_from_slice(&numbers.start.to_le_bytes());
            at += 9;
        }
        let room: Option<&mut [u8; 18]> = out.get_mut(at..at + 18).and_then(|room| room.try_into().ok());
        if let Some(room) = room {
            room[1..9].copy_from_slice(&numbers.time.to_le_bytes());
            room[9] = numbers.value.key;
            room[10..18].copy_from_slice(&numbers.value.bits.to_le_bytes());
        }
    }

    /// Writes the point at `index` with the flag "no recorded value" instead of one.
    pub(super) fn put_gone(&self, out: &mut Vec<u8>, index: usize, time: u64) {
        let attributes = self.begin(index) + self.head + self.numbers;
        let attributes = &self.points[attributes..self.ends[index] as usize];
        let numbers = 9 /* time */ + 2 /* flags */;
        let at = out.len();
        out.resize(at + self.head, 0);
        out[at] = POINT;
        padded_varint(&mut out[at + 1..], numbers + attributes.len());
        put_fixed64(out, TIME, time);
        out.extend_from_slice(&[self.flags, NO_RECORDED_VALUE]);
        out.extend_from_slice(attributes);
    }
}

/// What changes in a point from one collection to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    /// Unix nanoseconds; 0 is "unknown".
    pub(super) start: u64,
    /// In nanoseconds since 1970.
    pub(super) time: u64,
    pub(super) value: Number,
}

/// A label as an attribute of the family.
fn put_label(out: &mut Vec<u8>, field: u8, family: &Family, label: &str, value: &str) {
    let attribute = family.attribute(label);
    let name = attribute.map_or(label, |attribute| &attribute.name);
    match attribute.filter(|attribute| attribute.is_integer).and_then(|_| integer(value)) {
        Some(number) => put_number_attribute(out, field, name, number),
        None => put_attribute(out, field, name, value),
    }
}

/// The number in a label's value. A logical processor is called by its group or node and its number there, `1,3`: each has
/// [`GROUP_PROCESSORS`] numbers, so that the number of each processor is its own, and that of a host with one group is what
/// Windows calls it.
fn integer(value: &str) -> Option<u64> {
    let number = |text: &str| text.parse::<u32>().ok().map(u64::from);
    match value.split_once(',') {
        None => number(value),
        Some((group, processor)) => {
            let processor = number(processor).filter(|&processor| processor < GROUP_PROCESSORS)?;
            Some(number(group)? * GROUP_PROCESSORS + processor)
        }
    }
}

/// "A group … up to 64 logical processors".
const GROUP_PROCESSORS: u64 = 64;

const fn numbers_len(starts: bool) -> usize {
    9 /* time */ + 9 /* value */ + if starts { 9 } else { 0 }
}

fn put_numbers(starts: bool, points: &mut Vec<u8>) {
    if starts {
        put_fixed64(points, START, 0);
    }
    put_fixed64(points, TIME, 0);
    put_fixed64(points, Number::ONE.key, 0);
}

fn lengths(ends: &[usize]) -> impl Iterator<Item = usize> {
    let mut begin = 0;
    ends.iter().map(move |&end| end - std::mem::replace(&mut begin, end))
}

/// `data_points` of `Gauge` and `Sum`.
const POINT: u8 = key(1, BYTES);
const START: u8 = key(2, FIXED64);
const TIME: u8 = key(3, FIXED64);
const NO_RECORDED_VALUE: u8 = 1;
