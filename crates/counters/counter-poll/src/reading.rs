//! What a reply holds of one counterset, whichever provider sent it.

use codec::WideStr;
use counter_types::RawClocks;
use ms_pcq::types::{CounterId, InstanceId};
use ms_pcq::wire::{Block, DataHeader, RawValue, Values};

/// The values of one counterset in a reply that lives for `'a`.
pub trait Reading<'a> {
    /// The values of an instance, in the order of the counters.
    type Values: Iterator<Item = RawValue<'a>> + Clone;

    /// The counters, in their order.
    fn counter_ids(&self) -> impl Iterator<Item = CounterId>;

    /// The instances, in their order; one without a name where the counterset has no instances.
    fn instances(&self) -> impl Iterator<Item = InstanceReading<'a, Self::Values>>;
}

/// One instance in a reply.
#[derive(Clone, Debug)]
pub struct InstanceReading<'a, V> {
    /// Its number, which tells it from others of its name.
    pub id: InstanceId,
    /// Its name.
    pub name: WideStr<'a>,
    /// Its values.
    pub values: V,
}

impl<'a> Reading<'a> for Block<'a> {
    type Values = Values<'a>;

    fn counter_ids(&self) -> impl Iterator<Item = CounterId> {
        self.counters().ids()
    }

    #[inline]
    fn instances(&self) -> impl Iterator<Item = InstanceReading<'a, Values<'a>>> {
        Block::instances(self).map(|instance| InstanceReading {
            id: instance.instance_id,
            name: instance.name,
            values: instance.values,
        })
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
