//! The bytes of values: what is in the registry, outside of NDR.
//!
//! Whoever may write to a key chooses the type and the bytes of its values, so each of these functions checks the type,
//! and takes no more memory than the bytes that it reads.

use wire::{DecodeError, DecodeResult, ReadCursor, WideStr, ensure_size};

use super::types::ValueType;
use super::winreg::RegistryValue;

/// `CM_RESOURCE_LIST` of wdm.h, the bytes of a `REG_RESOURCE_LIST`: the memory in it. Other resources are skipped.
///
/// The list holds full descriptors, one for each bus; each holds a `CM_PARTIAL_RESOURCE_LIST` of partial descriptors.
/// Structures are packed to 4 bytes. A partial descriptor ends in a union, whose largest member has two pointers on
/// 32-bit hosts less: it has 20 bytes on 64-bit hosts and 16 on 32-bit ones. A list does not say which.
#[doc(alias = "CM_RESOURCE_LIST")]
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ResourceList {
    /// The ranges of memory, in the list's order.
    pub memory: Vec<MemoryRange>,
}

/// A range of physical addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRange {
    pub start: u64,
    pub length_bytes: u64,
}

impl ResourceList {
    const NAME: &'static str = "CM_RESOURCE_LIST";
    const FULL_DESCRIPTOR_SIZE: usize = 4 /* InterfaceType */ + 4 /* BusNumber */;
    const PARTIAL_LIST_SIZE: usize = 2 /* Version */ + 2 /* Revision */ + 4 /* Count */;
    const PARTIAL_DESCRIPTOR_SIZE: usize =
        1 /* Type */ + 1 /* ShareDisposition */ + 2 /* Flags */ + 16 /* u */;
    const PARTIAL_DESCRIPTOR_SIZE_32: usize = Self::PARTIAL_DESCRIPTOR_SIZE - 4;

    /// Reads the list. Bytes after it are not looked at.
    ///
    /// # Errors
    /// When it is cut off, or a range has flags that say no size.
    pub fn decode(bytes: &[u8]) -> DecodeResult<Self> {
        let decoded = Self::decode_with(bytes, Self::PARTIAL_DESCRIPTOR_SIZE);
        // What fits by the larger size cannot be meant by the smaller one: there would be bytes after the list.
        decoded.or_else(|error| Self::decode_with(bytes, Self::PARTIAL_DESCRIPTOR_SIZE_32).map_err(|_| error))
    }

    fn decode_with(bytes: &[u8], descriptor_size: usize) -> DecodeResult<Self> {
        let mut src = ReadCursor::new(bytes);
        let mut memory = Vec::new();
        ensure_size!(in: src, name: Self::NAME, size: 4);
        for _ in 0..src.read_u32() {
            let head = Self::FULL_DESCRIPTOR_SIZE + Self::PARTIAL_LIST_SIZE;
            ensure_size!(in: src, name: Self::NAME, size: head);
            let (_interface_type, _bus_number, _version) = (src.read_u32(), src.read_u32(), src.read_u32());
            for _ in 0..src.read_u32() {
                let offset = src.pos();
                let mut descriptor = src.take_cursor(Self::NAME, "PartialDescriptors", descriptor_size)?;
                let kind = descriptor.read_u8();
                let _share_disposition = descriptor.read_u8();
                let flags = descriptor.read_u16();
                match kind {
                    TYPE_MEMORY | TYPE_MEMORY_LARGE => {
                        let (start, length) = (descriptor.read_u64(), descriptor.read_u32());
                        let length_bytes = u64::from(length) << unit_bits(kind, flags, offset)?;
                        memory.push(MemoryRange { start, length_bytes });
                    }
                    TYPE_DEVICE_SPECIFIC => {
                        let size = usize::try_from(descriptor.read_u32()).unwrap_or(usize::MAX);
                        src.skip(Self::NAME, "DeviceSpecificData", size)?;
                    }
                    _ => {}
                }
            }
        }
        Ok(Self { memory })
    }

    /// The size of all memory, or `None` where that is beyond 64 bits.
    #[must_use]
    pub fn memory_bytes(&self) -> Option<u64> {
        self.memory.iter().try_fold(0_u64, |sum, range| sum.checked_add(range.length_bytes))
    }
}

/// By how many bits the length of a range is shifted.
fn unit_bits(kind: u8, flags: u16, offset: usize) -> DecodeResult<u32> {
    if kind == TYPE_MEMORY {
        return Ok(0);
    }
    match flags & LARGE {
        LARGE_40 => Ok(8),
        LARGE_48 => Ok(16),
        LARGE_64 => Ok(32),
        _ => Err(DecodeError::invalid_field(
            ResourceList::NAME,
            "Flags",
            offset,
            "they do not say the unit of a large range",
        )),
    }
}

