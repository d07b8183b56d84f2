use super::{CopyWords, Malformed, Name};
use crate::layout::{COPY_WORDS, CellId};

/// The bytes of a copy. Integers are little-endian.
#[derive(Clone, Copy, Default)]
pub struct Fields([[u8; 8]; COPY_WORDS]);

impl Fields {
    pub(crate) fn from_words(words: &CopyWords) -> Self {
        Self(words.map(u64::to_le_bytes))
    }

    pub(crate) fn to_words(self) -> CopyWords {
        self.0.map(u64::from_le_bytes)
    }

    pub(crate) fn put<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        self.0.as_flattened_mut()[at..at + N].copy_from_slice(&bytes);
    }

    pub(crate) fn put_cell_id(&mut self, at: usize, id: CellId) {
        self.put(at, id.to_bits().to_le_bytes());
    }

    /// A byte with the length, then the bytes.
    pub(crate) fn put_name<const N: usize>(&mut self, at: usize, name: &Name<N>) {
        self.put(at, [name.len()]);
        self.put(at + 1, *name.padded());
    }

    pub(crate) fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.0.as_flattened()[at..at + N]);
        bytes
    }

    pub(crate) fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.get(at))
    }

    pub(crate) fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.get(at))
    }

    pub(crate) fn u64(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.get(at))
    }

    pub(crate) fn cell_id(&self, at: usize) -> CellId {
        CellId::from_bits(self.u32(at))
    }

    pub(crate) fn name<const N: usize>(&self, at: usize, field: &'static str) -> Result<Name<N>, Malformed> {
        let [length] = self.get(at);
        Name::from_padded(length, &self.get::<N>(at + 1)).ok_or(Malformed::Name { field })
    }
}
