//! The values of `HKEY_PERFORMANCE_DATA`: objects with their counters, and the tables of their names.

use counters::perflib_v1::write::{Counter, Header, Object, encode};
use counters::perflib_v1::{COSTLY, CounterDefinition, GLOBAL, NameKind, ObjectType};
use counters::rrp::types::ValueType;
use wire::Win32Error;

use super::{names, translation};
use crate::choices::{Choices, ObjectCorruption, PerformanceDataChoices};
use crate::host_state::HostState;
use crate::model::{Moment, NameIndexes, PerfObject, ValueSource};
use crate::registry::{RegistryValue, netbios_name};

/// What the name of a value asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Query {
    /// A table of texts in a language.
    Names(NameKind, u16),
    /// All objects but the costly ones.
    Global,
    /// The costly objects. There are none.
    Costly,
    /// The objects of these indexes. Those that do not exist are left out.
    Objects(Vec<u32>),
}

impl Query {
    /// Reads a name; its case does not matter.
    pub(super) fn parse(name: &str) -> Option<Self> {
        let mut words = name.split_ascii_whitespace();
        let first = words.next()?;
        if let Some(kind) = kind_of(first) {
            let language = u16::from_str_radix(words.next()?, 16).ok()?;
            return Some(Self::Names(kind, language));
        }
        if first.eq_ignore_ascii_case(GLOBAL) {
            return Some(Self::Global);
        }
        if first.eq_ignore_ascii_case(COSTLY) {
            return Some(Self::Costly);
        }
        let indexes: Result<Vec<u32>, _> = name.split_ascii_whitespace().map(str::parse).collect();
        indexes.ok().map(Self::Objects)
    }

    fn wants(&self, index: u32) -> bool {
        match self {
            Self::Global => true,
            Self::Objects(indexes) => indexes.contains(&index),
            Self::Costly | Self::Names(..) => false,
        }
    }

    /// The objects that are asked for, and those that these are part of.
    fn objects(&self, source: &dyn ValueSource) -> Vec<&'static PerfObject> {
        let indexes = source.name_indexes();
        let mut objects = source.objects();
        let wanted = objects.iter().filter(|object| self.wants(indexes.now(object.index)));
        let parents: Vec<u32> = wanted.filter_map(|object| Some(object.parent?.index)).collect();
        objects.retain(|object| self.wants(indexes.now(object.index)) || parents.contains(&object.index));
        objects
    }

    /// Whether a provider that hangs is called for this.
    pub(super) fn hangs(&self, source: &dyn ValueSource, choices: &Choices) -> bool {
        let Some(hanging) = choices.hanging_counterset.as_deref() else { return false };
        self.objects(source).iter().any(|object| object.name == hanging)
    }

    /// The value.
    ///
    /// # Errors
    /// `ERROR_FILE_NOT_FOUND` where there are no names in the language.
    pub(super) fn answer(&self, host: &HostState, choices: &Choices) -> Result<RegistryValue, Win32Error> {
        let source = &**host.source();
        if let Self::Names(kind, language) = *self {
            return names::table(source, choices, kind, language).ok_or(Win32Error::ERROR_FILE_NOT_FOUND);
        }
        let at = source.moment();
        let indexes = source.name_indexes();
        let mut objects: Vec<Object> = self
            .objects(source)
            .into_iter()
            .filter_map(|known| object(source, known, indexes, &at))
            .collect();
        let translated = translation::translated(source, choices);
        let wanted = translated.iter().filter(|set| self.wants(set.index));
        objects.extend(wanted.filter_map(|set| set.object(source, &at)));
        let header = Header {
            system_name: netbios_name(host.name()),
            perf_time: at.perf_time(),
            perf_freq: at.perf_freq,
            time: at.time,
        };
        let mut bytes = encode(&header, &objects).map_err(|_too_large| Win32Error::ERROR_OUTOFMEMORY)?;
        let PerformanceDataChoices { object_corruption, corrupt_object, .. } = &choices.performance_data;
        let mut known = source.objects().into_iter();
        if let Some(object) = known.find(|object| Some(object.name) == corrupt_object.as_deref()) {
            corrupt(&mut bytes, indexes.now(object.index), *object_corruption);
        }
        Ok(RegistryValue { value_type: ValueType::REG_BINARY, bytes })
    }
}

fn kind_of(word: &str) -> Option<NameKind> {
    if word.eq_ignore_ascii_case("Counter") {
        Some(NameKind::Counter)
    } else if word.eq_ignore_ascii_case("Help") || word.eq_ignore_ascii_case("Explain") {
        Some(NameKind::Help)
    } else {
        None
    }
}

