//! Locks whose poison does not count.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A panic of the sink while a lock was held is caught at the border; what our locks protect is whole at any time.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
