//! The values of a classic object in a reply.

use codec::WideStr;
use counter_types::RawClocks;
use ms_pcq::types::{CounterId, InstanceId};
use ms_pcq::wire::RawValue;
use perflib_v1::{CounterBlock, DataBlock, Field, Instances, Many, ObjectType, Value};

use super::counterset::id_of;
use super::identities::Identities;
use crate::reading::{InstanceReading, Reading};

/// One object of a reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObjectReading<'a> {
    fields: &'a [Field],
    instances: Instances<'a>,
    identities: &'a Identities,
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
    /// An object with its instances' identities.
    pub(crate) const fn new(
        fields: &'a [Field],
        instances: Instances<'a>,
        identities: &'a Identities,
    ) -> Self {
        Self { fields, instances, identities }
    }

    fn values(&self, block: CounterBlock<'a>) -> ObjectValues<'a> {
        ObjectValues { fields: self.fields.iter(), block }
    }

    fn number(&self, position: usize, values: &ObjectValues<'a>) -> InstanceId {
        let number = match self.identities.number() {
            Some(place) => {
                values.clone().nth(place).and_then(RawValue::to_u64).and_then(|id| u32::try_from(id).ok())
            }
            None => self.identities.ordinal(position),
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
        let own = instance.wide_name().unwrap_or_default();
        let name = self.reading.identities.name(self.position, own);
        self.position += 1;
        Some(InstanceReading { id, name, values })
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
