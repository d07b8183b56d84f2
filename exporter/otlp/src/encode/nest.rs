//! Messages in messages whose lengths are known only when they end.

use super::wire::{BYTES, key, padded_varint};

/// The messages that are open, the outermost first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nest {
    begins: [usize; LEVELS],
    depth: usize,
}

/// `ResourceMetrics`, `ScopeMetrics`, `Metric`, `Gauge` or `Sum`.
pub(super) const LEVELS: usize = 4;
/// Bytes of a length: up to 256 MiB.
const LENGTH_BYTES: usize = 4;
/// Maximum size of a request, independent of the configuration.
pub(super) const REQUEST_BYTES_MAX: usize = 1 << (7 * LENGTH_BYTES - 1);

impl Nest {
    pub(super) fn depth(self) -> usize {
        self.depth
    }

    /// Begins field `field`.
    pub(super) fn open(&mut self, out: &mut Vec<u8>, field: u8) {
        out.push(key(field, BYTES));
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        self.begins[self.depth] = out.len();
        self.depth += 1;
    }

    /// Ends messages until `depth` of them are open.
    pub(super) fn close_to(&mut self, out: &mut [u8], depth: usize) {
        while self.depth > depth {
            self.depth -= 1;
            let begin = self.begins[self.depth];
            let length = out.len() - begin;
            padded_varint(&mut out[begin - LENGTH_BYTES..begin], length);
        }
    }
}
