//! Locks whose poison does not count.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic while a lock was held is told elsewhere; the maps behind our locks are whole at any time.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
