use core::fmt;

use wire::{Decode, DecodeError, DecodeResult, Encode, EncodeResult, ReadCursor, WriteCursor, ensure_size};

use crate::pcq::types::CounterId;
use crate::pcq::wire::{WideStr, padded, size_field};

/// [MS-PCQ] 2.2.4.3 `_STRING_BUFFER_HEADER`: the beginning of names or explain texts of all counters.
#[doc(alias = "PERF_STRING_BUFFER_HEADER")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringBufferHeader {
    /// This header, the counters' headers and their texts.
    pub size_bytes: u32,
    /// How many [`StringCounterHeader`]s follow.
    pub counters: u32,
}

impl StringBufferHeader {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* dwSize */ + 4 /* dwCounters */;
    const NAME: &'static str = "STRING_BUFFER_HEADER";
}

impl Encode for StringBufferHeader {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.size_bytes);
        dst.write_u32(self.counters);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for StringBufferHeader {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self { size_bytes: src.read_u32(), counters: src.read_u32() })
    }
}

impl fmt::Display for StringBufferHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "texts of {} counters in {} bytes", self.counters, self.size_bytes)
    }
}

/// [MS-PCQ] 2.2.4.4 `_STRING_COUNTER_HEADER`: where a counter's text is.
#[doc(alias = "PERF_STRING_COUNTER_HEADER")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringCounterHeader {
    pub counter_id: CounterId,
    /// Bytes from [`OffsetBase`], or [`StringCounterHeader::NO_STRING`].
    pub offset_bytes: u32,
}

impl StringCounterHeader {
    /// Bytes on the wire.
    pub const FIXED_PART_SIZE: usize = 4 /* dwCounterId */ + 4 /* dwOffset */;
    /// The offset of a counter that has no text.
    pub const NO_STRING: u32 = 0xFFFF_FFFF;
    const NAME: &'static str = "STRING_COUNTER_HEADER";
}

impl Encode for StringCounterHeader {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        dst.write_u32(self.counter_id.0);
        dst.write_u32(self.offset_bytes);
        Ok(())
    }

    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn size(&self) -> usize {
        Self::FIXED_PART_SIZE
    }
}

impl<'de> Decode<'de> for StringCounterHeader {
    fn decode(src: &mut ReadCursor<'de>) -> DecodeResult<Self> {
        ensure_size!(in: src, name: Self::NAME, size: Self::FIXED_PART_SIZE);
        Ok(Self { counter_id: CounterId(src.read_u32()), offset_bytes: src.read_u32() })
    }
}

impl fmt::Display for StringCounterHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "text of counter {} at {}", self.counter_id.0, self.offset_bytes)
    }
}

/// What `dwOffset` counts from.
///
/// perflib.h and the programs that read local buffers count from the beginning; [MS-PCQ] 2.2.4.4 counts from the end of
/// the headers. A reader takes the former, unless an offset would lie within the headers: then the latter, for the
/// whole buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum OffsetBase {
    /// The beginning of the [`StringBufferHeader`].
    #[default]
    Beginning,
    /// The end of the last [`StringCounterHeader`].
    EndOfHeaders,
}

/// [MS-PCQ] 3.1.4.1.2, request codes 5, 6 and 10: the counters' texts.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CounterStrings {
    /// Counters in the order of the buffer; one without a text is `None`.
    pub entries: Vec<(CounterId, Option<String>)>,
}

impl CounterStrings {
    /// The text of a counter, the first one where an id occurs twice.
    #[must_use]
    pub fn text(&self, id: CounterId) -> Option<&str> {
        self.entries.iter().find(|(counter_id, _)| *counter_id == id)?.1.as_deref()
    }

    /// What may come out of a smaller buffer. Counters may share a text, and a buffer in which all share a long one
    /// would take memory without end.
    const TEXT_BYTES_MAX: usize = 256 << 10;

