//! The changes since a part was last sent.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use series::model::{Block, Chunk, Kind, Layout, Snapshot, Values};

use super::Earlier;

/// A series of an earlier snapshot by its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) block: usize,
    pub(super) chunk: usize,
    pub(super) series: usize,
}

/// The series that had a value and have none now. Where nothing came or went this is one comparison of two arrays
/// of a byte a series.
pub(super) fn gone(earlier: &Snapshot, now: &Snapshot, sums: bool) -> Vec<Place> {
    let same_layout = Arc::ptr_eq(earlier.layout(), now.layout());
    if same_layout && earlier.values().has_same_ids(now.values()) {
        return Vec::new();
    }
    let mut gone = Vec::new();
    let chunks = addresses(now.layout());
    let moved = moved_prefixes(earlier, now);
    for (block, series) in earlier.layout().blocks().iter().enumerate() {
        if !sums && is_sum(series.family().kind) {
            continue;
        }
        for (chunk_index, chunk) in series.chunks().iter().enumerate() {
            let stays = chunks.contains(&address(chunk));
            for (index, (id, prefix)) in chunk.iter().enumerate() {
                let lives = if stays { now.values().has_value(id) } else { moved.contains(prefix) };
                if !lives && earlier.values().has_value(id) {
                    gone.push(Place { block, chunk: chunk_index, series: index });
                }
            }
        }
    }
    gone
}

/// The series with a value now whose chunks are not those of `earlier`.
fn moved_prefixes<'a>(earlier: &Snapshot, now: &'a Snapshot) -> HashSet<&'a [u8]> {
    let before = addresses(earlier.layout());
    let chunks = now.layout().blocks().iter().flat_map(Block::chunks);
    let moved = chunks.filter(|chunk| !before.contains(&address(chunk)));
    let series = moved.flat_map(|chunk| chunk.iter());
    series.filter(|&(id, _)| now.values().has_value(id)).map(|(_, prefix)| prefix).collect()
}

/// The values of counters at the last export, to compute their increase.
#[derive(Debug)]
pub(super) struct Before {
    counts: Arc<Snapshot>,
    /// The time of that export.
    pub(super) time_unix_nanos: u64,
    /// Chunks whose series have the same ids as then; nothing where that is true of all.
    chunks: Option<HashSet<usize>>,
    /// The ids that the others had then.
    ids: HashMap<Box<[u8]>, u32>,
}

impl Before {
    pub(super) fn new(earlier: &Earlier, now: &Snapshot) -> Self {
        let counts = Arc::clone(&earlier.counts);
        let time_unix_nanos = earlier.counts_time_unix_nanos;
        if Arc::ptr_eq(counts.layout(), now.layout()) {
            return Self { counts, time_unix_nanos, chunks: None, ids: HashMap::new() };
        }
        let kept = addresses(now.layout());
        let sums = counts.layout().blocks().iter().filter(|block| is_sum(block.family().kind));
        let left = sums.flat_map(Block::chunks).filter(|chunk| !kept.contains(&address(chunk)));
        let ids = left.flat_map(|chunk| chunk.iter()).map(|(id, prefix)| (prefix.into(), id)).collect();
        let chunks = Some(addresses(counts.layout()));
        Self { counts, time_unix_nanos, chunks, ids }
    }

    /// Whether the series of a chunk have the ids that they had then.
    pub(super) fn keeps_ids_of(&self, chunk: &Arc<Chunk>) -> bool {
        self.chunks.as_ref().is_none_or(|chunks| chunks.contains(&address(chunk)))
    }

    /// The id that a series of another chunk had then.
    pub(super) fn id_of(&self, prefix: &[u8]) -> Option<u32> {
        self.ids.get(prefix).copied()
    }

    /// The values of that export, by the ids of then.
    #[inline]
    pub(super) fn values(&self) -> &Values {
        self.counts.values()
    }
}

/// Whether values of the kind count from something, so that there are deltas of them.
pub(super) fn is_sum(kind: Kind) -> bool {
    matches!(kind, Kind::Counter | Kind::Histogram)
}

fn addresses(layout: &Layout) -> HashSet<usize> {
    layout.blocks().iter().flat_map(Block::chunks).map(address).collect()
}

/// Two chunks at one address are one, as long as a snapshot holds them.
fn address(chunk: &Arc<Chunk>) -> usize {
    Arc::as_ptr(chunk).addr()
}
