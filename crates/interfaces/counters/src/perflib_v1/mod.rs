//! Performance data of the registry, version 1 of the performance library: the values of `HKEY_PERFORMANCE_DATA`.
//! The crate has no input or output, and no clock.
//!
//! A client asks for objects by their indexes ([`value_name`]) and gets a [`DataBlock`]: a header with the host's
//! clocks, and one [`ObjectType`] for each object, with its counters, instances and values. It has no names. A
//! [`NameTable`], another value of the same key, maps indexes to names.
//!
//! The layout is that of winperf.h, which is public documentation: `PERF_DATA_BLOCK`, `PERF_OBJECT_TYPE`,
//! `PERF_COUNTER_DEFINITION`, `PERF_INSTANCE_DEFINITION`, `PERF_COUNTER_BLOCK`.
//!
//! # Checks
//!
//! Providers are libraries of many authors, and the host does not check what they write. Each structure ends where
//! its length field says, and no length may exceed its container. Inconsistent lengths in an object are an error of
//! that object only; the next one begins where its length says. If that is impossible, the block ends there with an
//! error. Reading borrows from the bytes and allocates nothing.
//!
//! ```
//! use counters::pcq::types::CounterType;
//! use counters::perflib_v1::write::{Counter, Data, Header, Object, encode};
//! use counters::perflib_v1::{DataBlock, Instances, Value};
//!
//! let uptime = Counter { name_index: 674, counter_type: CounterType::PERF_ELAPSED_TIME, ..Counter::default() };
//! let system = Object { name_index: 2, counters: vec![uptime], data: Data::Single(vec![7]), ..Object::default() };
//! let bytes = encode(&Header::default(), &[system]).unwrap();
//!
//! let block = DataBlock::decode(&bytes).unwrap();
//! let object = block.objects().next().unwrap().unwrap();
//! let counter = object.counters().next().unwrap();
//! let Instances::Single(values) = object.instances() else { panic!("the object has no instances") };
//! assert_eq!(values.value(&counter), Some(Value::Number(7)));
//! ```

mod counter;
mod data_block;
mod instance;
mod value_name;
pub mod write;

use std::collections::HashMap;

use wire::{DecodeError, DecodeResult, ReadCursor, WideStr};

pub use self::counter::{CounterBlock, CounterDefinition, Counters, Field, Value};
pub use self::data_block::{BadObject, DataBlock, DataHeader, Objects};
pub use self::instance::{Instance, Instances, Many, Parent};
pub use self::value_name::{COSTLY, GLOBAL, NameKind, value_name};

use super::pcq::types::DetailLevel;

/// The counters of an object, kept from reply to reply: a host sends them with each one, and they rarely change.
///
/// ```
/// # use counters::perflib_v1::write::{Counter, Data, Header, Object, encode};
/// # use counters::perflib_v1::DataBlock;
/// # let counters = vec![Counter { name_index: 674, ..Counter::default() }];
/// # let object = Object { name_index: 2, counters, data: Data::Single(vec![7]), ..Object::default() };
/// # let bytes = encode(&Header::default(), &[object]).unwrap();
/// let block = DataBlock::decode(&bytes).unwrap();
/// let object = block.objects().next().unwrap().unwrap();
/// let mut definitions = counters::perflib_v1::Definitions::default();
/// assert!(definitions.update(&object), "it has counters now");
/// assert!(!definitions.update(&object), "and still the same ones");
/// assert_eq!(definitions.counters().next().unwrap().name_index, 674);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    fields: Vec<Field>,
    /// INVARIANT: as many counters as there are fields can be read.
    bytes: Vec<u8>,
}

impl Definitions {
    /// Whether `object` has these counters.
    #[must_use]
    pub fn are_of(&self, object: &ObjectType<'_>) -> bool {
        // Fields that mean nothing may hold what the provider had in its memory.
        self.have_bytes_of(object) || object.counters().eq(self.counters())
    }

    /// Takes the counters of `object`. Returns whether they are others than before.
    pub fn update(&mut self, object: &ObjectType<'_>) -> bool {
        if self.have_bytes_of(object) {
            return false;
        }
        let are_others = !self.are_of(object);
        if are_others {
            self.fields.clear();
            self.fields.extend(object.counters().map(|counter| Field::of(&counter)));
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(object.counters().as_bytes());
        are_others
    }

    fn have_bytes_of(&self, object: &ObjectType<'_>) -> bool {
        let counters = object.counters();
        counters.len() == self.fields.len() && counters.as_bytes() == self.bytes
    }

    /// The counters, in their order.
    #[must_use]
    pub fn counters(&self) -> Counters<'_> {
        Counters::kept(&self.bytes, self.fields.len())
    }