    /// Reads the reply's buffer, at most `counters_max` counters.
    ///
    /// # Errors
    /// When a size, the count or an offset lies, or counters share so much text that it outgrows the buffer.
    pub fn decode(bytes: &[u8], counters_max: u32) -> DecodeResult<Self> {
        let header = StringBufferHeader::decode(&mut ReadCursor::new(bytes))?;
        let size = usize::try_from(header.size_bytes).unwrap_or(usize::MAX);
        let Some(bytes) = bytes.get(..size).filter(|_| size >= StringBufferHeader::FIXED_PART_SIZE) else {
            let (name, len) = (StringBufferHeader::NAME, bytes.len());
            return Err(DecodeError::not_enough_bytes(name, "dwSize", 0, len, size));
        };
        let src = &mut ReadCursor::new(bytes);
        let _header = StringBufferHeader::decode(src)?;
        if header.counters > counters_max {
            let (value, limit) = (header.counters.into(), counters_max.into());
            return Err(DecodeError::limit_exceeded(StringBufferHeader::NAME, "dwCounters", 4, value, limit));
        }
        let count = usize::try_from(header.counters).unwrap_or(usize::MAX);
        let expected = count.saturating_mul(StringCounterHeader::FIXED_PART_SIZE);
        ensure_size!(in: src, name: StringBufferHeader::NAME, field: "dwCounters", size: expected);
        let texts_at = StringBufferHeader::FIXED_PART_SIZE + expected;
        let base = if points_into_headers(*src, count, texts_at)? { texts_at } else { 0 };
        let mut room = bytes.len().max(Self::TEXT_BYTES_MAX);
        let entries =
            (0..count).map(|_| decode_entry(bytes, base, &mut room, src)).collect::<Result<_, _>>()?;
        Ok(Self { entries })
    }

    /// Writes the reply's buffer with offsets that count from `base`.
    ///
    /// # Errors
    /// When it is longer than 32 bits can count.
    pub fn encode_from(&self, base: OffsetBase, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        let start = dst.pos();
        let counters = size_field(StringBufferHeader::NAME, "dwCounters", self.entries.len())?;
        let size_bytes = size_field(StringBufferHeader::NAME, "dwSize", self.size())?;
        StringBufferHeader { size_bytes, counters }.encode(dst)?;
        let mut offset = if base == OffsetBase::Beginning { self.headers_size() } else { 0 };
        for (counter_id, text) in &self.entries {
            let offset_bytes = match text {
                Some(_) => size_field(StringCounterHeader::NAME, "dwOffset", offset)?,
                None => StringCounterHeader::NO_STRING,
            };
            StringCounterHeader { counter_id: *counter_id, offset_bytes }.encode(dst)?;
            offset += text.as_deref().map_or(0, text_size);
        }
        for text in self.entries.iter().filter_map(|(_, text)| text.as_deref()) {
            dst.write_slice(&wire::encode_utf16(text));
            dst.write_u16(0);
        }
        dst.write_zeros(start + self.size() - dst.pos());
        Ok(())
    }

    fn headers_size(&self) -> usize {
        StringBufferHeader::FIXED_PART_SIZE + self.entries.len() * StringCounterHeader::FIXED_PART_SIZE
    }
}

impl Encode for CounterStrings {
    fn encode(&self, dst: &mut WriteCursor<'_>) -> EncodeResult<()> {
        self.encode_from(OffsetBase::default(), dst)
    }

    fn name(&self) -> &'static str {
        StringBufferHeader::NAME
    }

    fn size(&self) -> usize {
        let texts = self.entries.iter().filter_map(|(_, text)| text.as_deref()).map(text_size);
        padded(self.headers_size() + texts.sum::<usize>())
    }
}

fn text_size(text: &str) -> usize {
    wire::utf16_len_bytes(text) + 2 /* NUL */
}

/// Whether an offset of the `count` headers at `src` would point before `texts_at`, where the headers end.
fn points_into_headers(mut src: ReadCursor<'_>, count: usize, texts_at: usize) -> DecodeResult<bool> {
    for _ in 0..count {
        let offset = StringCounterHeader::decode(&mut src)?.offset_bytes;
        if usize::try_from(offset).is_ok_and(|offset| offset < texts_at) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads a counter's header at `src` and its text, whose offset counts from `base` and which takes up some of the
/// `room` for texts. The last text of a buffer may lack its NUL.
fn decode_entry(
    bytes: &[u8],
    base: usize,
    room: &mut usize,
    src: &mut ReadCursor<'_>,
) -> DecodeResult<(CounterId, Option<String>)> {
    let offset_at = src.pos() + 4 /* dwCounterId */;
    let header = StringCounterHeader::decode(src)?;
    if header.offset_bytes == StringCounterHeader::NO_STRING {
        return Ok((header.counter_id, None));
    }
    let invalid =
        |reason| DecodeError::invalid_field(StringCounterHeader::NAME, "dwOffset", offset_at, reason);
    let offset = usize::try_from(header.offset_bytes).unwrap_or(usize::MAX).saturating_add(base);
    let text = WideStr::until_nul_or_end(bytes.get(offset..).ok_or(invalid("points behind the buffer"))?);
    *room = room
        .checked_sub(text.as_bytes().len())
        .ok_or(invalid("counters share more text than the buffer has room for"))?;
    Ok((header.counter_id, Some(text.to_string())))
}
