use wire::{EncodeError, EncodeResult};

use crate::ndr::{EnumForm, NdrEncode};

/// A stub that is being written.
///
/// Referent ids are given in order of writing, beginning with `0x0002_0000`, as Windows does; a peer accepts
/// any that are not zero.
#[derive(Debug)]
pub struct Writer {
    buffer: Vec<u8>,
    next_referent_id: u32,
    enums: EnumForm,
}

impl Writer {
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// An empty stub with room for `capacity` bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let buffer = Vec::with_capacity(capacity);
        Self { buffer, next_referent_id: 0x0002_0000, enums: EnumForm::default() }
    }

    /// The same writer with this form of enums.
    #[must_use]
    pub fn with_enums(mut self, enums: EnumForm) -> Self {
        self.enums = enums;
        self
    }

    /// Writes a parameter: both halves of `value`. Also what a top-level `[ref]` pointer points to.
    ///
    /// # Errors
    /// Those of the type.
    pub fn write<T: NdrEncode>(&mut self, value: &T) -> EncodeResult<()> {
        let deferred = self.inline(value)?;
        self.deferred(value, deferred)
    }

    /// Writes the inline half of a member.
    ///
    /// # Errors
    /// Those of the type.
    pub fn inline<T: NdrEncode>(&mut self, value: &T) -> EncodeResult<T::Deferred> {
        self.align(T::ALIGNMENT);
        value.encode_inline(self)
    }

    /// Writes the deferred half of a member, of which the inline one answered `deferred`.
    ///
    /// # Errors
    /// Those of the type.
    pub fn deferred<T: NdrEncode>(&mut self, value: &T, deferred: T::Deferred) -> EncodeResult<()> {
        value.encode_deferred(deferred, self)
    }

    /// Writes a 32-bit parameter.
    pub fn u32(&mut self, value: u32) {
        self.align(4);
        self.buffer.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes a `[size_is]` array of bytes; max_count is how many there are.
    ///
    /// # Errors
    /// When there are more than 32 bits can count.
    pub fn conformant_bytes(&mut self, bytes: &[u8]) -> EncodeResult<()> {
        self.u32(count("conformant array", bytes.len())?);
        self.bytes(bytes);
        Ok(())
    }

    /// Writes a `[size_is, length_is]` array of bytes.
    ///
    /// # Errors
    /// When there are more than `max_count`.
    pub fn conformant_varying_bytes(&mut self, max_count: u32, bytes: &[u8]) -> EncodeResult<()> {
        let actual_count = count("conformant varying array", bytes.len())?;
        if actual_count > max_count {
            return Err(EncodeError::new("conformant varying array", "actual_count", "is above max_count"));
        }
        self.u32(max_count);
        self.variance(actual_count);
        self.bytes(bytes);
        Ok(())
    }

    /// Writes what a top-level `[string] wchar_t*` points to, with its NUL.
    ///
    /// # Errors
    /// When the text holds a NUL of its own, or is longer than 32 bits can count.
    pub fn wide_string(&mut self, text: &str) -> EncodeResult<()> {
        if text.contains('\0') {
            return Err(EncodeError::new("[string] wchar_t*", "", "the text holds a NUL"));
        }
        let units = count("[string] wchar_t*", text.encode_utf16().count() + 1 /* NUL */)?;
        self.u32(units);
        self.variance(units);
        for unit in text.encode_utf16() {
            self.buffer.extend_from_slice(&unit.to_le_bytes());
        }
        self.bytes(&[0, 0]);
        Ok(())
    }

    /// Writes zeros up to a multiple of `alignment` from the beginning of the stub.
    pub fn align(&mut self, alignment: usize) {
        self.buffer.resize(self.buffer.len().next_multiple_of(alignment), 0);
    }

    /// Writes bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    #[must_use]
    pub fn into_stub(self) -> Vec<u8> {
        self.buffer
    }

    pub(crate) fn enums(&self) -> EnumForm {
        self.enums
    }

    /// Bytes from the beginning of the stub.
    pub(crate) fn pos(&self) -> usize {
        self.buffer.len()
    }

    /// Offset (zero) and actual_count of a varying array.
    pub(crate) fn variance(&mut self, actual_count: u32) {
        self.u32(0);
        self.u32(actual_count);
    }

    pub(crate) fn referent_id(&mut self) -> u32 {
        let id = self.next_referent_id;
        // Wraps after a thousand million pointers, and never to zero.
        self.next_referent_id = id.checked_add(4).unwrap_or(0x0002_0000);
        id
    }
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

pub(crate) fn count(context: &'static str, count: usize) -> EncodeResult<u32> {
    u32::try_from(count).map_err(|_| EncodeError::new(context, "max_count", "more than 32 bits can count"))
}
