//! Which series there are, and how each begins on a page.

use std::sync::Arc;

use super::name::is_legacy_label;
use super::{Family, Labels, Shape};

/// Some series of one family: their ids, and their prefixes `name{labels} ` one after the other.
///
/// Chunks are shared between the store and its snapshots; a change copies one chunk, not the family.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    ids: Vec<u32>,
    /// INVARIANT: as long as `ids`, ascending; the last is the length of `prefixes`.
    ends: Vec<u32>,
    prefixes: Vec<u8>,
    /// The length of the longest prefix.
    longest: usize,
    /// Some name needs quotes.
    quoted: bool,
    shape: Shape,
    /// INVARIANT: for each series one byte for each name of `shape`.
    value_lengths: Vec<u8>,
}

impl Chunk {
    /// How many series one chunk takes.
    pub const SERIES_MAX: usize = 1_024;
    /// A chunk with so many bytes of prefixes takes no more series.
    pub const FULL_BYTES: usize = 1 << 20;

    /// How many series it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Where each series' prefix ends in [`Chunk::prefixes`].
    #[must_use]
    pub fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// All prefixes, one after the other.
    #[must_use]
    pub fn prefixes(&self) -> &[u8] {
        &self.prefixes
    }

    /// The length of the longest prefix that is or was here.
    #[must_use]
    pub fn longest_prefix(&self) -> usize {
        self.longest
    }

    /// Whether the name of the family or of some label needs quotes.
    #[must_use]
    pub fn is_quoted(&self) -> bool {
        self.quoted
    }

    /// Which labels the series have, as long as they are regular.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The lengths of each series' values, as many as [`Shape::names`]; of a series that is not regular each is
    /// [`Shape::IRREGULAR`].
    #[must_use]
    pub fn value_lengths(&self) -> &[u8] {
        &self.value_lengths
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let mut start = 0;
        self.ids.iter().zip(&self.ends).map(move |(&id, &end)| {
            let prefix = &self.prefixes[start..end as usize];
            start = end as usize;
            (id, prefix)
        })
    }

    fn heap_bytes(&self) -> usize {
        let Self { ids, ends, prefixes, value_lengths, .. } = self;
        let numbers = (ids.capacity() + ends.capacity()) * size_of::<u32>();
        size_of::<Self>() + numbers + prefixes.capacity() + value_lengths.capacity()
    }

    fn is_full(&self) -> bool {
        self.len() >= Self::SERIES_MAX || self.prefixes.len() >= Self::FULL_BYTES
    }

    fn push(&mut self, id: u32, prefix: &[u8]) {
        let text = std::str::from_utf8(prefix).unwrap_or_default();
        if self.is_empty() {
            self.shape = Shape::of_prefix(text);
        }
        let is_regular = self.shape.measure(text, &mut self.value_lengths);
        self.quoted |= !is_regular && needs_quotes(text);
        self.prefixes.extend_from_slice(prefix);
        self.longest = self.longest.max(prefix.len());
        self.ids.push(id);
        self.ends.push(u32::try_from(self.prefixes.len()).unwrap_or(u32::MAX));
        if self.is_full() {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        self.ids.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.prefixes.shrink_to_fit();
        self.value_lengths.shrink_to_fit();
    }
}

fn needs_quotes(prefix: &str) -> bool {
    prefix.starts_with('{') || Labels::of_prefix(prefix).any(|(name, _)| !is_legacy_label(name))
}

/// All series of one family in one store.
#[derive(Clone, Debug)]
pub struct Block {
    family: Arc<Family>,
    chunks: Vec<Arc<Chunk>>,
    /// The last chunk may have room to spare.
    grown: bool,
}

impl Block {
    fn new(family: Arc<Family>) -> Self {
        Self { family, chunks: Vec::new(), grown: false }
    }

    #[must_use]
    pub fn family(&self) -> &Arc<Family> {
        &self.family
    }

