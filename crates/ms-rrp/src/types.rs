//! The words of the protocol that appear in several methods.

use codec::{EncodeError, EncodeResult};
use ms_dtyp::{FileTime, open_enum};
use ndr::{ConformantVarying, ContextHandle, NdrDecode, NdrEncode, Reader, Writer};

/// [MS-RRP] 2.2.1 `RPC_HKEY`: an open key. It dies with the association that opened it.
#[doc(alias = "RPC_HKEY")]
pub type KeyHandle = ContextHandle;

open_enum! {
    /// [MS-RRP] 2.2.3 `REGSAM`: what a key is opened for.
    #[doc(alias = "REGSAM")]
    pub struct AccessMask(u32) {
        /// Query, enumerate, be told of changes, read the security descriptor.
        KEY_READ = 0x0002_0019,
        /// Whatever the caller may do.
        MAXIMUM_ALLOWED = 0x0200_0000,
    }
}

/// [MS-RRP] 2.2.4 `RRP_UNICODE_STRING`: a text, or the room for one.
///
/// On the wire both lengths are bytes, and a text has a NUL at its end that counts.
#[doc(alias = "RRP_UNICODE_STRING")]
#[doc(alias = "RPC_UNICODE_STRING")]
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct UnicodeString {
    /// Room in the buffer, in bytes. What is written has room for its text at least.
    pub maximum_length: u16,
    /// What is in the buffer, or nothing where there is no buffer. Empty stands for a Length of zero.
    pub text: Option<String>,
}

impl UnicodeString {
    /// Neither text nor buffer.
    pub const NULL: Self = Self { maximum_length: 0, text: None };

    /// A text in a buffer that just holds it.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self { maximum_length: 0, text: Some(text.into()) }
    }

    /// An empty buffer that an answer must fit into.
    #[must_use]
    pub fn with_room(maximum_length: u16) -> Self {
        Self { maximum_length, text: Some(String::new()) }
    }

    /// The text, empty where there is none.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Length, MaximumLength and the buffer as they are written.
    fn parts(&self) -> EncodeResult<(u16, u16, Option<Box<Buffer>>)> {
        let Some(text) = &self.text else { return Ok((0, self.maximum_length, None)) };
        let error = |reason| EncodeError::new(Self::NAME, "Buffer", reason);
        if text.contains('\0') {
            return Err(error("the text holds a NUL"));
        }
        let nul = (!text.is_empty()).then_some(0);
        let elements: Vec<u16> = text.encode_utf16().chain(nul).collect();
        let length = u16::try_from(2 * elements.len()).map_err(|_| error("longer than 16 bits can count"))?;
        let maximum_length = length.max(self.maximum_length);
        let buffer = Buffer { max_count: u32::from(maximum_length / 2), elements };
        Ok((length, maximum_length, Some(Box::new(buffer))))
    }
}

/// The units of a text, in as much room as there is.
type Buffer = ConformantVarying<u16>;

impl NdrEncode for UnicodeString {
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        let (length, maximum_length, buffer) = self.parts()?;
        dst.inline(&length)?;
        dst.inline(&maximum_length)?;
        dst.inline(&buffer)
    }

    fn encode_deferred(&self, dst: &mut Writer) -> EncodeResult<()> {
        let (_, _, buffer) = self.parts()?;
        dst.deferred(&buffer)
    }
}

impl NdrDecode for UnicodeString {
    /// Length, MaximumLength and the pointer.
    type Inline = (u16, u16, <Option<Box<Buffer>> as NdrDecode>::Inline);
    const NAME: &'static str = "RRP_UNICODE_STRING";
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 2 /* Length */ + 2 /* MaximumLength */ + 4 /* Buffer */;

    fn decode_inline(src: &mut Reader<'_>) -> ndr::Result<Self::Inline> {
        let (length, maximum_length) = (src.inline::<u16>("Length")?, src.inline::<u16>("MaximumLength")?);
        Ok((length, maximum_length, src.inline::<Option<Box<Buffer>>>("Buffer")?))
    }

    fn decode_deferred(
        (length, maximum_length, buffer): Self::Inline,
        src: &mut Reader<'_>,
    ) -> ndr::Result<Self> {
        let buffer: Option<Box<Buffer>> = src.deferred("Buffer", buffer)?;
        let count = buffer.as_ref().map_or(0, |buffer| buffer.elements.len());
        if 2 * count != usize::from(length) {
            return Err(src.invalid("actual_count is not half of Length"));
        }
        let text = buffer.map(|buffer| text(&buffer.elements)).transpose();
        Ok(Self { maximum_length, text: text.map_err(|reason| src.invalid(reason))? })
    }
}

/// An `RRP_UNICODE_STRING` of so many bytes of room and a NUL: what a method is offered that reads the size of the
/// buffer alone. Samba refuses a buffer with nothing in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room(pub(crate) u16);

impl Room {
    const NUL_BYTES: u16 = 2;

    fn buffer(self) -> Option<Box<Buffer>> {
        Some(Box::new(Buffer { max_count: u32::from(self.bytes() / 2), elements: vec![0] }))
    }

    /// What is offered: a NUL has room in it.
    pub(crate) fn bytes(self) -> u16 {
        self.0.max(Self::NUL_BYTES)
    }
}

impl NdrEncode for Room {
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.inline(&Self::NUL_BYTES)?;
        dst.inline(&self.bytes())?;
        dst.inline(&self.buffer())
    }

    fn encode_deferred(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.deferred(&self.buffer())
    }
}

/// The text of a buffer. Not all clients end it with a NUL.
fn text(units: &[u16]) -> Result<String, &'static str> {
    let units = units.strip_suffix(&[0]).unwrap_or(units);
    if units.contains(&0) {
        return Err("the text has a NUL before its end");
    }
    String::from_utf16(units).map_err(|_| "the text is no UTF-16")
}

/// A `FILETIME` as NDR has it: two halves of 32 bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LastWriteTime(pub FileTime);

impl NdrEncode for LastWriteTime {
    const ALIGNMENT: usize = 4;

    fn encode_inline(&self, dst: &mut Writer) -> EncodeResult<()> {
        dst.bytes(&self.0.0.to_le_bytes());
        Ok(())
    }
}

impl NdrDecode for LastWriteTime {
    type Inline = Self;
    const NAME: &'static str = "FILETIME";
    const ALIGNMENT: usize = 4;
    const INLINE_SIZE_MIN: usize = 4 /* dwLowDateTime */ + 4 /* dwHighDateTime */;

    fn decode_inline(src: &mut Reader<'_>) -> ndr::Result<Self> {
        let (low, high) = (src.u32("dwLowDateTime")?, src.u32("dwHighDateTime")?);
        Ok(Self(FileTime(u64::from(high) << 32 | u64::from(low))))
    }

    fn decode_deferred(inline: Self, _src: &mut Reader<'_>) -> ndr::Result<Self> {
        Ok(inline)
    }
}
