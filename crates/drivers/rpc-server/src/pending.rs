//! Memory for what peers did not finish, of all connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::counters::Refusal;

/// The memory of all connections; clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingBytes(Arc<AtomicUsize>);

impl PendingBytes {
    /// The part of one connection, nothing at first.
    pub(crate) fn part(&self) -> PendingPart {
        PendingPart { all: self.clone(), own: 0 }
    }
}

/// The part of one connection. It is given back when it is dropped.
#[derive(Debug)]
pub(crate) struct PendingPart {
    all: PendingBytes,
    own: usize,
}

impl PendingPart {
    /// Changes the part.
    ///
    /// # Errors
    /// When it grows, and all together exceed the limit.
    pub(crate) fn set(&mut self, bytes: usize, limit: usize) -> Result<(), Refusal> {
        let before = self.own;
        self.own = bytes;
        if bytes <= before {
            self.all.0.fetch_sub(before - bytes, Ordering::Relaxed);
            return Ok(());
        }
        let grown = bytes - before;
        let all = self.all.0.fetch_add(grown, Ordering::Relaxed).saturating_add(grown);
        if all <= limit { Ok(()) } else { Err(Refusal::PendingBytes) }
    }
}

impl Drop for PendingPart {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.own, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_ends_gives_its_part_back() {
        let all = PendingBytes::default();
        let (mut first, mut second) = (all.part(), all.part());
        first.set(60, 100).unwrap();
        second.set(40, 100).unwrap();
        assert_eq!(second.set(41, 100), Err(Refusal::PendingBytes));
        assert_eq!(second.set(30, 100), Ok(()), "less is always allowed");
        drop(first);
        assert_eq!(second.set(100, 100), Ok(()));
    }
}
