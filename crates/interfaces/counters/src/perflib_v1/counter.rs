//! PERF_COUNTER_DEFINITION, and the counters of one instance.

use crate::pcq::types::{CounterType, DetailLevel};
use wire::{DecodeError, DecodeResult, ReadCursor, WideStr};

/// `PERF_COUNTER_DEFINITION` of winperf.h: a counter of an object, and where its values are.
#[doc(alias = "PERF_COUNTER_DEFINITION")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CounterDefinition {
    /// `CounterNameTitleIndex`: its name in the table of names. Bases may have none.
    pub name_index: u32,
    /// `CounterHelpTitleIndex`: its explanation in the table of explanations.
    pub help_index: u32,
    /// `DefaultScale`: the power of ten that scales its values for a graph.
    pub default_scale: i32,
    /// `DetailLevel`: the audience, from novice to expert.
    pub detail_level: DetailLevel,
    /// `CounterType`: what its values mean.
    pub counter_type: CounterType,
    /// `CounterSize`: bytes of a value.
    pub size_bytes: u32,
    /// `CounterOffset`: where in a [`CounterBlock`] its value is.
    pub offset: u32,
}

impl CounterDefinition {
    /// Bytes of its fixed part.
    pub const FIXED_PART_SIZE: usize = 4 /* ByteLength */
        + 4 /* CounterNameTitleIndex */
        + 4 /* CounterNameTitle */
        + 4 /* CounterHelpTitleIndex */
        + 4 /* CounterHelpTitle */
        + 4 /* DefaultScale */
        + 4 /* DetailLevel */
        + 4 /* CounterType */
        + 4 /* CounterSize */
        + 4 /* CounterOffset */;
    const NAME: &'static str = "PERF_COUNTER_DEFINITION";

    /// Reads one at the cursor, and moves the cursor by its length.
    fn decode(src: &mut ReadCursor<'_>) -> DecodeResult<Self> {
        let size = step(src, Self::NAME, Self::FIXED_PART_SIZE)?;
        let mut fields = *src;
        fields.read_u32(/* ByteLength */);
        let name_index = fields.read_u32();
        fields.read_u32(/* CounterNameTitle */);
        let help_index = fields.read_u32();
        fields.read_u32(/* CounterHelpTitle */);
        let definition = Self {
            name_index,
            help_index,
            default_scale: fields.read_i32(),
            detail_level: DetailLevel(fields.read_u32()),
            counter_type: CounterType(fields.read_u32()),
            size_bytes: fields.read_u32(),
            offset: fields.read_u32(),
        };
        src.read_slice(size);
        Ok(definition)
    }
}

/// The size in bytes of the structure at the cursor, from its first four bytes.
#[inline]
pub(crate) fn step(src: &ReadCursor<'_>, name: &'static str, size_min: usize) -> DecodeResult<usize> {
    if src.len() < size_min {
        return Err(DecodeError::not_enough_bytes(name, "", src.pos(), src.len(), size_min));
    }
    let mut length = *src;
    let size = length.read_u32() as usize;
    if size < size_min {
        let reason = "is smaller than the structure";
        return Err(DecodeError::invalid_field(name, "ByteLength", src.pos(), reason));
    }
    if size > src.len() {
        return Err(DecodeError::not_enough_bytes(name, "ByteLength", src.pos(), src.len(), size));
    }
    Ok(size)
}

/// The counters of an object.
#[derive(Clone, Copy, Debug)]
pub struct Counters<'a> {
    // INVARIANT: `left` definitions can be read.
    src: ReadCursor<'a>,
    left: u32,
}

impl<'a> Counters<'a> {
    /// Walks `count` definitions from `start` on; they end where `bytes` do.
    pub(crate) fn decode(bytes: &'a [u8], start: usize, count: u32) -> DecodeResult<Self> {
        let mut src = ReadCursor::new(bytes);
        src.read_slice(start);
        let counters = Self { src, left: count };
        for _ in 0..count {
            CounterDefinition::decode(&mut src)?;
        }
        Ok(counters)
    }

    /// Walks `count` definitions that were walked before.
    pub(crate) fn kept(bytes: &'a [u8], count: usize) -> Self {
        Self { src: ReadCursor::new(bytes), left: u32::try_from(count).unwrap_or(0) }
    }

