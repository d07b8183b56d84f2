use codec::{Decode, DecodeResult, ReadCursor};

use crate::types::InstanceId;
use crate::wire::{Instance, RawValue, WideStr};

/// The values of one instance, in the order of the block's counters.
#[derive(Clone, Debug)]
pub struct Values<'a>(Source<'a>);

#[derive(Clone, Debug)]
enum Source<'a> {
    /// INVARIANT: so many values were walked once.
    Walked {
        src: ReadCursor<'a>,
        remaining: usize,
    },
    One(Option<RawValue<'a>>),
}

impl<'a> Values<'a> {
    pub(super) const fn one(value: RawValue<'a>) -> Self {
        Self(Source::One(Some(value)))
    }

    /// Walks `count` values and leaves `src` behind them.
    pub(super) fn decode(src: &mut ReadCursor<'a>, count: usize) -> DecodeResult<Self> {
        let values = Self(Source::Walked { src: *src, remaining: count });
        for _ in 0..count {
            RawValue::decode(src)?;
        }
        Ok(values)
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = RawValue<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawValue<'a>> {
        match &mut self.0 {
            Source::Walked { remaining: 0, .. } => None,
            Source::Walked { src, remaining } => {
                *remaining -= 1;
                // Per the invariant this cannot fail; were it to, the values would end here.
                RawValue::decode(src).ok()
            }
            Source::One(value) => value.take(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = match &self.0 {
            Source::Walked { remaining, .. } => *remaining,
            Source::One(value) => usize::from(value.is_some()),
        };
        (count, Some(count))
    }
}

impl ExactSizeIterator for Values<'_> {}

/// One instance with its values.
#[derive(Clone, Debug)]
pub struct InstanceValues<'a> {
    /// Its number, or [`InstanceId::ANY`] where the identifier names the instance.
    pub instance_id: InstanceId,
    /// Its name; empty where the identifier names the instance.
    pub name: WideStr<'a>,
    /// Its values.
    pub values: Values<'a>,
}

/// Iterates over the instances of a block.
#[derive(Clone, Debug, Default)]
pub struct Instances<'a>(Option<Kind<'a>>);

#[derive(Clone, Debug)]
enum Kind<'a> {
    /// INVARIANT: so many instances with so many values each were walked once.
    Walked {
        src: ReadCursor<'a>,
        remaining: u32,
        values_each: usize,
    },
    Nameless(Values<'a>),
}

impl<'a> Instances<'a> {
    pub(super) const fn nameless(values: Values<'a>) -> Self {
        Self(Some(Kind::Nameless(values)))
    }

    /// Walks `count` instances. Each takes its header at least, so a count that lies ends with the buffer.
    pub(super) fn decode(mut src: ReadCursor<'a>, count: u32, values_each: usize) -> DecodeResult<Self> {
        let instances = Self(Some(Kind::Walked { src, remaining: count, values_each }));
        for _ in 0..count {
            decode_one(&mut src, values_each)?;
        }
        Ok(instances)
    }
}

impl<'a> Iterator for Instances<'a> {
    type Item = InstanceValues<'a>;

    fn next(&mut self) -> Option<InstanceValues<'a>> {
        match self.0.take()? {
            Kind::Walked { remaining: 0, .. } => None,
            Kind::Walked { mut src, remaining, values_each } => {
                // Per the invariant this cannot fail; were it to, the instances would end here.
                let instance = decode_one(&mut src, values_each).ok()?;
                self.0 = Some(Kind::Walked { src, remaining: remaining - 1, values_each });
                Some(instance)
            }
            Kind::Nameless(values) => {
                Some(InstanceValues { instance_id: InstanceId::ANY, name: WideStr::default(), values })
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = match &self.0 {
            None => 0,
            Some(Kind::Walked { remaining, .. }) => usize::try_from(*remaining).unwrap_or(usize::MAX),
            Some(Kind::Nameless(_)) => 1,
        };
        (count, Some(count))
    }
}

impl ExactSizeIterator for Instances<'_> {}

fn decode_one<'a>(src: &mut ReadCursor<'a>, values_each: usize) -> DecodeResult<InstanceValues<'a>> {
    let Instance { instance_id, name } = Instance::decode(src)?;
    Ok(InstanceValues { instance_id, name, values: Values::decode(src, values_each)? })
}
