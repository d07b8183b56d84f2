use codec::{Decode, DecodeResult, ReadCursor};
use ms_dtyp::Win32Error;

use crate::types::BlockType;
use crate::wire::query_data::narrowed;
use crate::wire::{CounterHeader, Instances, MultiCounters, MultiInstances, RawValue, Values};

/// What one counter identifier of the query came to.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// Its place in the data, which is [`crate::wire::CounterIdentifier::index`].
    pub index: u32,
    /// How the query of this block went. [`Win32Error::ERROR_NO_DATA`]: no such instance now.
    pub status: Win32Error,
    /// The values.
    pub body: Body<'a>,
}

/// The five kinds of blocks, and those that nobody knows yet.
///
/// INVARIANT: all structures in it were walked once, so iterating meets no errors.
#[derive(Clone, Debug)]
pub enum Body<'a> {
    /// No values; the block's status says why.
    ErrorReturn,
    /// One counter of one instance, both of which the identifier names.
    SingleCounter(RawValue<'a>),
    /// Several counters of the instance that the identifier names.
    MultiCounters {
        /// Which counters.
        counters: MultiCounters<'a>,
        /// Their values, in the same order.
        values: Values<'a>,
    },
    /// The counter that the identifier names, of several instances.
    MultiInstances(Instances<'a>),
    /// Several counters of several instances.
    CounterSet {
        /// Which counters.
        counters: MultiCounters<'a>,
        /// The instances with the counters' values, in the same order.
        instances: Instances<'a>,
    },
    /// A block type without a name, passed over by its size.
    Unknown(BlockType),
}

impl<'a> Block<'a> {
    /// The counters of which each instance has a value, in order. Empty where the identifier names the counter.
    #[must_use]
    pub fn counters(&self) -> MultiCounters<'a> {
        match self.body {
            Body::MultiCounters { counters, .. } | Body::CounterSet { counters, .. } => counters,
            _ => MultiCounters::default(),
        }
    }

    /// The instances, whatever the kind of block; where the identifier names the instance, one without a name.
    #[must_use]
    pub fn instances(&self) -> Instances<'a> {
        match &self.body {
            Body::ErrorReturn | Body::Unknown(_) => Instances::default(),
            Body::SingleCounter(value) => Instances::nameless(Values::one(*value)),
            Body::MultiCounters { values, .. } => Instances::nameless(values.clone()),
            Body::MultiInstances(instances) | Body::CounterSet { instances, .. } => instances.clone(),
        }
    }

    pub(super) fn decode(index: u32, header: CounterHeader, mut src: ReadCursor<'a>) -> DecodeResult<Self> {
        let src = &mut src;
        let body = match header.block_type {
            BlockType::PERF_ERROR_RETURN => Body::ErrorReturn,
            BlockType::PERF_SINGLE_COUNTER => Body::SingleCounter(RawValue::decode(src)?),
            BlockType::PERF_MULTI_COUNTERS => {
                let counters = MultiCounters::decode(src)?;
                Body::MultiCounters { counters, values: Values::decode(src, counters.len())? }
            }
            BlockType::PERF_MULTI_INSTANCES => Body::MultiInstances(decode_instances(src, 1)?),
            BlockType::PERF_COUNTERSET => {
                let counters = MultiCounters::decode(src)?;
                Body::CounterSet { counters, instances: decode_instances(src, counters.len())? }
            }
            unknown => Body::Unknown(unknown),
        };
        Ok(Self { index, status: header.status, body })
    }
}

/// Reads `PERF_MULTI_INSTANCES` and walks what it counts.
fn decode_instances<'a>(src: &ReadCursor<'a>, values_each: usize) -> DecodeResult<Instances<'a>> {
    let mut inner = *src;
    let header = MultiInstances::decode(&mut inner)?;
    let size = usize::try_from(header.total_size_bytes).unwrap_or(usize::MAX);
    let inside = narrowed(&inner, size - MultiInstances::FIXED_PART_SIZE);
    Instances::decode(inside, header.instances, values_each)
}
