//! The memory of a store's series.

use super::collection::Buffers;
use super::registry::Registry;
use crate::model::Snapshot;

/// Number and memory of series, computed when series come or go and not when it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Families.
    pub families: u64,
    /// Series that are registered, with a value or without.
    pub series: u64,
    /// Bytes of the series' names and labels as they stand on a page, which readers share.
    pub label_bytes: u64,
    /// Bytes of values: those that come in, those that readers see, and room for the next.
    pub value_bytes: u64,
    /// Bytes of what finds series and tells duplicates; about so many.
    pub index_bytes: u64,
}

impl Footprint {
    /// What is there now. `published` is what readers see.
    pub(super) fn of(registry: &Registry, buffers: &Buffers, published: &Snapshot) -> Self {
        let layout = registry.layout();
        let series = layout.series();
        let values = buffers.heap_bytes() + published.values().heap_bytes();
        let index = registry.index_bytes() + series * BYTES_PER_HASH;
        let count = |count: usize| count as u64;
        Self {
            families: count(layout.blocks().len()),
            series: count(series),
            label_bytes: count(layout.heap_bytes()),
            value_bytes: count(values),
            index_bytes: count(index),
        }
    }

    /// Adds another store's.
    pub fn add(&mut self, other: Self) {
        self.families += other.families;
        self.series += other.series;
        self.label_bytes += other.label_bytes;
        self.value_bytes += other.value_bytes;
        self.index_bytes += other.index_bytes;
    }
}

/// A hash and its mark in a table that is on average two thirds full.
const BYTES_PER_HASH: usize = 14;
