//! One block of a reply, where documents do not specify its padding.

use wire::{Decode, DecodeError, DecodeResult, ReadCursor, Win32Error};

use crate::pcq::types::BlockType;
use crate::pcq::wire::query_data::Advance;
use crate::pcq::wire::query_data::narrowed;
use crate::pcq::wire::query_data::values::Extent;
use crate::pcq::wire::{
    ALIGNMENT, CounterHeader, Instances, MultiCounters, MultiInstances, RawValue, Values,
};

/// What one counter identifier of the query came to.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// Its place in the data, which is [`crate::pcq::wire::CounterIdentifier::index`].
    pub index: u32,
    /// How the query of this block went. [`Win32Error::ERROR_NO_DATA`]: no such instance now.
    pub status: Win32Error,
    pub body: Body<'a>,
}

/// The five documented kinds of blocks, and unknown ones.
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
        counters: MultiCounters<'a>,
        /// Their values, in the same order.
        values: Values<'a>,
    },
    /// The counter that the identifier names, of several instances.
    MultiInstances(Instances<'a>),
    /// Several counters of several instances.
    CounterSet {
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

    pub(super) fn decode(
        index: u32,
        header: CounterHeader,
        src: ReadCursor<'a>,
        id_lists: Option<Advance>,
    ) -> DecodeResult<Self> {
        let body = match header.block_type {
            BlockType::PERF_ERROR_RETURN => Body::ErrorReturn,
            BlockType::PERF_SINGLE_COUNTER => single_counter(src)?,
            BlockType::PERF_MULTI_COUNTERS => Listed::decode(src, multi_counters)?.body(id_lists)?,
            BlockType::PERF_MULTI_INSTANCES => multi_instances(src)?,
            BlockType::PERF_COUNTERSET => Listed::decode(src, counter_set)?.body(id_lists)?,
            unknown => Body::Unknown(unknown),
        };
        Ok(Self { index, status: header.status, body })
    }
}

fn single_counter(mut src: ReadCursor<'_>) -> DecodeResult<Body<'_>> {
    RawValue::decode(&mut src).map(Body::SingleCounter)
}

fn multi_instances(src: ReadCursor<'_>) -> DecodeResult<Body<'_>> {
    let (instances, extent) = decode_instances(src, 1)?;
    extent.check(src.pos()).map(|()| Body::MultiInstances(instances))
}

/// Reads what comes after an id list up to the block's end.
pub(super) type ReadListed<'a> = fn(MultiCounters<'a>, ReadCursor<'a>) -> DecodeResult<(Body<'a>, Extent)>;

pub(super) fn multi_counters<'a>(
    counters: MultiCounters<'a>,
    mut src: ReadCursor<'a>,
) -> DecodeResult<(Body<'a>, Extent)> {
    let (values, is_padded) = Values::decode(&mut src, counters.len())?;
    Ok((Body::MultiCounters { counters, values }, Extent { ends: src.len() < ALIGNMENT, is_padded }))
}

pub(super) fn counter_set<'a>(
    counters: MultiCounters<'a>,
    src: ReadCursor<'a>,
) -> DecodeResult<(Body<'a>, Extent)> {
    let (instances, extent) = decode_instances(src, counters.len())?;
    Ok((Body::CounterSet { counters, instances }, extent))
}

/// Reads `PERF_MULTI_INSTANCES` and walks what it counts.
fn decode_instances(mut src: ReadCursor<'_>, values_each: usize) -> DecodeResult<(Instances<'_>, Extent)> {
    let header = MultiInstances::decode(&mut src)?;
    let size = usize::try_from(header.total_size_bytes).unwrap_or(usize::MAX);
    let inside = narrowed(&src, size - MultiInstances::FIXED_PART_SIZE);
    let behind = src.len() - inside.len();
    let (instances, Extent { ends, is_padded }) = Instances::decode(inside, header.instances, values_each)?;
    Ok((instances, Extent { ends: ends && behind < ALIGNMENT, is_padded }))
}

impl Extent {
    /// Values without the published padding must end where the block at `offset` ends.
    fn check(self, offset: usize) -> DecodeResult<()> {
        if self.is_padded || self.ends {
            Ok(())
        } else {
            let reason = "sizes that are no multiple of 8 do not add up to the block";
            Err(DecodeError::invalid_field(RawValue::NAME, "dwSize", offset, reason))
        }
    }
}

/// A body after an id list, which may begin in two places where the list's size is no multiple of 8.
pub(super) struct Listed<'a> {
    counters: MultiCounters<'a>,
    list_at: usize,
    /// At the end of the list by its size.
    src: ReadCursor<'a>,
    /// Padding that the size may not count.
    gap: usize,
    read: ReadListed<'a>,
}

impl<'a> Listed<'a> {
    pub(super) fn decode(mut src: ReadCursor<'a>, read: ReadListed<'a>) -> DecodeResult<Self> {
        let list_at = src.pos();
        let counters = MultiCounters::decode(&mut src)?;
        let gap = Advance::OverPadding.gap(src.pos() - list_at);
        Ok(Self { counters, list_at, src, gap, read })
    }

    /// Which way the host goes, where only one ends with the block.
    pub(super) fn proof(&self) -> Option<Advance> {
        if self.gap == 0 {
            return None;
        }
        match (self.by(Advance::BySize), self.by(Advance::OverPadding)) {
            (Some(_), None) => Some(Advance::BySize),
            (None, Some(_)) => Some(Advance::OverPadding),
            _ => None,
        }
    }

    /// The body that begins there, where it ends with the block.
    fn by(&self, advance: Advance) -> Option<(Body<'a>, Extent)> {
        let mut src = self.src;
        let gap = if advance == Advance::BySize { 0 } else { self.gap };
        if gap > src.len() {
            return None;
        }
        src.read_slice(gap);
        let (body, extent) = (self.read)(self.counters, src).ok()?;
        extent.ends.then_some((body, extent))
    }

    fn body(&self, proven: Option<Advance>) -> DecodeResult<Body<'a>> {
        if self.gap == 0 {
            let (body, extent) = (self.read)(self.counters, self.src)?;
            return extent.check(self.list_at).map(|()| body);
        }
        if let Some((body, _)) = proven.and_then(|advance| self.by(advance)) {
            return Ok(body);
        }
        let error = |reason| DecodeError::invalid_field(MultiCounters::NAME, "dwSize", self.list_at, reason);
        match (self.by(Advance::BySize), self.by(Advance::OverPadding)) {
            (Some((body, _)), None) | (None, Some((body, _))) => Ok(body),
            (Some(by_size), Some(over_padding)) => certain(by_size, over_padding).ok_or(error(
                "the values may begin here or behind padding, and nothing of this host says which",
            )),
            (None, None) => {
                (self.read)(self.counters, self.src)?;
                Err(error("the block ends elsewhere than what follows, with padding and without"))
            }
        }
    }
}

/// The one of two bodies that is right for certain: both are the same, or the values of one alone have the padding that
/// perflib.h promises. Only [`Body::MultiCounters`] can end with its block in both ways.
fn certain<'a>(by_size: (Body<'a>, Extent), over_padding: (Body<'a>, Extent)) -> Option<Body<'a>> {
    let (Body::MultiCounters { values: one, .. }, Body::MultiCounters { values: other, .. }) =
        (&by_size.0, &over_padding.0)
    else {
        return None;
    };
    match (by_size.1.is_padded, over_padding.1.is_padded) {
        _ if one.clone().eq(other.clone()) => Some(by_size.0),
        (true, false) => Some(by_size.0),
        (false, true) => Some(over_padding.0),
        _ => None,
    }
}