    /// Where the values of the counters are, in their order.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }
}

// The tables of names and of help texts that the registry has.

/// A table of texts by index: the value `Counter 009` or `Help 009` of `HKEY_PERFORMANCE_DATA`.
///
/// It is a `REG_MULTI_SZ` of an index, its text, the next index, and so on. Real tables are damaged: installers
/// write two texts for one index, or omit one, so that everything after it is shifted. Texts are skipped until the
/// next index.
#[derive(Clone, Debug, Default)]
pub struct NameTable {
    texts: HashMap<u32, String>,
    faults: NameTableFaults,
}

/// What is wrong with a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct NameTableFaults {
    /// Repeated indexes; the first text is used.
    pub duplicates: usize,
    /// Texts instead of an index.
    pub stray_texts: usize,
    /// Whether there were more entries than [`NameTable::ENTRIES_MAX`].
    pub is_cut: bool,
}

impl NameTable {
    /// Maximum texts. A host with all of Microsoft's servers has some 20,000.
    pub const ENTRIES_MAX: usize = 1 << 17;

    /// Reads the value's bytes.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        let mut table = Self::default();
        let mut rest = bytes;
        let mut index: Option<u32> = None;
        while rest.len() >= 2 {
            let text = WideStr::until_nul_or_end(rest);
            let taken = text.as_bytes().len() + 2 /* NUL */;
            rest = rest.get(taken..).unwrap_or_default();
            match index.take() {
                // An index whose text is empty has none; the end of the list looks like one, too.
                Some(index) => {
                    if table.texts.len() >= Self::ENTRIES_MAX {
                        table.faults.is_cut = true;
                        break;
                    }
                    table.insert(index, text);
                }
                None if text.as_bytes().is_empty() => {}
                None => {
                    index = index_of(text);
                    table.faults.stray_texts += usize::from(index.is_none());
                }
            }
        }
        table
    }

    fn insert(&mut self, index: u32, text: WideStr<'_>) {
        match self.texts.entry(index) {
            std::collections::hash_map::Entry::Occupied(_) => self.faults.duplicates += 1,
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(text.chars().collect());
            }
        }
    }

    /// The text of an index.
    #[must_use]
    pub fn get(&self, index: u32) -> Option<&str> {
        self.texts.get(&index).map(String::as_str)
    }

    /// All texts, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.texts.iter().map(|(index, text)| (*index, text.as_str()))
    }

    /// How many texts there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// What is wrong with it.
    #[must_use]
    pub const fn faults(&self) -> NameTableFaults {
        self.faults
    }
}

/// Digits only: no counter is called `2`.
fn index_of(text: WideStr<'_>) -> Option<u32> {
    let mut index = 0_u32;
    for character in text.chars() {
        index = index.checked_mul(10)?.checked_add(character.to_digit(10)?)?;
    }
    Some(index)
}

// One object of a block.

/// `PERF_OBJECT_TYPE` of winperf.h: an object with its counters, instances and values.
///
/// INVARIANT: all structures in it were checked once, so reading them cannot fail.
#[doc(alias = "PERF_OBJECT_TYPE")]
#[derive(Clone, Copy, Debug)]
pub struct ObjectType<'a> {
    /// `ObjectNameTitleIndex`: its name in the table of names.
    pub name_index: u32,
    /// `ObjectHelpTitleIndex`: its explanation in the table of explanations.
    pub help_index: u32,
    /// `DetailLevel`: the audience, from novice to expert.
    pub detail_level: DetailLevel,
    /// `DefaultCounter`: the place of the counter that displays show first, or -1.
    pub default_counter: i32,
    /// `PerfTime`: its own clock; zero if it has none.
    pub perf_time: u64,
    /// `PerfFreq`: ticks of that clock in a second.
    pub perf_freq: u64,
    /// `CodePage`: zero if names of instances are UTF-16.
    pub code_page: u32,
    counters: Counters<'a>,
    instances: Instances<'a>,
}

/// Maximum counters of an object: those of Windows have some hundred at most.
const COUNTERS_MAX: u32 = 4_096;
/// `NumInstances` of an object that has none, and never has.
const NO_INSTANCES: i32 = -1;
/// `NumInstances` of an object without data, because only its definition was requested.
const METADATA_MULTIPLE_INSTANCES: i32 = -2;
/// The same of an object that never has instances.
const METADATA_NO_INSTANCES: i32 = -3;

