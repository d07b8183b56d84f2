//! What instances of this library have in common: two modules of a target, a target that is made anew while the old one ends.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

/// Things by their names, each as long as somebody has it.
#[derive(Debug)]
pub(super) struct Shared<K, T>(LazyLock<Mutex<HashMap<K, Weak<T>>>>);

impl<K: Eq + Hash, T> Shared<K, T> {
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// The one of this name, which is made if nobody has it.
    pub(super) fn get(&self, name: K, make: impl FnOnce() -> T) -> Arc<T> {
        // What is in the map is right whoever has panicked.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = known.get(&name).and_then(Weak::upgrade) {
            return one;
        }
        known.retain(|_, one| one.strong_count() > 0);
        let one = Arc::new(make());
        known.insert(name, Arc::downgrade(&one));
        one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_one_thing_as_long_as_somebody_has_it() {
        static NUMBERS: Shared<&str, u32> = Shared::new();
        let first = NUMBERS.get("web1", || 1);
        assert_eq!((*NUMBERS.get("web1", || 2), *NUMBERS.get("web2", || 3)), (1, 3));
        drop(first);
        assert_eq!(*NUMBERS.get("web1", || 4), 4);
    }
}
