//! The buffer of a piece.

/// A buffer that is kept from piece to piece, so that neither a sample nor a piece asks for memory.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// INVARIANT: what was written ends at `at`; after it is room.
    bytes: Vec<u8>,
    at: usize,
    limit: usize,
}

impl Room {
    /// Begins a piece that is full at about `bytes_max` bytes.
    pub(super) fn begin(&mut self, bytes_max: usize) {
        (self.at, self.limit) = (0, bytes_max);
    }

    pub(super) fn written(&self) -> &[u8] {
        &self.bytes[..self.at]
    }

    pub(super) fn is_full(&self) -> bool {
        self.at >= self.limit
    }

    /// How much is left until it is full.
    pub(super) fn left(&self) -> usize {
        self.limit.saturating_sub(self.at)
    }

    pub(super) fn push(&mut self, text: &[u8]) {
        self.make_room(text.len());
        self.bytes[self.at..][..text.len()].copy_from_slice(text);
        self.at += text.len();
    }

    /// Lets `write` fill the room after what was written, without asking for more: until the limit that it is
    /// told, and then `bytes_max` beyond. It answers where it ended.
    pub(super) fn fill(&mut self, bytes_max: usize, write: impl FnOnce(&mut [u8], usize, usize) -> usize) {
        self.make_room(self.left() + bytes_max);
        self.at = write(&mut self.bytes, self.at, self.limit);
    }

    fn make_room(&mut self, bytes: usize) {
        if self.bytes.len() < self.at + bytes {
            self.bytes.resize(self.at + bytes, 0);
        }
    }
}

// Positions are passed by value: through a reference, each write would wait for the previous one to reach memory.

/// Writes a text of any length; answers where it ends.
#[inline]
pub(super) fn put(room: &mut [u8], at: usize, text: &[u8]) -> usize {
    let end = at + text.len();
    room[at..end].copy_from_slice(text);
    end
}

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

/// Copies `N` bytes from `from` on, of which a shorter text is wanted, where both sides have so many. The length is
/// known to the compiler, and no branch depends on the text's.
#[inline]
pub(super) fn put_wide<const N: usize>(room: &mut [u8], at: usize, texts: &[u8], from: usize) -> bool {
    let (Some(room), Some(text)) = (room.get_mut(at..at + N), texts.get(from..from + N)) else {
        return false;
    };
    let (room, _) = room.as_chunks_mut::<32>();
    let (text, _) = text.as_chunks::<32>();
    for (room, text) in room.iter_mut().zip(text) {
        *room = *text;
    }
    true
}
