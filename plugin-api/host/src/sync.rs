//! Locks that ignore poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic of the sink while a lock was held is caught at the boundary; the data behind our locks is always
/// consistent.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
