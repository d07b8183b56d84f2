//! A map that does not keep its values alive.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, LazyLock, Weak};

use parking_lot::Mutex;

/// Values that several parts of a process share by a key, for a `static`. Each lives as long as somebody has it.
#[derive(Debug)]
pub struct WeakMap<K, T>(LazyLock<Mutex<HashMap<K, Weak<T>>>>);

impl<K, T> Default for WeakMap<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, T> WeakMap<K, T> {
    #[must_use]
    pub const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }
}

impl<K: Eq + Hash, T> WeakMap<K, T> {
    /// The value of a key. If nobody has one, it is made, while the map is locked.
    pub fn get_or_insert_with(&self, key: K, make: impl FnOnce() -> T) -> Arc<T> {
        // A panic of `make` leaves the map as it was.
        let mut known = self.0.lock();
        if let Some(one) = known.get(&key).and_then(Weak::upgrade) {
            return one;
        }
        known.retain(|_, one| one.strong_count() > 0);
        let one = Arc::new(make());
        known.insert(key, Arc::downgrade(&one));
        one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_one_value_as_long_as_somebody_has_it() {
        static NUMBERS: WeakMap<&str, u32> = WeakMap::new();
        let first = NUMBERS.get_or_insert_with("web1", || 1);
        assert_eq!(
            (*NUMBERS.get_or_insert_with("web1", || 2), *NUMBERS.get_or_insert_with("web2", || 3)),
            (1, 3)
        );
        drop(first);
        assert_eq!(*NUMBERS.get_or_insert_with("web1", || 4), 4);
    }
}
