use crate::{DecodeError, DecodeResult};

/// A position in a borrowed buffer.
///
/// The `read_*` methods panic past the end, as indexing does: each caller asks first, with
/// [`ensure_size!`](crate::ensure_size) for a structure of fixed size or with the `take_*` methods, which
/// answer an error, where the size comes from the wire.
#[derive(Clone, Copy, Debug)]
pub struct ReadCursor<'a> {
    buffer: &'a [u8],
    // INVARIANT: position <= buffer.len().
    position: usize,
}

macro_rules! read_integer {
    ($($(#[$doc:meta])* $name:ident -> $type:ty, $from:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// Past the end of the buffer.
        pub fn $name(&mut self) -> $type {
            <$type>::$from(self.read_array())
        }
    )*};
}

impl<'a> ReadCursor<'a> {
    /// A cursor at the beginning of `buffer`.
    #[must_use]
    pub const fn new(buffer: &'a [u8]) -> Self {
        Self { buffer, position: 0 }
    }

    #[must_use]
    pub const fn len(&self) -> usize {
        self.buffer.len() - self.position
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes from the beginning of the buffer.
    #[must_use]
    pub const fn pos(&self) -> usize {
        self.position
    }

    /// What remains, without moving.
    #[must_use]
    pub fn remaining(&self) -> &'a [u8] {
        &self.buffer[self.position..]
    }

    /// The whole buffer, for offsets that count from its beginning.
    #[must_use]
    pub const fn buffer(&self) -> &'a [u8] {
        self.buffer
    }

    /// Takes `size` bytes.
    ///
    /// # Panics
    /// Past the end of the buffer.
    pub fn read_slice(&mut self, size: usize) -> &'a [u8] {
        let slice = &self.buffer[self.position..self.position + size];
        self.position += size;
        slice
    }

    /// Takes `N` bytes.
    ///
    /// # Panics
    /// Past the end of the buffer.
    pub fn read_array<const N: usize>(&mut self) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(self.read_slice(N));
        array
    }

    read_integer! {
        read_u8 -> u8, from_le_bytes;
        /// Takes a little-endian integer.
        read_u16 -> u16, from_le_bytes;
        /// Takes a little-endian integer.
        read_u32 -> u32, from_le_bytes;
        /// Takes a little-endian integer.
        read_u64 -> u64, from_le_bytes;
        /// Takes a little-endian integer.
        read_u128 -> u128, from_le_bytes;
        /// Takes a little-endian integer.
        read_i32 -> i32, from_le_bytes;
        /// Takes a little-endian integer.
        read_i64 -> i64, from_le_bytes;
        /// Takes a big-endian integer.
        read_u16_be -> u16, from_be_bytes;
        /// Takes a big-endian integer.
        read_u32_be -> u32, from_be_bytes;
    }

    /// Takes `size` bytes where they are there.
    ///
    /// # Errors
    /// When fewer remain; the cursor does not move then.
    pub fn take_slice(
        &mut self,
        context: &'static str,
        field: &'static str,
        size: usize,
    ) -> DecodeResult<&'a [u8]> {
        if size <= self.len() {
            Ok(self.read_slice(size))
        } else {
            Err(DecodeError::not_enough_bytes(context, field, self.position, self.len(), size))
        }
    }

    /// Takes `size` bytes as a cursor of its own, whose offsets begin at zero.
    ///
    /// # Errors
    /// When fewer remain; the cursor does not move then.
    pub fn take_cursor(
        &mut self,
        context: &'static str,
        field: &'static str,
        size: usize,
    ) -> DecodeResult<ReadCursor<'a>> {
        self.take_slice(context, field, size).map(ReadCursor::new)
    }

    /// Passes over `size` bytes.
    ///
    /// # Errors
    /// When fewer remain; the cursor does not move then.
    pub fn skip(&mut self, context: &'static str, field: &'static str, size: usize) -> DecodeResult<()> {
        self.take_slice(context, field, size).map(|_| ())
    }

    /// Passes over padding up to the next multiple of `alignment`, counted from the beginning of the buffer.
    ///
    /// # Errors
    /// When the buffer ends inside the padding.
    pub fn align(&mut self, context: &'static str, alignment: usize) -> DecodeResult<()> {
        self.skip(context, "padding", self.position.next_multiple_of(alignment) - self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_little_endian_unless_the_name_says_otherwise() {
        let mut src = ReadCursor::new(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(src.read_u8(), 1);
        assert_eq!(src.read_u16(), 0x0302);
        assert_eq!(src.read_u32(), 0x0706_0504);
        assert_eq!(src.read_u16_be(), 0x0809);
        assert_eq!(src.read_u32_be(), 0x0a0b_0c0d);
        assert!(src.is_empty());
    }

    #[test]
    fn a_size_from_the_wire_that_lies_is_an_error_and_moves_nothing() {
        let mut src = ReadCursor::new(&[0; 4]);
        src.read_u8();
        let error = src.take_slice("S", "data", usize::MAX).unwrap_err();
        assert_eq!(error.to_string(), format!("S: `data`: {} bytes needed at offset 1, 3 there", usize::MAX));
        assert_eq!(src.pos(), 1);
    }

    #[test]
    fn alignment_counts_from_the_beginning_of_the_buffer() {
        let mut src = ReadCursor::new(&[0; 9]);
        src.read_u8();
        src.align("S", 8).unwrap();
        assert_eq!(src.pos(), 8);
        src.align("S", 8).unwrap();
        assert_eq!(src.pos(), 8);
        src.read_u8();
        src.align("S", 8).unwrap_err();
    }
}
