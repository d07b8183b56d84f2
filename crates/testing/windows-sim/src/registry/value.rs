use counters::rrp::types::ValueType;
use wire::encode_utf16;

/// A value of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryValue {
    /// What its bytes are.
    pub value_type: ValueType,
    pub bytes: Vec<u8>,
}

impl RegistryValue {
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { value_type: ValueType::REG_SZ, bytes: with_nul(text) }
    }

    /// A text with names of environment variables.
    #[must_use]
    pub fn expandable(text: &str) -> Self {
        Self { value_type: ValueType::REG_EXPAND_SZ, bytes: with_nul(text) }
    }

    #[must_use]
    pub fn texts(texts: &[&str]) -> Self {
        let mut bytes: Vec<u8> = texts.iter().flat_map(|text| with_nul(text)).collect();
        bytes.extend([0, 0]);
        Self { value_type: ValueType::REG_MULTI_SZ, bytes }
    }

    /// A number of 32 bits.
    #[must_use]
    pub fn dword(number: u32) -> Self {
        Self { value_type: ValueType::REG_DWORD, bytes: number.to_le_bytes().into() }
    }

    /// A number of 64 bits.
    #[must_use]
    pub fn qword(number: u64) -> Self {
        Self { value_type: ValueType::REG_QWORD, bytes: number.to_le_bytes().into() }
    }
}

fn with_nul(text: &str) -> Vec<u8> {
    let mut bytes = encode_utf16(text);
    bytes.extend([0, 0]);
    bytes
}
