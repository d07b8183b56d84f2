//! The side that keeps the state.

mod handle;

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

pub use self::handle::{CellHandle, ClientCallHandle};

use crate::Memory;
use crate::cell::{
    CallTarget, ClientCall, Connection, ConnectionTotals, CopyWords, Endpoint, Interface, Kind, Object,
    ObjectCall, Operation, ServerCall, Thread,
};
use crate::error::Error;
use crate::header::{CallOrigin, FileHeader, HIDDEN_WORD, Level, SECTIONS_WORD};
use crate::layout::{CELL_WORDS, COPY_WORDS, Capacity, CellId};
use crate::sequence::Latch;

/// Keeps objects in cells.
///
/// An object that finds no cell, or that the level does not keep, is not shown: its handle works the same and writes
/// nothing. Clones write the same cells.
#[derive(Clone, Default)]
pub struct Writer(Option<Arc<Shared>>);

pub(crate) struct Shared {
    memory: Box<dyn Memory>,
    capacity: Capacity,
    level: Level,
    occupied: Occupied,
    /// The sections that there are. It is a copy of the header's, which others could change.
    sections: AtomicU16,
    growing: Mutex<()>,
    hidden: AtomicU64,
}

impl Writer {
    /// A writer of nothing.
    #[must_use]
    pub fn disabled() -> Self {
        Self(None)
    }

    /// A writer of the cells in `memory`, which has a [formatted](crate::format) header. There is only one for each
    /// file.
    ///
    /// # Errors
    /// When the header is not that of this version, or does not belong to this memory.
    pub fn over(memory: impl Memory + 'static) -> Result<Self, Error> {
        let words = memory.words();
        let mut header = [0; CELL_WORDS];
        if words.len() < CELL_WORDS {
            let (expected_bytes, found_bytes) = (8 * CELL_WORDS, 8 * words.len());
            return Err(Error::HeaderCutShort { expected_bytes, found_bytes });
        }
        for (value, word) in header.iter_mut().zip(words) {
            *value = word.load(Ordering::Acquire);
        }
        let FileHeader { capacity, level, .. } = FileHeader::decode(&header)?;
        if words.len() < capacity.cells_max() * CELL_WORDS {
            return Err(Error::Capacity(capacity));
        }
        let shared = Shared {
            memory: Box::new(memory),
            capacity,
            level,
            occupied: Occupied::new(capacity.cells_max()),
            sections: AtomicU16::new(0),
            growing: Mutex::new(()),
            hidden: AtomicU64::new(0),
        };
        shared.add_section(0);
        Ok(Self(Some(Arc::new(shared))))
    }

    /// What is kept in cells.
    #[must_use]
    pub fn level(&self) -> Level {
        self.0.as_ref().map_or(Level::NONE, |shared| shared.level)
    }

    /// How many objects found no cell.
    #[must_use]
    pub fn hidden(&self) -> u64 {
        self.0.as_ref().map_or(0, |shared| shared.hidden.load(Ordering::Relaxed))
    }

    /// Shows an endpoint until the handle is dropped.
    #[must_use]
    pub fn endpoint(&self, endpoint: Endpoint) -> CellHandle<Endpoint> {
        self.show(endpoint, None)
    }

    /// Shows a worker thread until the handle is dropped.
    #[must_use]
    pub fn thread(&self, thread: Thread) -> CellHandle<Thread> {
        self.show(thread, None)
    }

    /// Shows a connection until the handle is dropped.
    #[must_use]
    pub fn connection(&self, connection: Connection) -> CellHandle<Connection> {
        self.show(connection, None)
    }

    /// Shows what a connection has carried until the handle is dropped.
    #[must_use]
    pub fn connection_totals(&self, totals: ConnectionTotals) -> CellHandle<ConnectionTotals> {
        self.show(totals, None)
    }

    /// Shows where a client's connection leads until the handle is dropped. [Calls](Self::client_call) have their own.
    #[must_use]
    pub fn connection_target(&self, target: CallTarget) -> CellHandle<CallTarget> {
        self.show(target, Some(CallOrigin::Client))
    }

    /// Shows a server call until the handle is dropped.
    #[must_use]
    pub fn server_call(&self, call: ServerCall) -> CellHandle<ServerCall> {
        self.show(call, None)
    }

    /// Shows the name of an interface until the handle is dropped.
    #[must_use]
    pub fn interface(&self, interface: Interface) -> CellHandle<Interface> {
        self.show(interface, None)
    }

    /// Shows the name of a method until the handle is dropped.
    #[must_use]
    pub fn operation(&self, operation: Operation) -> CellHandle<Operation> {
        self.show(operation, None)
    }

    /// Shows what the call of an object has besides, until the handle is dropped. Calls that are not shown need none.
    #[must_use]
    pub fn object_call(&self, call: ObjectCall) -> CellHandle<ObjectCall> {
        self.show(call, None)
    }

