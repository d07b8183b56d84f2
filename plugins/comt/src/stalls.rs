//! What did not work in earlier collections: applications whose components the host does not tell in time, and containers of
//! which it told none.
//!
//! A call that gets no answer takes the connection with it, so each call for components has a part of a collection's time. An
//! application that lets it pass is not asked about again for a number of collections, and the others are read over another
//! connection.

use std::collections::{BTreeMap, BTreeSet};

use ms_dtyp::Guid;

/// The applications that did not answer, and the containers that were refused.
#[derive(Debug, Default)]
pub(crate) struct Stalls {
    /// The collection from which on each is asked about again. INVARIANT: at most [`STALLED_MAX`].
    again_at: BTreeMap<Guid, u64>,
    collection: u64,
    /// How many did not answer in this collection.
    met: u32,
    /// Whether the host answered about any application in this collection.
    is_answering: bool,
    /// The collection from which on the host is asked about components again, if it answered about none.
    silent_until: u64,
    /// Containers whose calls failed in the last collection, and in this one.
    failed_before: BTreeSet<u32>,
    failed: BTreeSet<u32>,
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
        self.is_answering = false;
        self.failed_before = std::mem::take(&mut self.failed);
        let collection = self.collection;
        self.again_at.retain(|_, again_at| *again_at > collection);
    }

    /// The host failed the call for a container. Returns whether it did so in the last collection, too: one that is listed twice
    /// has not ended.
    pub(crate) fn fail(&mut self, container: u32) -> bool {
        self.failed.insert(container);
        self.failed_before.contains(&container)
    }

    /// Whether an application is not asked about now.
    pub(crate) fn has(&self, application: Guid) -> bool {
        self.collection < self.silent_until || self.again_at.contains_key(&application)
    }

    /// The host answered about an application.
    pub(crate) fn answered(&mut self) {
        self.is_answering = true;
    }

    /// An application did not answer. Returns whether others are asked about over another connection, which is two logons.
    pub(crate) fn add(&mut self, application: Guid) -> bool {
        self.met += 1;
        if self.met >= SILENT_MIN && !self.is_answering {
            self.silent_until = self.collection + COLLECTIONS_BETWEEN;
            return false;
        }
        if self.again_at.len() < STALLED_MAX {
            self.again_at.insert(application, self.collection + COLLECTIONS_BETWEEN);
        }
        self.has(application) && self.met <= MET_MAX
    }
}

/// Applications that let their time pass, and none that answers, before the host counts as one that answers about none.
const SILENT_MIN: u32 = 2;

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
            stalls.answered();
            let goes_on = (0..4).map(|number| stalls.add(Guid::from_u128(collection * 4 + number)));
            let goes_on: Vec<bool> = goes_on.collect();
            assert!(!goes_on[3]);
            assert!(stalls.again_at.len() <= STALLED_MAX);
        }
    }

    #[test]
    fn a_host_that_answers_about_no_application_is_left_alone_as_a_whole() {
        let mut stalls = Stalls::default();
        stalls.begin();
        assert_eq!([1, 2].map(|number| stalls.add(Guid::from_u128(number))), [true, false]);
        for _ in 1..COLLECTIONS_BETWEEN {
            stalls.begin();
            assert!(stalls.has(Guid::from_u128(77)));
        }
        stalls.begin();
        assert!(!stalls.has(Guid::from_u128(77)));
    }
}
