//! The server side: encodes data of providers and their host.

use wire::{Encode, EncodeError, EncodeResult, FileTime, SystemTime, WriteCursor, encode_utf16};

use super::{METADATA_MULTIPLE_INSTANCES, NO_INSTANCES, ObjectType};
use crate::pcq::types::{CounterType, DetailLevel};
use crate::perflib_v1::counter::CounterDefinition;
use crate::perflib_v1::data_block::DataHeader;
use crate::perflib_v1::instance::{Instance as Definition, NO_UNIQUE_ID, Parent};

/// The host and its clocks.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Header {
    /// The name of the host.
    pub system_name: String,
    /// Ticks of the performance clock.
    pub perf_time: u64,
    /// Ticks of the performance clock in a second.
    pub perf_freq: u64,
    pub time: FileTime,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The index of its name.
    pub name_index: u32,
    /// The index of its explanation.
    pub help_index: u32,
    /// The audience, from novice to expert.
    pub detail_level: DetailLevel,
    pub perf_time: u64,
    /// Ticks of that clock in a second.
    pub perf_freq: u64,
    pub counters: Vec<Counter>,
    /// The place of the counter that displays show first, or -1.
    pub default_counter: i32,
    pub data: Data,
}

/// A counter of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The index of its name.
    pub name_index: u32,
    /// The index of its explanation.
    pub help_index: u32,
    /// The power of ten that scales its values for a graph.
    pub default_scale: i32,
    /// The audience, from novice to expert.
    pub detail_level: DetailLevel,
    /// What its values mean; the type's size bits say how long they are.
    pub counter_type: CounterType,
    /// Whether a value has eight bytes although its type says four, as mean times of disks have.
    pub is_wide: bool,
    /// Whether its value is where that of the first counter of this type is, as the time stamps of a disk are.
    pub is_shared: bool,
}

/// The values of an object, in the order of its counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Of the object as a whole.
    Single(Vec<u64>),
    Instances(Vec<Instance>),
    /// None, because only the definition was requested.
    Unasked,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Instance {
    pub name: String,
    pub parent: Option<Parent>,
    /// The number that distinguishes it from others of that name.
    pub unique_id: Option<i32>,
    pub values: Vec<u64>,
}

impl Default for Object {
    fn default() -> Self {
        Self {
            name_index: 0,
            help_index: 0,
            detail_level: DetailLevel::NOVICE,
            perf_time: 0,
            perf_freq: 0,
            counters: Vec::new(),
            default_counter: 0,
            data: Data::Instances(Vec::new()),
        }
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self {
            name_index: 0,
            help_index: 0,
            default_scale: 0,
            detail_level: DetailLevel::NOVICE,
            counter_type: CounterType::PERF_COUNTER_RAWCOUNT,
            is_wide: false,
            is_shared: false,
        }
    }
}

/// Structures begin at multiples of this.
const ALIGNMENT: usize = 8;
/// Bits of a counter's type that say how long its values are: zero for 4 bytes, and this for 8.
const SIZE_BITS: u32 = 0x300;
const SIZE_LARGE: u32 = 0x100;