    /// Shows a client call and its target until the handle is dropped. Both have cells, or neither has.
    #[must_use]
    pub fn client_call(&self, origin: CallOrigin, call: ClientCall, target: CallTarget) -> ClientCallHandle {
        let Some(shared) =
            self.0.as_ref().filter(|shared| shared.level.keeps(Kind::CLIENT_CALL, Some(origin)))
        else {
            return ClientCallHandle::new(CellHandle::hidden(call), CellHandle::hidden(target));
        };
        let call_index = shared.claim();
        // Without a cell for the call, none is taken for its target.
        let indexes = call_index.and_then(|call| Some((call, shared.claim()?)));
        if let Some((call_index, target_index)) = indexes {
            let target = CellHandle::shown(target, Arc::clone(shared), target_index);
            let call = ClientCall { target: target.id(), ..call };
            return ClientCallHandle::new(CellHandle::shown(call, Arc::clone(shared), call_index), target);
        }
        call_index.into_iter().for_each(|index| shared.release(index));
        shared.count_hidden();
        ClientCallHandle::new(CellHandle::hidden(call), CellHandle::hidden(target))
    }

    fn show<O: Object>(&self, object: O, origin: Option<CallOrigin>) -> CellHandle<O> {
        let Some(shared) = self.0.as_ref().filter(|shared| shared.level.keeps(O::KIND, origin)) else {
            return CellHandle::hidden(object);
        };
        match shared.claim() {
            Some(index) => CellHandle::shown(object, Arc::clone(shared), index),
            None => {
                shared.count_hidden();
                CellHandle::hidden(object)
            }
        }
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("level", &self.level()).field("hidden", &self.hidden()).finish()
    }
}

impl Shared {
    /// Writes a copy into a cell, whose handle the caller has.
    pub(crate) fn publish(&self, index: usize, copy: &CopyWords) {
        let cell = self.memory.words().get(index * CELL_WORDS..(index + 1) * CELL_WORDS);
        if let Some(latch) = cell.and_then(|cell| Latch::new(cell, COPY_WORDS)) {
            latch.publish(copy);
        }
    }

    /// Frees a cell, whose handle is dropped.
    pub(crate) fn release(&self, index: usize) {
        self.publish(index, &crate::cell::FREE);
        self.occupied.free(index);
    }

    pub(crate) fn id(&self, index: usize) -> CellId {
        self.capacity.id(index)
    }

    fn claim(&self) -> Option<usize> {
        self.occupied.claim(self.cells()).or_else(|| {
            self.grow();
            self.occupied.claim(self.cells())
        })
    }

    fn cells(&self) -> usize {
        usize::from(self.sections.load(Ordering::Acquire)) * usize::from(self.capacity.cells_per_section)
    }

    /// Adds a section if the file may have another. A call does not wait while another call does that.
    fn grow(&self) {
        let Some(_growing) = self.growing.try_lock() else { return };
        let sections = self.sections.load(Ordering::Relaxed);
        // A full disk is not asked at each call.
        let is_due = self.hidden.load(Ordering::Relaxed).is_multiple_of(GROW_EVERY);
        if sections < self.capacity.sections_max && is_due && self.memory.grow(sections + 1) {
            self.add_section(sections);
        }
    }

    /// Frees the cells of a section, but for its first.
    fn add_section(&self, section: u16) {
        for cell in 1..self.capacity.cells_per_section {
            self.occupied.free(self.capacity.index(CellId { section, cell }));
        }
        self.sections.store(section + 1, Ordering::Release);
        self.tell(SECTIONS_WORD, u64::from(section) + 1);
    }

    fn count_hidden(&self) {
        let hidden = self.hidden.fetch_add(1, Ordering::Relaxed) + 1;
        self.tell(HIDDEN_WORD, hidden);
    }

    fn tell(&self, word: usize, value: u64) {
        if let Some(word) = self.memory.words().get(word) {
            word.store(value, Ordering::Release);
        }
    }
}

/// After a section could not be added, this many objects are not shown until that is tried again.
const GROW_EVERY: u64 = 1024;

/// Which cells are given out: a bit for each. It is private memory, so that nobody else can give a cell out twice.
#[derive(Debug)]
struct Occupied {
    words: Box<[AtomicU64]>,
    /// The word to look at first. Only a guess.
    hint: AtomicUsize,
}

impl Occupied {
    /// All cells are given out until they are [freed](Self::free).
    fn new(cells: usize) -> Self {
        let words = (0..cells.div_ceil(BITS)).map(|_| AtomicU64::new(u64::MAX)).collect();
        Self { words, hint: AtomicUsize::new(0) }
    }

    /// Gives out a free cell among the first `cells`.
    fn claim(&self, cells: usize) -> Option<usize> {
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
    fn free(&self, cell: usize) {
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
