use core::ops::RangeInclusive;

use wire::{DecodeError, ReadCursor};

use crate::ndr::{EnumForm, Error, NdrDecode, RangeError, Result};

/// What a [`Reader`] accepts; counts above are errors before anything is allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Elements of one array whose elements become values of their own (byte arrays are borrowed, not copied).
    pub array_elements_max: u32,
    /// UTF-16 code units of one `[string]`, with its NUL.
    pub string_units_max: u32,
    pub depth_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { array_elements_max: 1 << 20, string_units_max: 1 << 16, depth_max: 32 }
    }
}

/// A position in a stub.
///
/// Errors name the innermost structure with a [`NdrDecode::NAME`], or the method that the reader was made for.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    src: ReadCursor<'a>,
    context: &'static str,
    field: &'static str,
    depth: u32,
    limits: Limits,
    enums: EnumForm,
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of `stub`, which holds the parameters of the method `context`.
    #[must_use]
    pub fn new(stub: &'a [u8], context: &'static str) -> Self {
        let (limits, enums) = (Limits::default(), EnumForm::default());
        Self { src: ReadCursor::new(stub), context, field: "", depth: 0, limits, enums }
    }

    /// The same reader with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The same reader, for stubs whose enums have one form.
    #[must_use]
    pub fn with_enums(mut self, enums: EnumForm) -> Self {
        self.enums = enums;
        self
    }

    /// Bytes from the beginning of the stub.
    #[must_use]
    pub fn pos(&self) -> usize {
        self.src.pos()
    }

    /// What remains, such as the parameters of a later construct or a verification trailer.
    #[must_use]
    pub fn remaining(&self) -> &'a [u8] {
        self.src.remaining()
    }

    /// Reads a parameter: both halves of `T`. Also what a top-level `[ref]` pointer points to.
    ///
    /// # Errors
    /// Those of the type.
    pub fn read<T: NdrDecode<'a>>(&mut self, field: &'static str) -> Result<T> {
        let inline = self.inline::<T>(field)?;
        self.deferred(field, inline)
    }

    /// Reads the inline half of a member.
    ///
    /// # Errors
    /// Those of the type.
    pub fn inline<T: NdrDecode<'a>>(&mut self, field: &'static str) -> Result<T::Inline> {
        self.scoped::<T, _>(field, |src| {
            src.align(T::ALIGNMENT)?;
            T::decode_inline(src)
        })
    }

    /// Reads the deferred half of a member.
    ///
    /// # Errors
    /// Those of the type.
    pub fn deferred<T: NdrDecode<'a>>(&mut self, field: &'static str, inline: T::Inline) -> Result<T> {
        self.scoped::<T, _>(field, |src| T::decode_deferred(inline, src))
    }

    /// Reads a 32-bit parameter.
    ///
    /// # Errors
    /// When the stub ends.
    pub fn u32(&mut self, field: &'static str) -> Result<u32> {
        self.read(field)
    }

    /// Reads a `[range]` parameter.
    ///
    /// # Errors
    /// [`Error::Range`] when the value is outside of `range`.
    pub fn range_u32(&mut self, field: &'static str, range: RangeInclusive<u32>) -> Result<u32> {
        let value = self.u32(field)?;
        self.check_range(field, value, range)?;
        Ok(value)
    }

    /// Refuses a value just read that is outside of its `[range]`.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn check_range(&self, field: &'static str, value: u32, range: RangeInclusive<u32>) -> Result<()> {
        if range.contains(&value) {
            return Ok(());
        }
        let (context, offset) = (self.context, self.pos().saturating_sub(4));
        Err(Error::Range(RangeError {
            context,
            field,
            offset,
            value,
            min: *range.start(),
            max: *range.end(),
        }))
    }

    /// Passes over padding up to a multiple of `alignment` from the beginning of the stub.
    ///
    /// # Errors
    /// When the stub ends inside the padding.
    pub fn align(&mut self, alignment: usize) -> Result<()> {
        let padding = self.pos().next_multiple_of(alignment) - self.pos();
        self.src.skip(self.context, self.field, padding)?;
        Ok(())
    }

    /// Takes `size` bytes as they are.
    ///
    /// # Errors
    /// When fewer remain.
    pub fn take(&mut self, field: &'static str, size: usize) -> Result<&'a [u8]> {
        self.field = field;
        Ok(self.src.take_slice(self.context, field, size)?)
    }

    /// An error at the last four bytes that says which rule the member being read breaks.
    #[must_use]
    pub fn invalid(&self, reason: &'static str) -> Error {
        Error::Decode(DecodeError::invalid_field(
            self.context,
            self.field,
            self.pos().saturating_sub(4),
            reason,
        ))
    }

    /// As [`Reader::invalid`], of the member `field`.
    #[must_use]
    pub fn invalid_field(&self, field: &'static str, reason: &'static str) -> Error {
        let offset = self.pos().saturating_sub(4);
        Error::Decode(DecodeError::invalid_field(self.context, field, offset, reason))
    }

    pub(crate) fn take_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.src.take_slice(self.context, self.field, N)?;
        let mut array = [0; N];
        array.copy_from_slice(bytes);
        Ok(array)
    }

    /// The field that is being read, for types that pass it on to their parts.
    pub(crate) fn field(&self) -> &'static str {
        self.field
    }

    /// Names the field that is read next, for types that read it themselves.
    pub(crate) fn set_field(&mut self, field: &'static str) {
        self.field = field;
    }

    pub(crate) fn enums(&self) -> EnumForm {
        self.enums
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reads offset and actual_count of a varying array and returns the latter.
    pub(crate) fn variance(&mut self, field: &'static str, max_count: Option<u32>) -> Result<u32> {
        if self.u32(field)? != 0 {
            return Err(self.invalid("the offset of a varying array is not zero"));
        }
        let actual_count = self.u32(field)?;
        if max_count.is_none_or(|max_count| actual_count <= max_count) {
            Ok(actual_count)
        } else {
            Err(self.invalid("actual_count is above max_count"))
        }
    }

    /// Refuses a count above `limit`.
    pub(crate) fn check_limit(&self, count: u32, limit: u32) -> Result<()> {
        if count <= limit {
            Ok(())
        } else {
            let offset = self.pos().saturating_sub(4);
            let (value, limit) = (u64::from(count), u64::from(limit));
            Err(DecodeError::limit_exceeded(self.context, self.field, offset, value, limit).into())
        }
    }

    /// Refuses a count of elements that cannot fit in what remains, before memory is taken for them.
    pub(crate) fn check_fits(&self, count: u32, element_size_min: usize) -> Result<()> {
        let expected = size_of_count(count).saturating_mul(element_size_min);
        if expected <= self.src.len() {
            Ok(())
        } else {
            let (offset, received) = (self.pos(), self.src.len());
            Err(DecodeError::not_enough_bytes(self.context, self.field, offset, received, expected).into())
        }
    }

    /// Reads behind one more pointer.
    pub(crate) fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= self.limits.depth_max {
            return Err(self.invalid("pointers are nested too deeply"));
        }
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        result
    }

    fn scoped<T: NdrDecode<'a>, R>(
        &mut self,
        field: &'static str,
        body: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        let outer = self.context;
        self.field = field;
        if !T::NAME.is_empty() {
            self.context = T::NAME;
        }
        let result = body(self);
        self.context = outer;
        self.field = field;
        result
    }
}

/// A count of bytes as a size. Where `usize` has 16 bits it saturates, which no buffer can satisfy.
pub(crate) fn size_of_count(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
