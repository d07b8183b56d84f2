use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Which cells are given out: a bit for each. It is private memory, so that nobody else can give a cell out twice.
#[derive(Debug)]
pub(super) struct Occupied {
    words: Box<[AtomicU64]>,
    /// The word to look at first. Only a guess.
    hint: AtomicUsize,
}

impl Occupied {
    /// All cells are given out until they are [freed](Self::free).
    pub(super) fn new(cells: usize) -> Self {
        let words = (0..cells.div_ceil(BITS)).map(|_| AtomicU64::new(u64::MAX)).collect();
        Self { words, hint: AtomicUsize::new(0) }
    }

    /// Gives out a free cell among the first `cells`.
    pub(super) fn claim(&self, cells: usize) -> Option<usize> {
        let words = &self.words[..cells.div_ceil(BITS).min(self.words.len())];
        let first = self.hint.load(Ordering::Relaxed).min(words.len());
        let (before, behind) = words.split_at(first);
        let in_order = (first..).zip(behind).chain((0..).zip(before));
        for (index, word) in in_order {
            let mut seen = word.load(Ordering::Relaxed);
            while seen != u64::MAX {
                let bit = seen.trailing_ones() as usize;
                // What the last owner wrote into the cell happened before.
                seen = word.fetch_or(1 << bit, Ordering::Acquire);
                if seen & 1 << bit == 0 {
                    if index != first {
                        self.hint.store(index, Ordering::Relaxed);
                    }
                    return Some(index * BITS + bit);
                }
            }
        }
        None
    }

    /// Takes a cell back.
    pub(super) fn free(&self, cell: usize) {
        self.words[cell / BITS].fetch_and(!(1 << (cell % BITS)), Ordering::Release);
    }
}

const BITS: usize = 64;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use parking_lot::Mutex;

    use super::*;

    #[test]
    fn each_free_cell_is_given_out_once() {
        let occupied = Occupied::new(200);
        assert_eq!(occupied.claim(200), None);
        (100..170).for_each(|cell| occupied.free(cell));
        let claimed: BTreeSet<_> = std::iter::from_fn(|| occupied.claim(200)).collect();
        assert_eq!(claimed, (100..170).collect());
        occupied.free(130);
        assert_eq!(occupied.claim(64), None, "the first 64 are taken");
        assert_eq!(occupied.claim(200), Some(130));
    }

    #[test]
    fn no_two_threads_get_the_same_cell() {
        const CELLS: usize = 130;
        let rounds = if cfg!(miri) { 20 } else { 20_000 };
        let occupied = Occupied::new(CELLS);
        (0..CELLS).for_each(|cell| occupied.free(cell));
        let held = Mutex::new(BTreeSet::new());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..rounds {
                        let cell = occupied.claim(CELLS).expect("there are more cells than threads");
                        assert!(held.lock().insert(cell), "given out twice");
                        assert!(held.lock().remove(&cell));
                        occupied.free(cell);
                    }
                });
            }
        });
    }
}