    #[must_use]
    pub fn chunks(&self) -> &[Arc<Chunk>] {
        &self.chunks
    }

    /// All series ids of the family.
    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.chunks.iter().flat_map(|chunk| chunk.ids().iter().copied())
    }

    fn push(&mut self, id: u32, prefix: &[u8]) {
        if self.chunks.last().is_none_or(|last| last.is_full()) {
            self.chunks.push(Arc::default());
        }
        let Some(last) = self.chunks.last_mut() else { return };
        Arc::make_mut(last).push(id, prefix);
        self.grown = true;
    }

    /// Takes series out and tells each prefix that went. Chunks without any of them stay shared.
    fn remove(&mut self, gone: impl Fn(u32) -> bool, mut removed: impl FnMut(&[u8])) {
        for chunk in &mut self.chunks {
            if chunk.ids.iter().any(|&id| gone(id)) {
                let mut kept = Chunk::default();
                for (id, prefix) in chunk.iter() {
                    if gone(id) { removed(prefix) } else { kept.push(id, prefix) }
                }
                kept.shrink();
                *chunk = Arc::new(kept);
            }
        }
        self.chunks.retain(|chunk| !chunk.is_empty());
        let series: usize = self.chunks.iter().map(|chunk| chunk.len()).sum();
        if self.chunks.len() > 2 && series < self.chunks.len() * Chunk::SERIES_MAX / 4 {
            self.pack();
        }
    }

    /// Joins chunks that series left.
    fn pack(&mut self) {
        for chunk in std::mem::take(&mut self.chunks) {
            for (id, prefix) in chunk.iter() {
                self.push(id, prefix);
            }
        }
    }
}

/// All series of one store, family by family.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    blocks: Vec<Block>,
}

impl Layout {
    /// The families, in the order of their registration; some may have no series.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// How many series there are, with a value or without, as Prometheus counts them: see [`Family::samples`].
    #[must_use]
    pub fn series(&self) -> usize {
        let series = |block: &Block| block.chunks().iter().map(|chunk| chunk.len()).sum::<usize>();
        self.blocks.iter().map(|block| series(block) * block.family().samples()).sum()
    }

    /// What it takes, as far as it is not shared with other stores.
    pub(crate) fn heap_bytes(&self) -> usize {
        let chunks = self.blocks.iter().flat_map(Block::chunks).map(|chunk| chunk.heap_bytes());
        self.blocks.capacity() * size_of::<Block>() + chunks.sum::<usize>()
    }

    /// Adds a family and answers its place.
    pub(crate) fn add_family(&mut self, family: Arc<Family>) -> usize {
        self.blocks.push(Block::new(family));
        self.blocks.len() - 1
    }

    /// Takes back the families that were added last.
    pub(crate) fn remove_families_from(&mut self, first: usize) {
        self.blocks.truncate(first);
    }

    /// Adds a series to the family at `block`.
    pub(crate) fn add_series(&mut self, block: usize, id: u32, prefix: &[u8]) {
        if let Some(block) = self.blocks.get_mut(block) {
            block.push(id, prefix);
        }
    }

    /// Takes series out of the family at `block` and tells each prefix that went.
    pub(crate) fn remove_series(
        &mut self,
        block: usize,
        gone: impl Fn(u32) -> bool,
        removed: impl FnMut(&[u8]),
    ) {
        if let Some(block) = self.blocks.get_mut(block) {
            block.remove(gone, removed);
        }
    }

    /// Gives back what growing vectors hold in reserve. Registration is rare, the layout lives for hours.
    pub(crate) fn trim(&mut self) {
        for block in self.blocks.iter_mut().filter(|block| block.grown) {
            if let Some(last) = block.chunks.last_mut().and_then(Arc::get_mut) {
                last.shrink();
            }
            block.chunks.shrink_to_fit();
            block.grown = false;
        }
        self.blocks.shrink_to_fit();
    }
}
