//! The values of a classic object in a reply.

use counter_types::RawClocks;
use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::RawValue;
use counters::perflib_v1::{CounterBlock, DataBlock, Field, Instances, Many, ObjectType, Value};
use wire::WideStr;

use super::InstanceReading;
use super::identities::Identities;

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
#[derive(Clone, Debug)]
pub(crate) struct ObjectInstances<'a> {
    reading: ObjectReading<'a>,
    single: Option<CounterBlock<'a>>,
    many: Option<Many<'a>>,
    position: usize,
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

    pub(crate) fn counter_ids(&self) -> impl Iterator<Item = CounterId> + use<> {
        (0..self.fields.len()).map(id_of)
    }

    pub(crate) fn instances(&self) -> ObjectInstances<'a> {
        let (single, many) = match self.instances {
            Instances::Single(block) => (Some(block), None),
            Instances::Many(many) => (None, Some(many)),
            Instances::Unasked => (None, None),
        };
        ObjectInstances { reading: *self, single, many, position: 0 }
    }

    fn values(&self, block: CounterBlock<'a>) -> ObjectValues<'a> {
        ObjectValues { fields: self.fields.iter(), block }
    }

    /// The numbers of an instance that calls itself `own`, and of what it is a part of.
    fn numbers(&self, position: usize, values: &ObjectValues<'a>, own: WideStr<'_>) -> [InstanceId; 2] {
        let Some(numbers) = self.identities.numbers() else {
            return [InstanceId(self.identities.ordinal(position).unwrap_or(0)), InstanceId(0)];
        };
        let number = |place| {
            let value = values.clone().nth(place).and_then(RawValue::to_u64);
            value.and_then(|id| u32::try_from(id).ok()).unwrap_or(0)
        };
        let (id, owner) = (number(numbers.id), numbers.owner.map_or(0, number));
        // The threads of the idle process, one for each processor, have no identifiers.
        let id = if id == 0 && numbers.names_owner { place_in_owner(own) } else { id };
        [InstanceId(id), InstanceId(owner)]
    }
}

/// The number that a name is.
fn place_in_owner(name: WideStr<'_>) -> u32 {
    let digits = name.chars().filter_map(|digit| digit.to_digit(10));
    digits.fold(0, |number: u32, digit| number.wrapping_mul(10).wrapping_add(digit))
}

impl<'a> Iterator for ObjectInstances<'a> {
    type Item = InstanceReading<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(block) = self.single.take() {
            let values = self.reading.values(block);
            let (id, owner, name) = (InstanceId(0), InstanceId(0), WideStr::default());
            return Some(InstanceReading { id, owner, name, values: values.into() });
        }
        let instance = self.many.as_mut()?.next()?;
        let values = self.reading.values(instance.values);
        let own = instance.wide_name().unwrap_or_default();
        let [id, owner] = self.reading.numbers(self.position, &values, own);
        let name = self.reading.identities.name(self.position, own);
        self.position += 1;
        Some(InstanceReading { id, owner, name, values: values.into() })
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
pub(crate) const fn classic_clocks_of(block: &DataBlock<'_>) -> RawClocks {
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

/// The identifier of the counter at a place. There are no more places than fit.
pub(crate) fn id_of(place: usize) -> CounterId {
    CounterId(u32::try_from(place).unwrap_or(u32::MAX))
}
