//! The values of a classic object in a reply.

use std::hash::{DefaultHasher, Hash, Hasher};

use codec::WideStr;
use counter_types::RawClocks;
use ms_pcq::types::{CounterId, InstanceId};
use ms_pcq::wire::RawValue;
use perflib_v1::{CounterBlock, DataBlock, Field, Instances, Many, ObjectType, Value};

use super::counterset::id_of;
use crate::reading::{InstanceReading, Reading};

/// One object of a reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectReading<'a> {
    pub(super) fields: &'a [Field],
    pub(super) instances: Instances<'a>,
    pub(super) numbers: Numbers<'a>,
}

/// What tells instances of one name apart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Numbers<'a> {
    /// The value of the counter at this place, such as `ID Process`.
    OfCounter(usize),
    /// How many of the name are before it, by place.
    Ordinals(&'a [u32]),
    /// Nothing.
    None,
}

/// Buffers that are used again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    by_name: Vec<(u64, usize)>,
    ordinals: Vec<u32>,
}

/// The values of an instance.
#[derive(Clone, Debug)]
pub(crate) struct ObjectValues<'a> {
    fields: std::slice::Iter<'a, Field>,
    block: CounterBlock<'a>,
}

/// The instances of an object.
struct ObjectInstances<'a> {
    reading: ObjectReading<'a>,
    single: Option<CounterBlock<'a>>,
    many: Option<Many<'a>>,
    position: usize,
}

impl Scratch {
    /// Counts, for each instance, those of its name before it.
    pub(super) fn ordinals(&mut self, instances: Instances<'_>) -> &[u32] {
        self.by_name.clear();
        self.ordinals.clear();
        let Instances::Many(many) = instances else { return &self.ordinals };
        for (position, instance) in many.enumerate() {
            let mut hasher = DefaultHasher::new();
            instance.name_bytes().hash(&mut hasher);
            self.by_name.push((hasher.finish(), position));
        }
        self.by_name.sort_unstable();
        self.ordinals.resize(self.by_name.len(), 0);
        let mut run = (0, 0);
        for (hash, position) in &self.by_name {
            run = if run.0 == *hash { (run.0, run.1 + 1) } else { (*hash, 0) };
            self.ordinals[*position] = run.1;
        }
        &self.ordinals
    }
}

impl<'a> Reading<'a> for ObjectReading<'a> {
    type Values = ObjectValues<'a>;

    fn counter_ids(&self) -> impl Iterator<Item = CounterId> {
        (0..self.fields.len()).map(id_of)
    }

    fn instances(&self) -> impl Iterator<Item = InstanceReading<'a, ObjectValues<'a>>> {
        let (single, many) = match self.instances {
            Instances::Single(block) => (Some(block), None),
            Instances::Many(many) => (None, Some(many)),
            Instances::Unasked => (None, None),
        };
        ObjectInstances { reading: *self, single, many, position: 0 }
    }
}

impl<'a> ObjectReading<'a> {
    /// An object whose instances have the values of the counter at `number` as numbers, or none.
    pub(crate) fn new(fields: &'a [Field], instances: Instances<'a>, number: Option<usize>) -> Self {
        Self { fields, instances, numbers: number.map_or(Numbers::None, Numbers::OfCounter) }
    }

    fn values(&self, block: CounterBlock<'a>) -> ObjectValues<'a> {
        ObjectValues { fields: self.fields.iter(), block }
    }

    fn number(&self, position: usize, values: &ObjectValues<'a>) -> InstanceId {
        let number = match self.numbers {
            Numbers::None => return InstanceId::ANY,
            Numbers::OfCounter(place) => {
                values.clone().nth(place).and_then(RawValue::to_u64).and_then(|id| u32::try_from(id).ok())
            }
            Numbers::Ordinals(ordinals) => ordinals.get(position).copied(),
        };
        InstanceId(number.unwrap_or(0))
    }
}

impl<'a> Iterator for ObjectInstances<'a> {
    type Item = InstanceReading<'a, ObjectValues<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(block) = self.single.take() {
            let values = self.reading.values(block);
            return Some(InstanceReading { id: InstanceId(0), name: WideStr::default(), values });
        }
        let instance = self.many.as_mut()?.next()?;
        let values = self.reading.values(instance.values);
        let id = self.reading.number(self.position, &values);
        self.position += 1;
        Some(InstanceReading { id, name: instance.wide_name().unwrap_or_default(), values })
    }
}

impl<'a> Iterator for ObjectValues<'a> {
    type Item = RawValue<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawValue<'a>> {
        let field = self.fields.next()?;
        Some(match field.value(&self.block) {
            Some(Value::Number(value)) => RawValue::U64(value),
            Some(Value::Text(text)) => RawValue::Other(text.as_bytes()),
            None => RawValue::Other(&[]),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.fields.size_hint()
    }
}

/// The clocks of a reply.
pub(crate) const fn clocks_of(block: &DataBlock<'_>) -> RawClocks {
    RawClocks {
        perf_time: block.header.perf_time,
        perf_freq: block.header.perf_freq,
        time_100ns: block.header.perf_time_100ns.0,
        object_time: None,
        object_freq: None,
    }
}

/// The same with the object's own clock, where it has one.
pub(crate) fn with_clock_of(object: &ObjectType<'_>, clocks: RawClocks) -> RawClocks {
    let own = |value| Some(value).filter(|_| object.perf_freq > 0);
    clocks.with_object(own(object.perf_time), own(object.perf_freq))
}

#[cfg(test)]
mod tests {
    use perflib_v1::write::{Counter, Data, Header, Instance, Object, encode};

    use super::*;

    #[test]
    fn instances_of_one_name_are_numbered_in_their_order() {
        let instances = ["a", "b", "a", "a", "b", "c"].map(|name| Instance {
            name: name.to_owned(),
            values: vec![0],
            ..Instance::default()
        });
        let object = Object {
            name_index: 2,
            counters: vec![Counter::default()],
            data: Data::Instances(instances.to_vec()),
            ..Object::default()
        };
        let bytes = encode(&Header::default(), &[object]).expect("it fits");
        let block = DataBlock::decode(&bytes).expect("a block");
        let object = block.objects().next().expect("an object").expect("a sound one");
        assert_eq!(Scratch::default().ordinals(object.instances()), [0, 0, 1, 2, 1, 0]);
    }
}