/// Writes a data block, as `RegQueryValueEx` returns it.
///
/// # Errors If it is too large for its length fields.
pub fn encode(header: &Header, objects: &[Object]) -> EncodeResult<Vec<u8>> {
    let encoded: Vec<Vec<u8>> = objects.iter().map(object).collect::<Result<_, _>>()?;
    let name = with_nul(&header.system_name);
    let header_size = (DataHeader::FIXED_PART_SIZE + name.len()).next_multiple_of(ALIGNMENT);
    let total = header_size + encoded.iter().map(Vec::len).sum::<usize>();
    let mut bytes = Vec::with_capacity(total);
    let mut dst = WriteCursor::new(&mut bytes);
    dst.write_slice(&DataHeader::SIGNATURE);
    dst.write_u32(1 /* LittleEndian */);
    dst.write_u32(1 /* Version */);
    dst.write_u32(1 /* Revision */);
    dst.write_u32(size(DataHeader::NAME, "TotalByteLength", total)?);
    dst.write_u32(size(DataHeader::NAME, "HeaderLength", header_size)?);
    dst.write_u32(size(DataHeader::NAME, "NumObjectTypes", objects.len())?);
    let default_object = objects.first().map_or(-1, |object| object.name_index.cast_signed());
    dst.write_i32(default_object);
    SystemTime::from(header.time).encode(&mut dst)?;
    dst.write_u32(0 /* padding */);
    dst.write_u64(header.perf_time);
    dst.write_u64(header.perf_freq);
    header.time.encode(&mut dst)?;
    dst.write_u32(size(DataHeader::NAME, "SystemNameLength", name.len())?);
    dst.write_u32(size(DataHeader::NAME, "SystemNameOffset", DataHeader::FIXED_PART_SIZE)?);
    dst.write_slice(&name);
    bytes.resize(header_size, 0);
    encoded.iter().for_each(|object| bytes.extend_from_slice(object));
    Ok(bytes)
}

/// Writes a table of texts, as `REG_MULTI_SZ`.
#[must_use]
pub fn encode_names<'a>(texts: impl IntoIterator<Item = (u32, &'a str)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, text) in texts {
        bytes.extend(with_nul(&index.to_string()));
        bytes.extend(with_nul(text));
    }
    bytes.extend([0, 0]);
    bytes
}

fn object(object: &Object) -> EncodeResult<Vec<u8>> {
    const NAME: &str = "PERF_OBJECT_TYPE";
    let (offsets, block_size) = layout(&object.counters);
    let data = data(&object.data, &object.counters, &offsets, block_size)?;
    let definition = ObjectType::FIXED_PART_SIZE + object.counters.len() * CounterDefinition::FIXED_PART_SIZE;
    let instances = match &object.data {
        Data::Single(_) => NO_INSTANCES,
        Data::Unasked => METADATA_MULTIPLE_INSTANCES,
        Data::Instances(instances) => i32::try_from(instances.len())
            .map_err(|_| EncodeError::new(NAME, "NumInstances", "are too many"))?,
    };
    let mut bytes = Vec::with_capacity(definition + data.len());
    let mut dst = WriteCursor::new(&mut bytes);
    dst.write_u32(size(NAME, "TotalByteLength", definition + data.len())?);
    dst.write_u32(size(NAME, "DefinitionLength", definition)?);
    dst.write_u32(size(NAME, "HeaderLength", ObjectType::FIXED_PART_SIZE)?);
    dst.write_u32(object.name_index);
    dst.write_u32(0 /* ObjectNameTitle */);
    dst.write_u32(object.help_index);
    dst.write_u32(0 /* ObjectHelpTitle */);
    dst.write_u32(object.detail_level.0);
    dst.write_u32(size(NAME, "NumCounters", object.counters.len())?);
    dst.write_i32(object.default_counter);
    dst.write_i32(instances);
    dst.write_u32(0 /* CodePage */);
    dst.write_u64(object.perf_time);
    dst.write_u64(object.perf_freq);
    for (counter, (offset, bytes)) in object.counters.iter().zip(&offsets) {
        dst.write_u32(size("PERF_COUNTER_DEFINITION", "ByteLength", CounterDefinition::FIXED_PART_SIZE)?);
        dst.write_u32(counter.name_index);
        dst.write_u32(0 /* CounterNameTitle */);
        dst.write_u32(counter.help_index);
        dst.write_u32(0 /* CounterHelpTitle */);
        dst.write_i32(counter.default_scale);
        dst.write_u32(counter.detail_level.0);
        dst.write_u32(counter.counter_type.0);
        dst.write_u32(size("PERF_COUNTER_DEFINITION", "CounterSize", *bytes)?);
        dst.write_u32(size("PERF_COUNTER_DEFINITION", "CounterOffset", *offset)?);
    }
    dst.write_slice(&data);
    Ok(bytes)
}