/// What documents call `CmResourceTypeMemory`.
const TYPE_MEMORY: u8 = 3;
/// `CmResourceTypeDeviceSpecific`: data of the size that it says follow.
const TYPE_DEVICE_SPECIFIC: u8 = 5;
/// What documents call `CmResourceTypeMemoryLarge`.
const TYPE_MEMORY_LARGE: u8 = 7;
/// What documents call `CM_RESOURCE_MEMORY_LARGE`.
const LARGE: u16 = 0x0e00;
/// `CM_RESOURCE_MEMORY_LARGE_40`: units of 256 bytes.
const LARGE_40: u16 = 0x0200;
/// `CM_RESOURCE_MEMORY_LARGE_48`: units of 64 kibibytes.
const LARGE_48: u16 = 0x0400;
/// `CM_RESOURCE_MEMORY_LARGE_64`: units of 4 gibibytes.
const LARGE_64: u16 = 0x0800;

/// Why a value is not what it was read as.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidValue {
    /// Its type is another one.
    #[error("the value is {actual}, not {expected}")]
    Type {
        /// The type that was read.
        expected: ValueType,
        actual: ValueType,
    },
    /// A number has another size.
    #[error("the value has {actual_bytes} bytes, not {expected_bytes}")]
    Size {
        /// Bytes of the number.
        expected_bytes: usize,
        actual_bytes: usize,
    },
    /// Its bytes contradict themselves.
    #[error(transparent)]
    Bytes(#[from] DecodeError),
}

/// A `REG_SZ` or a `REG_EXPAND_SZ`: the text up to its first NUL, or to the end where there is none.
///
/// # Errors
/// When the type is another one.
pub fn text(value_type: ValueType, bytes: &[u8]) -> Result<String, InvalidValue> {
    if value_type != ValueType::REG_EXPAND_SZ {
        expect_type(value_type, ValueType::REG_SZ)?;
    }
    Ok(WideStr::until_nul_or_end(bytes).to_string())
}

/// A `REG_MULTI_SZ`: its texts, up to the empty one at the end or to the end of the bytes.
///
/// # Errors
/// When the type is another one.
pub fn texts(value_type: ValueType, bytes: &[u8]) -> Result<Vec<String>, InvalidValue> {
    expect_type(value_type, ValueType::REG_MULTI_SZ)?;
    let mut texts = Vec::new();
    let mut rest = bytes;
    loop {
        let text = WideStr::until_nul_or_end(rest);
        if text.as_bytes().is_empty() {
            return Ok(texts);
        }
        texts.push(text.to_string());
        rest = rest.get(text.as_bytes().len() + 2 /* NUL */..).unwrap_or_default();
    }
}

/// A `REG_DWORD`.
///
/// # Errors
/// When the type or the size is another one.
pub fn number(value_type: ValueType, bytes: &[u8]) -> Result<u32, InvalidValue> {
    expect_type(value_type, ValueType::REG_DWORD)?;
    array(bytes).map(u32::from_le_bytes)
}

/// A `REG_QWORD`.
///
/// # Errors
/// When the type or the size is another one.
pub fn wide_number(value_type: ValueType, bytes: &[u8]) -> Result<u64, InvalidValue> {
    expect_type(value_type, ValueType::REG_QWORD)?;
    array(bytes).map(u64::from_le_bytes)
}

impl RegistryValue {
    /// Reads a [`text`].
    ///
    /// # Errors
    /// As there.
    pub fn text(&self) -> Result<String, InvalidValue> {
        text(self.value_type, self.bytes())
    }

    /// Reads [`texts`].
    ///
    /// # Errors
    /// As there.
    pub fn texts(&self) -> Result<Vec<String>, InvalidValue> {
        texts(self.value_type, self.bytes())
    }

    /// Reads a [`number`].
    ///
    /// # Errors
    /// As there.
    pub fn number(&self) -> Result<u32, InvalidValue> {
        number(self.value_type, self.bytes())
    }

    /// Reads a `REG_RESOURCE_LIST`.
    ///
    /// # Errors
    /// When the type is another one, or the bytes contradict themselves.
    pub fn resource_list(&self) -> Result<ResourceList, InvalidValue> {
        expect_type(self.value_type, ValueType::REG_RESOURCE_LIST)?;
        Ok(ResourceList::decode(self.bytes())?)
    }
}

fn expect_type(actual: ValueType, expected: ValueType) -> Result<(), InvalidValue> {
    if actual == expected { Ok(()) } else { Err(InvalidValue::Type { expected, actual }) }
}

fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N], InvalidValue> {
    let size = || InvalidValue::Size { expected_bytes: N, actual_bytes: bytes.len() };
    bytes.try_into().map_err(|_| size())
}
