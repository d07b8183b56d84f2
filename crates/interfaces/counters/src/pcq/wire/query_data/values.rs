use core::slice;

use wire::{Decode, DecodeResult, ReadCursor};

use crate::pcq::types::InstanceId;
use crate::pcq::wire::counter_data::NumberSlot;
use crate::pcq::wire::{ALIGNMENT, Instance, RawValue, WideStr};

/// What structures take of the room for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// All of it, padding aside.
    pub(super) ends: bool,
    /// The size of each is a multiple of 8, as perflib.h promises of values and instances.
    pub(super) is_padded: bool,
}

/// The values of one instance, in the order of the block's counters.
#[derive(Clone, Debug, Default)]
pub struct Values<'a> {
    /// Numbers with the usual padding, which is nearly all there is; all of the values, or none of them.
    ///
    /// INVARIANT: [`RawValue::are_numbers`] said so.
    numbers: slice::Iter<'a, NumberSlot>,
    others: Others<'a>,
}

#[derive(Clone, Debug, Default)]
enum Others<'a> {
    #[default]
    None,
    /// INVARIANT: this many values were walked once.
    Walked {
        src: ReadCursor<'a>,
        remaining: usize,
    },
    One(RawValue<'a>),
}

impl<'a> Values<'a> {
    pub(super) fn one(value: RawValue<'a>) -> Self {
        Self { numbers: slice::Iter::default(), others: Others::One(value) }
    }

    /// Walks `count` values, leaves `src` after them, and answers whether they have the published padding.
    pub(super) fn decode(src: &mut ReadCursor<'a>, count: usize) -> DecodeResult<(Self, bool)> {
        let start = *src;
        let walked = walk(src, count)?;
        let values = if walked.are_numbers {
            Self::numbers(slots(&start, count).unwrap_or_default())
        } else {
            let others = Others::Walked { src: start, remaining: count };
            Self { numbers: slice::Iter::default(), others }
        };
        Ok((values, walked.are_padded))
    }

    fn numbers(slots: &'a [NumberSlot]) -> Self {
        Self { numbers: slots.iter(), others: Others::None }
    }

    fn next_other(&mut self) -> Option<RawValue<'a>> {
        match &mut self.others {
            Others::None | Others::Walked { remaining: 0, .. } => None,
            Others::Walked { src, remaining } => {
                *remaining -= 1;
                // Per the invariant this cannot fail; were it to, the values would end here.
                RawValue::decode(src).ok()
            }
            Others::One(value) => {
                let value = *value;
                self.others = Others::None;
                Some(value)
            }
        }
    }
}

/// What values turned out to be.
#[derive(Clone, Copy)]
struct Walked {
    /// All of them are in slots for numbers.
    are_numbers: bool,
    /// The size of each is a multiple of 8, as perflib.h promises.
    are_padded: bool,
}

/// Walks `count` values and leaves `src` after them.
#[inline]
fn walk(src: &mut ReadCursor<'_>, count: usize) -> DecodeResult<Walked> {
    match slots(src, count) {
        Some(slots) if RawValue::are_numbers(slots) => {
            src.read_slice(slots.as_flattened().len());
            Ok(Walked { are_numbers: true, are_padded: true })
        }
        _ => walk_others(src, count),
    }
}

#[cold]
fn walk_others(src: &mut ReadCursor<'_>, count: usize) -> DecodeResult<Walked> {
    let mut are_padded = true;
    for _ in 0..count {
        let start = src.pos();
        RawValue::decode(src)?;
        are_padded &= (src.pos() - start).is_multiple_of(ALIGNMENT);
    }
    Ok(Walked { are_numbers: false, are_padded })
}

/// What `count` numbers would take, where so much is there.
#[inline]
fn slots<'a>(src: &ReadCursor<'a>, count: usize) -> Option<&'a [NumberSlot]> {
    let bytes = src.remaining().get(..count.checked_mul(size_of::<NumberSlot>())?)?;
    Some(bytes.as_chunks().0)
}