/// An object with its values, where its provider runs.
fn object(
    source: &dyn ValueSource,
    object: &PerfObject,
    indexes: NameIndexes,
    at: &Moment,
) -> Option<Object> {
    let data = source.object_data(object, at)?;
    let (perf_time, perf_freq) =
        if object.has_clock { (at.time.0, wire::FileTime::INTERVALS_PER_SECOND) } else { (0, 0) };
    let counters = object.counters.iter().map(|counter| Counter {
        name_index: indexes.now(counter.index),
        help_index: indexes.now(counter.help),
        default_scale: counter.default_scale,
        detail_level: counter.detail,
        counter_type: counter.kind,
        is_wide: counter.is_wide,
        is_shared: counter.is_shared,
    });
    Some(Object {
        name_index: indexes.now(object.index),
        help_index: indexes.now(object.index + 1),
        detail_level: object.detail,
        perf_time,
        perf_freq,
        counters: counters.collect(),
        default_counter: object.default_counter,
        data,
    })
}

/// Larger than anything that is there, and a multiple of 8.
const TOO_MUCH: u32 = 0x7FFF_FFF8;

/// Where `HeaderLength` of `PERF_DATA_BLOCK` is.
const HEADER_LENGTH: usize = 24;
const DEFINITION_LENGTH: usize = 4;
const OBJECT_NAME: usize = 12;
const COUNTER_COUNT: usize = 32;
const INSTANCE_COUNT: usize = 40;
const COUNTER_OFFSET: usize = 36;
const NAME_LENGTH: usize = 20;

/// Makes one length of the object with this index wrong. Does nothing to an object that has not such a length.
pub(super) fn corrupt(block: &mut [u8], name_index: u32, how: ObjectCorruption) {
    let Some(object) = find_object(block, name_index) else { return };
    let total = read_u32(block, object).unwrap_or(0);
    let definition = read_u32(block, object + DEFINITION_LENGTH).unwrap_or(0);
    let instances = read_u32(block, object + INSTANCE_COUNT).unwrap_or(0).cast_signed();
    let data = object + as_offset(definition);
    let first_block = match instances {
        1.. => data + as_offset(read_u32(block, data).unwrap_or(0)),
        _ => data,
    };
    match how {
        ObjectCorruption::None => {}
        ObjectCorruption::TotalTooLong => patch(block, object, TOO_MUCH),
        ObjectCorruption::TotalTooShort => patch(block, object, total / 16 * 8),
        ObjectCorruption::Definition => patch(block, object + DEFINITION_LENGTH, TOO_MUCH),
        ObjectCorruption::Counters => patch(block, object + COUNTER_COUNT, TOO_MUCH),
        ObjectCorruption::Instances => patch(block, object + INSTANCE_COUNT, TOO_MUCH),
        ObjectCorruption::CounterOffset => {
            let last = as_offset(definition).saturating_sub(CounterDefinition::FIXED_PART_SIZE);
            patch(block, object + last.max(ObjectType::FIXED_PART_SIZE) + COUNTER_OFFSET, TOO_MUCH);
        }
        ObjectCorruption::InstanceName => patch(block, data + NAME_LENGTH, TOO_MUCH),
        ObjectCorruption::Block => patch(block, first_block, TOO_MUCH),
    }
}

/// Where the object is.
fn find_object(block: &[u8], name_index: u32) -> Option<usize> {
    let mut at = as_offset(read_u32(block, HEADER_LENGTH)?);
    loop {
        if read_u32(block, at + OBJECT_NAME)? == name_index {
            return Some(at);
        }
        at += as_offset(read_u32(block, at)?);
    }
}

fn as_offset(length: u32) -> usize {
    usize::try_from(length).unwrap_or(usize::MAX / 4)
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn patch(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(field) = bytes.get_mut(at..at + 4) {
        field.copy_from_slice(&value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_whatever_its_case_and_others_are_none() {
        assert_eq!(Query::parse("GLOBAL"), Some(Query::Global));
        assert_eq!(Query::parse("costly"), Some(Query::Costly));
        assert_eq!(Query::parse("2 238"), Some(Query::Objects(vec![2, 238])));
        assert_eq!(Query::parse("counter 009"), Some(Query::Names(NameKind::Counter, 9)));
        assert_eq!(Query::parse("HELP 00A"), Some(Query::Names(NameKind::Help, 10)));
        for name in ["", "Globals", "2 Processor", "Counter", "Counter 00x", "-2"] {
            assert_eq!(Query::parse(name), None, "{name}");
        }
    }
}
