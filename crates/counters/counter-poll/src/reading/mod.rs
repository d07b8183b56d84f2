//! What a reply holds of one counterset, whichever provider sent it.

use counter_types::RawClocks;
use counters::pcq::types::{CounterId, InstanceId};
use counters::pcq::wire::{self, Block, DataHeader, RawValue};
use wire::WideStr;

mod identities;
mod object;

pub(crate) use self::identities::{Identities, Numbers};
use self::object::{ObjectInstances, ObjectValues};
pub(crate) use self::object::{ObjectReading, classic_clocks_of, id_of, with_clock_of};

/// One counterset in a reply that lives for `'a`.
///
/// It is no trait with two implementations: what is generic over lifetimes cannot be kept while other tasks run.
#[derive(Clone, Debug)]
pub struct Reading<'a>(Kind<Block<'a>, ObjectReading<'a>>);

/// Its instances, in their order; one without a name where the counterset has no instances.
#[derive(Clone, Debug)]
pub struct Instances<'a>(Kind<wire::Instances<'a>, ObjectInstances<'a>>);

/// The values of an instance, in the order of the counters.
#[derive(Clone, Debug)]
pub struct Values<'a>(Kind<wire::Values<'a>, ObjectValues<'a>>);

#[derive(Clone, Debug)]
enum Kind<A, B> {
    V2(A),
    Classic(B),
}

/// One instance in a reply.
#[derive(Clone, Debug)]
pub struct InstanceReading<'a> {
    /// Its number, which tells it from others of its name.
    pub id: InstanceId,
    /// The number of what it is a part of, where it has one.
    pub owner: InstanceId,
    pub name: WideStr<'a>,
    pub values: Values<'a>,
}

impl<'a> From<Block<'a>> for Reading<'a> {
    fn from(block: Block<'a>) -> Self {
        Self(Kind::V2(block))
    }
}

impl<'a> From<ObjectReading<'a>> for Reading<'a> {
    fn from(object: ObjectReading<'a>) -> Self {
        Self(Kind::Classic(object))
    }
}

impl<'a> From<ObjectValues<'a>> for Values<'a> {
    fn from(values: ObjectValues<'a>) -> Self {
        Self(Kind::Classic(values))
    }
}

impl<'a> Reading<'a> {
    /// The counters, in their order.
    pub fn counter_ids(&self) -> impl Iterator<Item = CounterId> + use<'a> {
        let (block, object) = match &self.0 {
            Kind::V2(block) => (Some(block.counters().ids()), None),
            Kind::Classic(object) => (None, Some(object.counter_ids())),
        };
        block.into_iter().flatten().chain(object.into_iter().flatten())
    }

    #[must_use]
    pub fn instances(&self) -> Instances<'a> {
        Instances(match &self.0 {
            Kind::V2(block) => Kind::V2(block.instances()),
            Kind::Classic(object) => Kind::Classic(object.instances()),
        })
    }
}

impl<'a> Iterator for Instances<'a> {
    type Item = InstanceReading<'a>;

    #[inline]
    fn next(&mut self) -> Option<InstanceReading<'a>> {
        match &mut self.0 {
            Kind::V2(instances) => instances.next().map(|instance| InstanceReading {
                id: instance.instance_id,
                owner: InstanceId(0),
                name: instance.name,
                values: Values(Kind::V2(instance.values)),
            }),
            Kind::Classic(instances) => instances.next(),
        }
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = RawValue<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawValue<'a>> {
        match &mut self.0 {
            Kind::V2(values) => values.next(),
            Kind::Classic(values) => values.next(),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Kind::V2(values) => values.size_hint(),
            Kind::Classic(values) => values.size_hint(),
        }
    }

    #[inline]
    fn fold<B, F: FnMut(B, RawValue<'a>) -> B>(self, first: B, add: F) -> B {
        match self.0 {
            Kind::V2(values) => values.fold(first, add),
            Kind::Classic(values) => values.fold(first, add),
        }
    }
}

/// The clocks of a reply's header.
#[must_use]
pub const fn clocks_of(header: &DataHeader) -> RawClocks {
    RawClocks {
        perf_time: header.perf_time_stamp,
        perf_freq: header.perf_freq,
        time_100ns: header.perf_time_100ns.0,
        object_time: None,
        object_freq: None,
    }
}
