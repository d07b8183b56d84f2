//! Applications whose components the host does not tell in time.
//!
//! A call that gets no answer takes the connection with it, so each call for components has a part of a collection's time. An
//! application that lets it pass is not asked about again for a number of collections, and the others are read over another
//! connection.

use std::collections::BTreeMap;

use ms_dtyp::Guid;

/// The applications that did not answer.
#[derive(Debug, Default)]
pub(crate) struct Stalls {
    /// The collection from which on each is asked about again. INVARIANT: at most [`STALLED_MAX`].
    again_at: BTreeMap<Guid, u64>,
    collection: u64,
    /// How many did not answer in this collection.
    met: u32,
}

/// Applications that are remembered.
const STALLED_MAX: usize = 64;
/// Collections until an application is asked about again.
pub(crate) const COLLECTIONS_BETWEEN: u64 = 20;
/// Applications that may let their time pass in one collection: each takes a part of it, and a logon.
const MET_MAX: u32 = 3;

impl Stalls {
    /// Another collection begins.
    pub(crate) fn begin(&mut self) {
        self.collection += 1;
        self.met = 0;
        let collection = self.collection;
        self.again_at.retain(|_, again_at| *again_at > collection);
    }

    /// Whether an application is not asked about now.
    pub(crate) fn has(&self, application: Guid) -> bool {
        self.again_at.contains_key(&application)
    }

    /// An application did not answer. Returns whether the collection goes on without it.
    pub(crate) fn add(&mut self, application: Guid) -> bool {
        self.met += 1;
        if self.again_at.len() < STALLED_MAX {
            self.again_at.insert(application, self.collection + COLLECTIONS_BETWEEN);
        }
        self.has(application) && self.met <= MET_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_is_asked_about_again_after_some_collections() {
        let (mut stalls, application) = (Stalls::default(), Guid::from_u128(1));
        stalls.begin();
        assert!(stalls.add(application) && stalls.has(application));
        for _ in 1..COLLECTIONS_BETWEEN {
            stalls.begin();
            assert!(stalls.has(application));
        }
        stalls.begin();
        assert!(!stalls.has(application));
    }

    #[test]
    fn a_collection_goes_on_after_few_of_them() {
        let mut stalls = Stalls::default();
        for collection in 0..40 {
            stalls.begin();
            let goes_on = (0..4).map(|number| stalls.add(Guid::from_u128(collection * 4 + number)));
            let goes_on: Vec<bool> = goes_on.collect();
            assert!(!goes_on[3]);
            assert!(stalls.again_at.len() <= STALLED_MAX);
        }
    }
}
