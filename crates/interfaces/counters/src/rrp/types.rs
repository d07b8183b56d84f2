//! The words of the protocol that appear in several methods.

use rpc::ndr::{ConformantVarying, ContextHandle, NdrDecode, NdrEncode};
use wire::{EncodeError, open_enum};

/// [MS-RRP] 2.2.1 `RPC_HKEY`: an open key. It dies with the association that opened it.
#[doc(alias = "RPC_HKEY")]
pub type KeyHandle = ContextHandle;

open_enum! {
    /// [MS-RRP] 2.2.3 `REGSAM`: what a key is opened for.
    #[doc(alias = "REGSAM")]
    #[derive(NdrDecode, NdrEncode)]
    pub struct AccessMask(u32) {
        /// Query, enumerate, watch for changes, read the security descriptor.
        KEY_READ = 0x0002_0019,
        /// All access that the caller has.
        MAXIMUM_ALLOWED = 0x0200_0000,
    }
}

open_enum! {
    /// [MS-RRP] 3.1.1.5: what the bytes of a value are.
    #[derive(NdrDecode, NdrEncode)]
    pub struct ValueType(u32) {
        REG_NONE = 0,
        /// A text in UTF-16.
        REG_SZ = 1,
        /// A text with names of environment variables.
        REG_EXPAND_SZ = 2,
        /// Bytes, performance data among them.
        REG_BINARY = 3,
        /// It has 32 bits, little-endian.
        REG_DWORD = 4,
        /// It has 32 bits, big-endian.
        REG_DWORD_BIG_ENDIAN = 5,
        /// The name of another key.
        REG_LINK = 6,
        /// Texts, each with a NUL at its end, and one more at the end of all.
        REG_MULTI_SZ = 7,
        /// Resources of hardware, a `CM_RESOURCE_LIST`.
        REG_RESOURCE_LIST = 8,
        /// It has 64 bits, little-endian.
        REG_QWORD = 11,
    }
}

/// [MS-RRP] 2.2.4 `RRP_UNICODE_STRING`: a text, or the room for one.
///
/// On the wire both lengths are bytes, and a text has a NUL at its end that counts.
#[doc(alias = "RRP_UNICODE_STRING")]
#[doc(alias = "RPC_UNICODE_STRING")]
#[derive(Clone, Debug, PartialEq, Eq, Default, NdrDecode, NdrEncode)]
#[ndr(wire = WireString)]
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
}

/// [MS-RRP] 2.2.4 `RRP_UNICODE_STRING`, as it is on the wire.
#[doc(alias = "RRP_UNICODE_STRING")]
#[derive(Clone, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
pub struct WireString {
    #[ndr(name = "Length")]
    length: u16,
    #[ndr(name = "MaximumLength")]
    maximum_length: u16,
    #[ndr(name = "Buffer")]
    buffer: Option<Box<ConformantVarying<u16>>>,
}

impl TryFrom<WireString> for UnicodeString {
    type Error = &'static str;

    fn try_from(WireString { length, maximum_length, buffer }: WireString) -> Result<Self, &'static str> {
        let count = buffer.as_ref().map_or(0, |buffer| buffer.elements.len());
        if 2 * count != usize::from(length) {
            return Err("actual_count is not half of Length");
        }
        let text = buffer.map(|buffer| text(&buffer.elements)).transpose()?;
        Ok(Self { maximum_length, text })
    }
}

impl TryFrom<&UnicodeString> for WireString {
    type Error = EncodeError;

    fn try_from(string: &UnicodeString) -> Result<Self, EncodeError> {
        let Some(text) = &string.text else {
            return Ok(Self { length: 0, maximum_length: string.maximum_length, buffer: None });
        };
        let error = |reason| EncodeError::new("RRP_UNICODE_STRING", "Buffer", reason);
        if text.contains('\0') {
            return Err(error("the text holds a NUL"));
        }
        let nul = (!text.is_empty()).then_some(0);
        let elements: Vec<u16> = text.encode_utf16().chain(nul).collect();
        let length = u16::try_from(2 * elements.len()).map_err(|_| error("longer than 16 bits can count"))?;
        let maximum_length = length.max(string.maximum_length);
        let buffer = ConformantVarying { max_count: u32::from(maximum_length / 2), elements };
        Ok(Self { length, maximum_length, buffer: Some(Box::new(buffer)) })
    }
}

/// An `RRP_UNICODE_STRING` with this many bytes of room that holds a NUL, for methods that read its size only. Samba
/// refuses an empty buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, NdrDecode, NdrEncode)]
#[ndr(wire = WireString)]
pub struct Room(u16);

impl Room {
    const NUL_BYTES: u16 = 2;

    /// Room for this many bytes, but at least for a NUL.
    #[must_use]
    pub fn new(bytes: u16) -> Self {
        Self(bytes.max(Self::NUL_BYTES))
    }

    /// How many bytes there is room for.
    #[must_use]
    pub const fn bytes(self) -> u16 {
        self.0
    }
}

impl TryFrom<WireString> for Room {
    type Error = &'static str;

    fn try_from(wire: WireString) -> Result<Self, &'static str> {
        UnicodeString::try_from(wire).map(|string| Self::new(string.maximum_length))
    }
}

impl TryFrom<&Room> for WireString {
    type Error = EncodeError;

    fn try_from(room: &Room) -> Result<Self, EncodeError> {
        let buffer = ConformantVarying { max_count: u32::from(room.0 / 2), elements: vec![0] };
        Ok(Self { length: Room::NUL_BYTES, maximum_length: room.0, buffer: Some(Box::new(buffer)) })
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