impl<'a> ObjectType<'a> {
    /// Bytes of its fixed part.
    pub const FIXED_PART_SIZE: usize = 4 /* TotalByteLength */
        + 4 /* DefinitionLength */
        + 4 /* HeaderLength */
        + 4 /* ObjectNameTitleIndex */
        + 4 /* ObjectNameTitle */
        + 4 /* ObjectHelpTitleIndex */
        + 4 /* ObjectHelpTitle */
        + 4 /* DetailLevel */
        + 4 /* NumCounters */
        + 4 /* DefaultCounter */
        + 4 /* NumInstances */
        + 4 /* CodePage */
        + 8 /* PerfTime */
        + 8 /* PerfFreq */;
    const NAME: &'static str = "PERF_OBJECT_TYPE";

    /// Its counters, in the order of their definitions.
    #[must_use]
    pub fn counters(&self) -> Counters<'a> {
        self.counters
    }

    /// Its instances with their values.
    #[must_use]
    pub fn instances(&self) -> Instances<'a> {
        self.instances
    }

    /// The size in bytes of the object at the beginning of `rest`, which is at `offset` of the data.
    pub(crate) fn size_of(rest: &[u8], offset: usize) -> DecodeResult<usize> {
        let needed = Self::FIXED_PART_SIZE;
        if rest.len() < needed {
            return Err(DecodeError::not_enough_bytes(Self::NAME, "", offset, rest.len(), needed));
        }
        let size = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
        if (needed..=rest.len()).contains(&size) {
            Ok(size)
        } else {
            let reason = "is not between the object's fixed part and the end of the data";
            Err(DecodeError::invalid_field(Self::NAME, "TotalByteLength", offset, reason))
        }
    }

    /// The index of its name, if there are enough bytes.
    pub(crate) fn name_index_of(rest: &[u8]) -> Option<u32> {
        rest.get(12..)?.first_chunk().copied().map(u32::from_le_bytes)
    }

    /// Reads the object at `start` of `bytes`, which end where it ends.
    pub(crate) fn decode(bytes: &'a [u8], start: usize) -> DecodeResult<Self> {
        let size = Self::size_of(&bytes[start..], start)?;
        let invalid = |field, at, reason| DecodeError::invalid_field(Self::NAME, field, start + at, reason);
        let mut src = ReadCursor::new(bytes);
        src.read_slice(start + 4);
        let definition_size = src.read_u32() as usize;
        let header_size = src.read_u32() as usize;
        let name_index = src.read_u32();
        src.read_u32(/* ObjectNameTitle */);
        let help_index = src.read_u32();
        src.read_u32(/* ObjectHelpTitle */);
        let detail_level = DetailLevel(src.read_u32());
        let num_counters = src.read_u32();
        let default_counter = src.read_i32();
        let num_instances = src.read_i32();
        let code_page = src.read_u32();
        let (perf_time, perf_freq) = (src.read_u64(), src.read_u64());
        if !(Self::FIXED_PART_SIZE..=size).contains(&header_size) {
            return Err(invalid("HeaderLength", 8, "is not between the fixed part and the object's end"));
        }
        if !(header_size..=size).contains(&definition_size) {
            return Err(invalid("DefinitionLength", 4, "is not between the header and the object's end"));
        }
        if num_counters > COUNTERS_MAX {
            let (count, limit) = (u64::from(num_counters), u64::from(COUNTERS_MAX));
            return Err(DecodeError::limit_exceeded(Self::NAME, "NumCounters", start + 32, count, limit));
        }
        let definitions = &bytes[..start + definition_size];
        let counters = Counters::decode(definitions, start + header_size, num_counters)?;
        let data = start + definition_size;
        let instances = match num_instances {
            NO_INSTANCES => Instances::single(bytes, data)?,
            METADATA_MULTIPLE_INSTANCES | METADATA_NO_INSTANCES => Instances::Unasked,
            count => match u32::try_from(count) {
                Ok(count) => Instances::Many(Many::decode(bytes, data, (count, start + 40), code_page)?),
                Err(_) => return Err(invalid("NumInstances", 40, "is negative and has no meaning")),
            },
        };
        Ok(Self {
            name_index,
            help_index,
            detail_level,
            default_counter,
            perf_time,
            perf_freq,
            code_page,
            counters,
            instances,
        })
    }
}
