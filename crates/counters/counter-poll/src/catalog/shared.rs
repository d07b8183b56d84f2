//! Countersets that many hosts have are kept once in the process.
//!
//! Hosts with the same version of Windows register the same countersets, with the same names and explain texts: some
//! 30 KiB for each host.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::{Counterset, Provider};

/// Those that live, by what their hosts know them by and their names. Hosts may mean different things by that.
type Known = HashMap<(Provider, String), Vec<Weak<Counterset>>>;

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

impl Counterset {
    /// The same, kept with others that are the same.
    pub(crate) fn shared(self) -> Arc<Self> {
        let mut known = KNOWN.lock();
        let known = known.get_or_insert_default();
        if known.len() >= known.capacity() {
            known.retain(|_, alike| alike.iter().any(|one| one.strong_count() > 0));
        }
        let alike = known.entry((self.provider, self.name.clone())).or_default();
        alike.retain(|one| one.strong_count() > 0);
        let same = alike.iter().filter_map(Weak::upgrade).find(|one| **one == self);
        same.unwrap_or_else(|| {
            let counterset = Arc::new(self);
            alike.push(Arc::downgrade(&counterset));
            counterset
        })
    }
}

#[cfg(test)]
mod tests {
    use counters::pcq::types::InstanceType;

    use super::*;

    fn counterset(index: u32, is_type_inferred: bool) -> Counterset {
        Counterset {
            provider: Provider::V1(index),
            name: "Shared".to_owned(),
            local_name: None,
            instance_type: InstanceType::SINGLE,
            is_type_inferred,
            counters: Vec::new(),
        }
    }

    #[test]
    fn the_same_counterset_is_kept_once_and_different_ones_apart() {
        let one = counterset(7, false).shared();
        assert!(Arc::ptr_eq(&one, &counterset(7, false).shared()));
        let inferred = counterset(7, true).shared();
        assert!(inferred.is_type_inferred && !one.is_type_inferred);
        assert_eq!(counterset(8, false).shared().provider, Provider::V1(8));
        assert!(Arc::ptr_eq(&inferred, &counterset(7, true).shared()));
    }

    #[test]
    fn what_nobody_has_any_more_is_not_kept() {
        let gone = Arc::downgrade(&counterset(9, false).shared());
        assert!(gone.upgrade().is_none());
    }
}