/// The offset and size of each counter's value in a counter block, and the size of the block.
fn layout(counters: &[Counter]) -> (Vec<(usize, usize)>, usize) {
    let mut end: usize = 4 /* ByteLength */;
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(counters.len());
    for (position, counter) in counters.iter().enumerate() {
        let is_same = |other: &Counter| other.is_shared && other.counter_type == counter.counter_type;
        let first = counters[..position].iter().position(is_same).filter(|_| counter.is_shared);
        let place = first.map(|first| places[first]).unwrap_or_else(|| {
            let bytes = match counter.counter_type.0 & SIZE_BITS {
                0 if counter.is_wide => 8,
                0 => 4,
                SIZE_LARGE => 8,
                _ => 0,
            };
            let offset = if bytes == 0 { end } else { end.next_multiple_of(bytes) };
            end = offset + bytes;
            (offset, bytes)
        });
        places.push(place);
    }
    (places, end.next_multiple_of(ALIGNMENT))
}

fn data(
    data: &Data,
    counters: &[Counter],
    offsets: &[(usize, usize)],
    block: usize,
) -> EncodeResult<Vec<u8>> {
    let mut bytes = Vec::new();
    match data {
        Data::Unasked => {}
        Data::Single(values) => values_block(&mut bytes, values, counters, offsets, block)?,
        Data::Instances(instances) => {
            for instance in instances {
                definition(&mut bytes, instance)?;
                values_block(&mut bytes, &instance.values, counters, offsets, block)?;
            }
        }
    }
    Ok(bytes)
}

fn definition(bytes: &mut Vec<u8>, instance: &Instance) -> EncodeResult<()> {
    const NAME: &str = "PERF_INSTANCE_DEFINITION";
    let name = with_nul(&instance.name);
    let length = (Definition::FIXED_PART_SIZE + name.len()).next_multiple_of(ALIGNMENT);
    let (object, position) = instance.parent.map_or((0, 0), |parent| (parent.object, parent.position));
    let end = bytes.len() + length;
    let mut dst = WriteCursor::new(bytes);
    dst.write_u32(size(NAME, "ByteLength", length)?);
    dst.write_u32(object);
    dst.write_u32(position);
    dst.write_i32(instance.unique_id.unwrap_or(NO_UNIQUE_ID));
    dst.write_u32(size(NAME, "NameOffset", Definition::FIXED_PART_SIZE)?);
    dst.write_u32(size(NAME, "NameLength", name.len())?);
    dst.write_slice(&name);
    bytes.resize(end, 0);
    Ok(())
}

fn values_block(
    bytes: &mut Vec<u8>,
    values: &[u64],
    counters: &[Counter],
    offsets: &[(usize, usize)],
    length: usize,
) -> EncodeResult<()> {
    const NAME: &str = "PERF_COUNTER_BLOCK";
    if values.len() != counters.len() {
        return Err(EncodeError::new(NAME, "", "needs one value per counter"));
    }
    let start = bytes.len();
    bytes.extend(size(NAME, "ByteLength", length)?.to_le_bytes());
    bytes.resize(start + length, 0);
    for (value, (offset, size)) in values.iter().zip(offsets) {
        let at = start + offset;
        // Only the low bits are kept of a value that is too large for its counter, as in hardware.
        bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..*size]);
    }
    Ok(())
}

fn with_nul(text: &str) -> Vec<u8> {
    let mut bytes = encode_utf16(text);
    bytes.extend([0, 0]);
    bytes
}

fn size(context: &'static str, field: &'static str, size: usize) -> EncodeResult<u32> {
    u32::try_from(size).map_err(|_| EncodeError::new(context, field, "is too large"))
}
