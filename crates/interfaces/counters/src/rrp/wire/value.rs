use wire::{DecodeError, WideStr};

use crate::rrp::types::ValueType;
use crate::rrp::winreg::RegistryValue;
use crate::rrp::wire::ResourceList;

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