    /// The bytes of those that are left, and of what follows them up to where definitions end.
    pub(crate) fn as_bytes(&self) -> &'a [u8] {
        self.src.remaining()
    }

    /// How many are left.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.left as usize
    }

    /// Whether none is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.left == 0
    }
}

impl Iterator for Counters<'_> {
    type Item = CounterDefinition;

    fn next(&mut self) -> Option<CounterDefinition> {
        self.left = self.left.checked_sub(1)?;
        CounterDefinition::decode(&mut self.src).ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl ExactSizeIterator for Counters<'_> {}

/// Where the values of a counter are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    offset: u32,
    /// The bytes of a text.
    text_size: u32,
    /// Which bits of the eight bytes at its place are a number; none of a text, or of a counter without values.
    bits: u64,
}

impl Field {
    /// `CounterSize` decides how many bytes a number has, and not the counter's type: Samba writes eight where the type
    /// says four.
    pub(crate) fn of(counter: &CounterDefinition) -> Self {
        let is_text = counter.counter_type == CounterType::PERF_COUNTER_TEXT;
        let bits = match counter.size_bytes {
            4 if !is_text => u32::MAX.into(),
            8 if !is_text => u64::MAX,
            _ => 0,
        };
        let text_size = if is_text { counter.size_bytes } else { 0 };
        Self { offset: counter.offset, text_size, bits }
    }

    /// The number in `block`; nothing where the counter is a text or has no values, or where it lies outside of the block.
    #[must_use]
    #[inline]
    pub fn number(&self, block: &CounterBlock<'_>) -> Option<u64> {
        let (bytes, start) = (block.as_bytes(), self.offset as usize);
        let Some(eight) = bytes.get(start..start + 8).and_then(|bytes| bytes.first_chunk()) else {
            return self.number_at_the_end(bytes);
        };
        (self.bits != 0).then_some(u64::from_le_bytes(*eight) & self.bits)
    }

    /// The last number of a block may have four bytes and no more after it.
    #[cold]
    fn number_at_the_end(&self, block: &[u8]) -> Option<u64> {
        let four = block.get(self.offset as usize..)?.first_chunk()?;
        (self.bits == u32::MAX.into()).then_some(u32::from_le_bytes(*four).into())
    }

    /// The same, or a text.
    #[must_use]
    #[inline]
    pub fn value<'a>(&self, block: &CounterBlock<'a>) -> Option<Value<'a>> {
        if self.bits != 0 {
            return self.number(block).map(Value::Number);
        }
        let start = self.offset as usize;
        let text = block.as_bytes().get(start..)?.get(..self.text_size as usize)?;
        (self.text_size != 0).then(|| Value::Text(WideStr::until_nul_or_end(text)))
    }
}

/// `PERF_COUNTER_BLOCK` of winperf.h: the values of one instance, or of an object that has none.
#[doc(alias = "PERF_COUNTER_BLOCK")]
#[derive(Clone, Copy, Debug)]
pub struct CounterBlock<'a> {
    bytes: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number, of four bytes or of eight.
    Number(u64),
    /// A text in UTF-16.
    Text(WideStr<'a>),
}

impl<'a> CounterBlock<'a> {
    const NAME: &'static str = "PERF_COUNTER_BLOCK";

    /// Reads one at the cursor, and moves the cursor after it.
    #[inline]
    pub(crate) fn decode(src: &mut ReadCursor<'a>) -> DecodeResult<Self> {
        let size = step(src, Self::NAME, 4 /* ByteLength */)?;
        Ok(Self { bytes: src.read_slice(size) })
    }

    /// Its bytes, its length included.
    #[inline]
    pub(crate) const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The value of a counter; `None` if the counter has none, or if it lies outside of the block.
    ///
    /// `CounterSize` decides how many bytes it has, and not its type: Samba writes eight where the type says four.
    #[must_use]
    pub fn value(&self, counter: &CounterDefinition) -> Option<Value<'a>> {
        Field::of(counter).value(self)
    }
}

impl Value<'_> {
    /// As a number; `None` for a text.
    #[must_use]
    #[inline]
    pub const fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Text(_) => None,
        }
    }
}
