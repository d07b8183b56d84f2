//! Points that are complete except for their numbers.

use std::collections::HashMap;
use std::sync::Arc;

use series::model::{Block, Bounds, Chunk, Family, Kind, Labels};

use super::resource::Resource;
use super::{
    BYTES, FIXED64, Number, VARINT, key, padded_varint, put_attribute, put_fixed64, put_number_attribute,
    put_varint, varint_len,
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
/// Of histograms it is field 1 of `Histogram`, and a `HistogramDataPoint`: see `NumberOffsets`.
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
    histogram: Option<NumberOffsets>,
}

impl Template {
    fn new(chunk: &Arc<Chunk>, family: &Family, resource: &Resource) -> Self {
        let starts = family.kind == Kind::Counter;
        let histogram = NumberOffsets::of(family);
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

// The points of histograms: all numbers have eight bytes, so that each has its place.
//
// ```text
// 0a LENGTH  11 start  19 time  21 count  [29 sum]  32 LENGTH counts  3a LENGTH bounds  4a attribute 4a attribute …
// ```

/// Where in a point the numbers are, after the point's length.
#[derive(Clone, Copy, Debug)]
struct NumberOffsets {
    has_sum: bool,
    counts: usize,
    end: usize,
}

/// What changes in a histogram besides its counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct HistogramNumbers {
    /// Unix nanoseconds; 0 is "unknown".
    pub(crate) start: u64,
    /// In nanoseconds since 1970.
    pub(crate) time: u64,
    pub(crate) count: u64,
    pub(crate) sum: f64,
}

impl NumberOffsets {
    /// Those of the family's points, where they are histograms.
    fn of(family: &Family) -> Option<Self> {
        if family.kind != Kind::Histogram {
            return None;
        }
        let packed = |numbers: usize| 1 + varint_len(8 * numbers);
        let (bounds, buckets) = (family.bounds.len(), family.bounds.len() + 1);
        // The protocol wants sums to grow.
        let has_sum = !family.bounds.are_signed();
        let counts = if has_sum { 4 * NUMBER } else { 3 * NUMBER } + packed(buckets);
        Some(Self { has_sum, counts, end: counts + 8 * buckets + packed(bounds) + 8 * bounds })
    }

    /// Appends a point's numbers: the bounds, the others as zeros.
    fn put_empty(self, bounds: &Bounds, points: &mut Vec<u8>) {
        for key in [START, TIME, COUNT].into_iter().chain(self.has_sum.then_some(SUM)) {
            put_fixed64(points, key, 0);
        }
        points.push(BUCKET_COUNTS);
        put_varint(points, 8 * (bounds.len() as u64 + 1));
        points.resize(points.len() + 8 * (bounds.len() + 1), 0);
        points.push(EXPLICIT_BOUNDS);
        put_varint(points, 8 * bounds.len() as u64);
        bounds.iter().for_each(|bound| points.extend_from_slice(&bound.to_le_bytes()));
    }
}

impl Template {
    /// Fills the numbers of a histogram in. It begins where `out` begins.
    pub(crate) fn fill_histogram(
        &self,
        out: &mut [u8],
        numbers: HistogramNumbers,
        counts: &mut dyn Iterator<Item = u64>,
    ) {
        let (Some(offsets), Some(out)) = (self.histogram, out.get_mut(self.head..)) else { return };
        let HistogramNumbers { start, time, count, sum } = numbers;
        for (index, bits) in [start, time, count].into_iter().enumerate() {
            put(out, index * NUMBER + 1, bits);
        }
        if offsets.has_sum {
            put(out, 3 * NUMBER + 1, sum.to_bits());
        }
        for (index, count) in counts.enumerate() {
            put(out, offsets.counts + 8 * index, count);
        }
    }
}

fn put(out: &mut [u8], at: usize, bits: u64) {
    out[at..at + 8].copy_from_slice(&bits.to_le_bytes());
}

/// A key and eight bytes.
const NUMBER: usize = 9;
const COUNT: u8 = key(4, FIXED64);
const SUM: u8 = key(5, FIXED64);
const BUCKET_COUNTS: u8 = key(6, BYTES);
const EXPLICIT_BOUNDS: u8 = key(7, BYTES);
