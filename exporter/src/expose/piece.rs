//! The piece of a page that is being written.

/// Appends to a caller's buffer through room that was made beforehand, so that writing one sample asks for none.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    /// INVARIANT: what was written ends at `at`; behind it is room.
    bytes: &'a mut Vec<u8>,
    at: usize,
    limit: usize,
}

impl<'a> Piece<'a> {
    /// A piece that is full at about `bytes_max` bytes.
    pub(super) fn new(bytes: &'a mut Vec<u8>, bytes_max: usize) -> Self {
        let at = bytes.len();
        Self { bytes, at, limit: at + bytes_max }
    }

    pub(super) fn is_full(&self) -> bool {
        self.at >= self.limit
    }

    /// How much is left until it is full.
    pub(super) fn left(&self) -> usize {
        self.limit.saturating_sub(self.at)
    }

    /// Appends anything.
    pub(super) fn push(&mut self, text: &[u8]) {
        self.make_room(text.len());
        self.bytes[self.at..][..text.len()].copy_from_slice(text);
        self.at += text.len();
    }

    /// Lets `write` fill the room behind what was written, without asking for more: until the limit that it is
    /// told, and then `bytes_max` beyond. It answers where it ended.
    pub(super) fn fill(&mut self, bytes_max: usize, write: impl FnOnce(&mut [u8], usize, usize) -> usize) {
        self.make_room(self.left() + bytes_max);
        self.at = write(self.bytes, self.at, self.limit);
    }

    fn make_room(&mut self, bytes: usize) {
        if self.bytes.len() < self.at + bytes {
            self.bytes.resize(self.at + bytes, 0);
        }
    }
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        self.bytes.truncate(self.at);
    }
}

// Positions go in and out by value: behind a reference, each write would wait for the one before to reach memory.

/// Writes a text of any length; answers where it ends.
#[inline]
pub(super) fn put(room: &mut [u8], at: usize, text: &[u8]) -> usize {
    let end = at + text.len();
    room[at..end].copy_from_slice(text);
    end
}

/// Writes one byte.
#[inline]
pub(super) fn put_byte(room: &mut [u8], at: usize, byte: u8) -> usize {
    room[at] = byte;
    at + 1
}

/// Writes the `count` lowest of eight bytes. The rest is written, too; the next text goes over it.
#[inline]
pub(super) fn put_eight(room: &mut [u8], at: usize, bytes: u64, count: usize) -> usize {
    room[at..at + 8].copy_from_slice(&bytes.to_le_bytes());
    at + count
}

/// Writes a short text: two copies of fixed length that overlap are faster than one of any length.
#[inline]
pub(super) fn put_short(room: &mut [u8], at: usize, text: &[u8]) -> usize {
    let end = at + text.len();
    let room = &mut room[at..end];
    if !(overlapping::<16>(room, text) || overlapping::<8>(room, text) || overlapping::<4>(room, text)) {
        for (byte, &source) in room.iter_mut().zip(text) {
            *byte = source;
        }
    }
    end
}

/// Copies a text of `N` to `2 * N` bytes.
#[inline]
fn overlapping<const N: usize>(room: &mut [u8], text: &[u8]) -> bool {
    if text.len() > 2 * N {
        return false;
    }
    let (Some(head), Some(tail)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) else { return false };
    if let Some(room) = room.first_chunk_mut::<N>() {
        *room = *head;
    }
    if let Some(room) = room.last_chunk_mut::<N>() {
        *room = *tail;
    }
    true
}
