//! Tokens and what they stand for.
//!
//! A token holds the number of its library in the upper 16 bits, so that a call with one that is over can still be
//! counted against who made it; the rest is a serial number. INVARIANT: no token is 0, none is given out twice.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, RwLock};

use crate::configure::Report;
use crate::lease::LeaseShared;
use crate::library::LibraryShared;
use crate::run::RunShared;
use crate::shared::InstanceShared;

/// What a token stands for.
#[derive(Clone)]
pub(crate) enum Entry {
    Instance(Arc<InstanceShared>),
    Run(Arc<RunShared>),
    Report(Arc<Report>),
    Lease(Arc<LeaseShared>),
}

static ENTRIES: LazyLock<RwLock<HashMap<u64, Entry>>> = LazyLock::new(RwLock::default);
static LIBRARIES: RwLock<Vec<Option<Arc<LibraryShared>>>> = RwLock::new(Vec::new());
static SERIAL: AtomicU64 = AtomicU64::new(1);
const SERIAL_BITS: u32 = 48;

/// A new token of the library with this number (from 1).
pub(crate) fn new_token(library: u16) -> u64 {
    (u64::from(library) << SERIAL_BITS) | SERIAL.fetch_add(1, Ordering::Relaxed)
}

pub(crate) fn insert(token: u64, entry: Entry) {
    ENTRIES.write().unwrap_or_else(PoisonError::into_inner).insert(token, entry);
}

pub(crate) fn remove(token: u64) -> Option<Entry> {
    ENTRIES.write().unwrap_or_else(PoisonError::into_inner).remove(&token)
}

pub(crate) fn find(token: u64) -> Option<Entry> {
    ENTRIES.read().unwrap_or_else(PoisonError::into_inner).get(&token).cloned()
}

pub(crate) fn instance(token: u64) -> Option<Arc<InstanceShared>> {
    match ENTRIES.read().unwrap_or_else(PoisonError::into_inner).get(&token) {
        Some(Entry::Instance(instance)) => Some(Arc::clone(instance)),
        _ => None,
    }
}

/// Makes a library known under the next number; `make` gets the number. Nothing where it makes none, or where the
/// numbers are used up.
pub(crate) fn add_library(
    make: impl FnOnce(u16) -> Option<Arc<LibraryShared>>,
) -> Option<Arc<LibraryShared>> {
    let number = {
        let mut libraries = LIBRARIES.write().unwrap_or_else(PoisonError::into_inner);
        let number = u16::try_from(libraries.len() + 1).ok()?;
        // The place is taken before the entry runs, which may call the host already.
        libraries.push(None);
        number
    };
    let library = make(number)?;
    let mut libraries = LIBRARIES.write().unwrap_or_else(PoisonError::into_inner);
    libraries[usize::from(number) - 1] = Some(Arc::clone(&library));
    Some(library)
}

/// The library that a token was made for, whether the token is over or not.
pub(crate) fn library_of(token: u64) -> Option<Arc<LibraryShared>> {
    let number = usize::try_from(token >> SERIAL_BITS).ok()?;
    LIBRARIES.read().unwrap_or_else(PoisonError::into_inner).get(number.checked_sub(1)?).cloned().flatten()
}

/// A panic of the sink while a lock was held is caught at the border; what our locks protect is whole at any time.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
