/// A position at the end of a growing buffer.
///
/// Offsets ([`WriteCursor::pos`]) count from where the cursor was made, so that a structure can be appended to
/// bytes of another layer and still align itself.
#[derive(Debug)]
pub struct WriteCursor<'a> {
    buffer: &'a mut Vec<u8>,
    start: usize,
}

macro_rules! write_integer {
    ($($(#[$doc:meta])* $name:ident($type:ty), $to:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, value: $type) {
            self.buffer.extend_from_slice(&value.$to());
        }
    )*};
}

impl<'a> WriteCursor<'a> {
    /// A cursor at the end of `buffer`.
    pub fn new(buffer: &'a mut Vec<u8>) -> Self {
        let start = buffer.len();
        Self { buffer, start }
    }

    /// Bytes written since the cursor was made.
    #[must_use]
    pub fn pos(&self) -> usize {
        self.buffer.len() - self.start
    }

    write_integer! {
        write_u8(u8), to_le_bytes;
        /// Appends a little-endian integer.
        write_u16(u16), to_le_bytes;
        /// Appends a little-endian integer.
        write_u32(u32), to_le_bytes;
        /// Appends a little-endian integer.
        write_u64(u64), to_le_bytes;
        /// Appends a little-endian integer.
        write_u128(u128), to_le_bytes;
        /// Appends a little-endian integer.
        write_i32(i32), to_le_bytes;
        /// Appends a little-endian integer.
        write_i64(i64), to_le_bytes;
        /// Appends a big-endian integer.
        write_u16_be(u16), to_be_bytes;
        /// Appends a big-endian integer.
        write_u32_be(u32), to_be_bytes;
    }

    /// Appends bytes as they are.
    pub fn write_slice(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    pub fn write_zeros(&mut self, count: usize) {
        self.buffer.resize(self.buffer.len() + count, 0);
    }

    /// Appends zeros up to the next multiple of `alignment`, counted from where the cursor was made.
    pub fn align(&mut self, alignment: usize) {
        self.write_zeros(self.pos().next_multiple_of(alignment) - self.pos());
    }

    /// Overwrites four bytes at `offset` (counted as [`WriteCursor::pos`] does) with a length known only now.
    ///
    /// # Panics
    /// When the four bytes were not written before.
    pub fn patch_u32(&mut self, offset: usize, value: u32) {
        let at = self.start + offset;
        self.buffer[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// Overwrites two bytes at `offset` (counted as [`WriteCursor::pos`] does) with a length known only now.
    ///
    /// # Panics
    /// When the two bytes were not written before.
    pub fn patch_u16(&mut self, offset: usize, value: u16) {
        let at = self.start + offset;
        self.buffer[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_count_from_where_the_cursor_was_made() {
        let mut buffer = vec![0xff];
        let mut dst = WriteCursor::new(&mut buffer);
        dst.write_u16(0x0102);
        dst.align(4);
        assert_eq!(dst.pos(), 4);
        dst.patch_u16(2, 0x0304);
        assert_eq!(buffer, [0xff, 2, 1, 4, 3]);
    }
}
