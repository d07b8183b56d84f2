//! Files that are mapped into memory, and what keeps a process alive if somebody cuts one short.

mod file;
mod sigbus;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

pub(crate) use self::file::CreateError;
pub use self::file::MappedFile;
pub use self::sigbus::SigbusGuard;

use super::error::Error;

/// Addresses of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    begin: usize,
    bytes: usize,
}

/// A range in the table. The signal handler reads the table, so it has no lock for readers.
struct Slot {
    begin: AtomicUsize,
    /// Zero is a free slot. A mapping ends after its registration, so that a handler which finds the slot may write to
    /// the range.
    bytes: AtomicUsize,
    pages_lost: AtomicU64,
}

static SLOTS: [Slot; FILES_MAX] = [const {
    Slot { begin: AtomicUsize::new(0), bytes: AtomicUsize::new(0), pages_lost: AtomicU64::new(0) }
}; FILES_MAX];
/// Held by who changes which slots are free.
static CHANGING: Mutex<()> = Mutex::new(());

/// One for the process and one for each instance of a plugin, up to this many.
const FILES_MAX: usize = 4096;

/// A range in the table, until it [ends](Self::end).
#[derive(Debug)]
struct Registration(usize);

impl Registration {
    fn new(range: Range) -> Result<Self, Error> {
        let _changing = CHANGING.lock();
        let is_free = |slot: &Slot| slot.bytes.load(Ordering::Relaxed) == 0;
        let index = SLOTS.iter().position(is_free).ok_or(Error::TooManyFiles { files_max: FILES_MAX })?;
        let slot = &SLOTS[index];
        slot.pages_lost.store(0, Ordering::Relaxed);
        slot.begin.store(range.begin, Ordering::Relaxed);
        slot.bytes.store(range.bytes, Ordering::Release);
        Ok(Self(index))
    }

    fn pages_lost(&self) -> u64 {
        SLOTS[self.0].pages_lost.load(Ordering::Relaxed)
    }

    fn end(&self) {
        let _changing = CHANGING.lock();
        SLOTS[self.0].bytes.store(0, Ordering::Release);
    }
}

/// Whether an address is in a registered range; counts a lost page if so. Safe in a signal handler: it only loads and
/// adds.
fn count_lost_page_at(address: usize) -> bool {
    SLOTS.iter().any(|slot| {
        let bytes = slot.bytes.load(Ordering::Acquire);
        let is_inside = address.wrapping_sub(slot.begin.load(Ordering::Relaxed)) < bytes;
        if is_inside {
            slot.pages_lost.fetch_add(1, Ordering::Relaxed);
        }
        is_inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_ranges_that_live_are_found() {
        let range = Range { begin: 0x10_0000, bytes: 0x2000 };
        let registration = Registration::new(range).expect("there is room");
        for (address, is_inside) in
            [(0xf_ffff, false), (0x10_0000, true), (0x10_1fff, true), (0x10_2000, false), (0, false)]
        {
            assert_eq!(count_lost_page_at(address), is_inside, "{address:#x}");
        }
        assert_eq!(registration.pages_lost(), 2);
        registration.end();
        assert!(!count_lost_page_at(0x10_0000));
    }
}