impl<'a> Iterator for Values<'a> {
    type Item = RawValue<'a>;

    #[inline]
    fn next(&mut self) -> Option<RawValue<'a>> {
        match self.numbers.next() {
            Some(slot) => Some(RawValue::from_number(slot)),
            None => self.next_other(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let others = match &self.others {
            Others::None => 0,
            Others::Walked { remaining, .. } => *remaining,
            Others::One(_) => 1,
        };
        let count = self.numbers.len() + others;
        (count, Some(count))
    }

    /// What `for_each`, `sum` and the like come to: the numbers in a loop of their own.
    #[inline]
    fn fold<B, F: FnMut(B, RawValue<'a>) -> B>(mut self, init: B, mut f: F) -> B {
        let numbers = core::mem::take(&mut self.numbers);
        let mut accumulated =
            numbers.fold(init, |accumulated, slot| f(accumulated, RawValue::from_number(slot)));
        while let Some(value) = self.next_other() {
            accumulated = f(accumulated, value);
        }
        accumulated
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
    pub values: Values<'a>,
}

/// Iterates over the instances of a block.
#[derive(Clone, Debug, Default)]
pub struct Instances<'a>(Kind<'a>);

#[derive(Clone, Debug, Default)]
enum Kind<'a> {
    #[default]
    None,
    /// INVARIANT: this many instances with this many values each were walked once, and where it says so, all values of
    /// all of them were numbers that [`RawValue::are_numbers`] saw.
    Walked {
        src: ReadCursor<'a>,
        remaining: u32,
        values_each: usize,
        only_numbers: bool,
    },
    Nameless(Values<'a>),
}

impl<'a> Instances<'a> {
    pub(super) const fn nameless(values: Values<'a>) -> Self {
        Self(Kind::Nameless(values))
    }

    /// Walks `count` instances, and answers what they take. Each takes its header at least, so a count that lies ends
    /// with the buffer.
    pub(super) fn decode(
        src: ReadCursor<'a>,
        count: u32,
        values_each: usize,
    ) -> DecodeResult<(Self, Extent)> {
        let (mut inside, mut only_numbers, mut is_padded) = (src, true, true);
        for _ in 0..count {
            let start = inside.pos();
            let _instance = Instance::decode(&mut inside)?;
            is_padded &= (inside.pos() - start).is_multiple_of(ALIGNMENT);
            let walked = walk(&mut inside, values_each)?;
            only_numbers &= walked.are_numbers;
            is_padded &= walked.are_padded;
        }
        let extent = Extent { ends: inside.len() < ALIGNMENT, is_padded };
        Ok((Self(Kind::Walked { src, remaining: count, values_each, only_numbers }), extent))
    }
}

impl<'a> Iterator for Instances<'a> {
    type Item = InstanceValues<'a>;

    #[inline]
    fn next(&mut self) -> Option<InstanceValues<'a>> {
        match &mut self.0 {
            Kind::None | Kind::Walked { remaining: 0, .. } => None,
            Kind::Walked { src, remaining, values_each, only_numbers } => {
                *remaining -= 1;
                // Per the invariant none of this can fail; were it to, the instances would end here.
                let Instance { instance_id, name } = Instance::decode(src).ok()?;
                let values = if *only_numbers {
                    let slots = slots(src, *values_each)?;
                    src.read_slice(slots.as_flattened().len());
                    Values::numbers(slots)
                } else {
                    Values::decode(src, *values_each).ok()?.0
                };
                Some(InstanceValues { instance_id, name, values })
            }
            Kind::Nameless(values) => {
                let values = core::mem::take(values);
                self.0 = Kind::None;
                Some(InstanceValues { instance_id: InstanceId::ANY, name: WideStr::default(), values })
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = match &self.0 {
            Kind::None => 0,
            Kind::Walked { remaining, .. } => usize::try_from(*remaining).unwrap_or(usize::MAX),
            Kind::Nameless(_) => 1,
        };
        (count, Some(count))
    }
}

impl ExactSizeIterator for Instances<'_> {}
