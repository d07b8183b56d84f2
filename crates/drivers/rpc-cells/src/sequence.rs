//! The sequence lock of a cell.
//!
//! A cell has two copies of its object and a sequence number; the number's lowest bit says which copy is the current
//! one. The writer fills the other copy and then counts the number up. A reader takes the number, the current copy, and
//! the number again: if it is the same, the copy is whole. So a reader never blocks the writer, and whatever moment the
//! writer dies at, the current copy stays whole. (Linux calls this `seqcount_latch_t`.)
//!
//! All words are atomic, so that there is no data race. Why the order is right: a writer that overwrites the copy which
//! a reader takes has counted the number up before. If the reader took a word of the new object, its fence meets the
//! writer's, and its second look at the number finds the number counted up.

use std::sync::atomic::{AtomicU64, Ordering, fence};

/// A word that processes share.
pub(crate) trait Word {
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
    fn fence(order: Ordering);
}

impl Word for AtomicU64 {
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }

    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order);
    }

    fn fence(order: Ordering) {
        fence(order);
    }
}

/// The words of a cell: the sequence number, and two copies of the object.
#[derive(Debug)]
pub(crate) struct Latch<'a, W> {
    sequence: &'a W,
    copies: [&'a [W]; 2],
}

impl<'a, W: Word> Latch<'a, W> {
    /// The number, then `copy_words` words twice; what is after them is not used.
    pub(crate) fn new(cell: &'a [W], copy_words: usize) -> Option<Self> {
        let (sequence, rest) = cell.split_first()?;
        let (first, rest) = rest.split_at_checked(copy_words)?;
        Some(Self { sequence, copies: [first, rest.get(..copy_words)?] })
    }

    /// Makes `object` the current one. Only one thread may write a cell at a time.
    pub(crate) fn publish(&self, object: &[u64]) {
        let sequence = self.sequence.load(Ordering::Relaxed).wrapping_add(1);
        // Between the number that made the other copy the current one, and the first word that overwrites this one.
        W::fence(Ordering::Release);
        for (word, &value) in self.copies[current(sequence)].iter().zip(object) {
            word.store(value, Ordering::Relaxed);
        }
        self.sequence.store(sequence, Ordering::Release);
    }
}

/// The three steps of a reader: the number, the copy that it makes the current one, and the number again. Returns the
/// copy if the number is the same. `after` is called when all of the copy was read.
pub(crate) fn settled<T>(
    before: u64,
    copy: impl FnOnce(usize) -> T,
    after: impl FnOnce() -> u64,
) -> Option<T> {
    let copy = copy(current(before));
    (after() == before).then_some(copy)
}

/// Which of the copies the number makes the current one.
fn current(sequence: u64) -> usize {
    usize::from(sequence & 1 == 1)
}

/// Runs the lock itself in each order in which threads and memory may work, as far as loom knows them.
#[cfg(test)]
mod model {
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicU64;
    use loom::thread;

    use super::*;

    impl Word for AtomicU64 {
        fn load(&self, order: Ordering) -> u64 {
            self.load(order)
        }

        fn store(&self, value: u64, order: Ordering) {
            self.store(value, order);
        }

        fn fence(order: Ordering) {
            loom::sync::atomic::fence(order);
        }
    }

    /// Words without one of the two fences, to see that the model finds what goes wrong then.
    struct Without<const ACQUIRE: bool>(AtomicU64);

    impl<const ACQUIRE: bool> Word for Without<ACQUIRE> {
        fn load(&self, order: Ordering) -> u64 {
            self.0.load(order)
        }

        fn store(&self, value: u64, order: Ordering) {
            self.0.store(value, order);
        }

        fn fence(order: Ordering) {
            if (order == Ordering::Acquire) != ACQUIRE {
                loom::sync::atomic::fence(order);
            }
        }
    }

    const COPY_WORDS: usize = 2;

    fn read<W: Word>(cell: &[W]) -> Option<[u64; COPY_WORDS]> {
        let latch = Latch::new(cell, COPY_WORDS).expect("a whole cell");
        let copy = |current: usize| {
            std::array::from_fn(|index| latch.copies[current][index].load(Ordering::Relaxed))
        };
        settled(latch.sequence.load(Ordering::Acquire), copy, || {
            W::fence(Ordering::Acquire);
            latch.sequence.load(Ordering::Relaxed)
        })
    }

    /// A writer of the objects (1, 1), (2, 2) … while a reader reads twice.
    fn run<W: Word + Send + Sync + 'static>(objects: u64, word: fn() -> W) {
        loom::model(move || {
            let cell: Arc<Vec<W>> = Arc::new((0..1 + 2 * COPY_WORDS).map(|_| word()).collect());
            let written = Arc::clone(&cell);
            let writer = thread::spawn(move || {
                let latch = Latch::new(&written, COPY_WORDS).expect("a whole cell");
                (1..=objects).for_each(|object| latch.publish(&[object; COPY_WORDS]));
            });
            let mut last = 0;
            for _ in 0..2 {
                if let Some([first, second]) = read(&cell) {
                    assert_eq!(first, second, "half an object");
                    assert!(last <= first, "an older object after a newer one");
                    last = first;
                }
            }
            writer.join().expect("the writer ends");
            assert_eq!(read(&cell), Some([objects; COPY_WORDS]), "nobody writes");
        });
    }

    #[test]
    fn no_reader_ever_sees_half_a_cell() {
        run(3, || AtomicU64::new(0));
    }

    #[test]
    #[should_panic(expected = "half an object")]
    fn the_model_finds_a_missing_fence_of_the_writer() {
        run(3, || Without::<false>(AtomicU64::new(0)));
    }

    #[test]
    #[should_panic(expected = "half an object")]
    fn the_model_finds_a_missing_fence_of_the_reader() {
        run(3, || Without::<true>(AtomicU64::new(0)));
    }
}
