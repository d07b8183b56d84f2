//! Parts of sets, each of which is shared by all objects that clients have of it, so that what is set by one of them is seen by
//! all, and by the set when it is stored.

use std::sync::Arc;

use parking_lot::Mutex;

/// A part that several objects may be of.
pub(super) type Shared<T> = Arc<Mutex<T>>;

/// The parts of a collection.
pub(super) type List<T> = Shared<Vec<Shared<T>>>;

pub(super) fn shared<T>(part: T) -> Shared<T> {
    Arc::new(Mutex::new(part))
}

pub(super) fn list<T>(parts: impl IntoIterator<Item = T>) -> List<T> {
    shared(parts.into_iter().map(shared).collect())
}

/// What is now in a collection.
pub(super) fn parts<T>(list: &List<T>) -> Vec<Shared<T>> {
    list.lock().clone()
}

pub(super) fn replace<T>(list: &List<T>, parts: impl IntoIterator<Item = T>) {
    *list.lock() = parts.into_iter().map(shared).collect();
}

/// Copies of what is now in a collection, made of one part after the other.
pub(super) fn records<T, R>(list: &List<T>, record: impl Fn(&T) -> R) -> Vec<R> {
    parts(list).iter().map(|part| record(&part.lock())).collect()
}
