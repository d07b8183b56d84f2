//! What did not work in earlier collections: applications whose components the host does not tell in time, and containers of
//! which it sent none.
//!
//! A call that gets no answer takes the connection with it, so each call for components has a part of a collection's time. An
//! application that lets it pass is not asked about again for a while, and the others are read over another connection.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plugin_session::Pause;
use wire::Guid;

/// The applications that did not answer, and the containers that were refused.
#[derive(Debug, Default)]
pub(crate) struct Stalls {
    /// Until each is asked about again. INVARIANT: at most [`STALLED_MAX`].
    stalled: BTreeMap<Guid, Pause>,
    /// When the collection began that is under way.
    now: Duration,
    /// How many did not answer in this collection.
    met: u32,
    /// Whether the host answered about any application in this collection.
    is_answering: bool,
    /// Until the host is asked about components again, if it answered about none.
    silent: Pause,
    /// Containers whose calls failed in the last collection, and in this one.
    failed_before: BTreeSet<u32>,
    failed: BTreeSet<u32>,
}

/// Applications that are remembered.
const STALLED_MAX: usize = 64;
/// Applications that may let their time pass in one collection: each takes a part of it, and a logon.
const MET_MAX: u32 = 3;

impl Stalls {
    pub(crate) fn begin(&mut self, now: Duration) {
        self.now = now;
        self.met = 0;
        self.is_answering = false;
        self.failed_before = std::mem::take(&mut self.failed);
    }

    /// The next collection asks about all: somebody may have removed the cause.
    pub(crate) fn forget(&mut self) {
        self.stalled.clear();
        self.silent = Pause::default();
    }

    /// Forgets applications that have ended.
    pub(crate) fn retain(&mut self, is_there: impl Fn(Guid) -> bool) {
        self.stalled.retain(|application, _| is_there(*application));
    }

    /// The host failed the call for a container. Returns whether it did so in the last collection, too: one that is listed twice
    /// has not ended.
    pub(crate) fn fail(&mut self, container: u32) -> bool {
        self.failed.insert(container);
        self.failed_before.contains(&container)
    }

    /// Whether an application is not asked about now.
    pub(crate) fn has(&self, application: Guid) -> bool {
        let is_paused = |pause: &Pause| !pause.is_over(self.now);
        is_paused(&self.silent) || self.stalled.get(&application).is_some_and(is_paused)
    }

    /// The host answered about an application.
    pub(crate) fn answered(&mut self) {
        self.is_answering = true;
        self.silent = Pause::default();
    }

    /// All of an application was asked about, and nothing stalled.
    pub(crate) fn remove(&mut self, application: Guid) {
        self.stalled.remove(&application);
    }

    /// An application did not answer. Returns whether others are asked about over another connection, which is two logons.
    pub(crate) fn add(&mut self, application: Guid) -> bool {
        self.met += 1;
        if self.met >= SILENT_MIN && !self.is_answering {
            self.silent.extend(self.now, Pause::NEVER_THERE);
            return false;
        }
        if self.stalled.len() < STALLED_MAX || self.stalled.contains_key(&application) {
            self.stalled.entry(application).or_default().extend(self.now, Pause::NEVER_THERE);
        }
        self.has(application) && self.met <= MET_MAX
    }
}

/// Applications that let their time pass, and none that answers, before the host counts as one that answers about none.
const SILENT_MIN: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(second: u64, stalls: &mut Stalls) {
        stalls.begin(Duration::from_secs(second));
    }

    #[test]
    fn an_application_is_asked_about_again_ever_more_rarely_until_it_answers() {
        let (mut stalls, application, mut asked) = (Stalls::default(), Guid::from_u128(1), Vec::new());
        for second in 0..300 {
            begun(second, &mut stalls);
            if !stalls.has(application) {
                asked.push(second);
                assert!(stalls.add(application) && stalls.has(application));
            }
        }
        assert_eq!(asked, [0, 60, 120, 180, 270]);
        begun(500, &mut stalls);
        stalls.remove(application);
        stalls.add(application);
        begun(559, &mut stalls);
        assert!(stalls.has(application));
        begun(560, &mut stalls);
        assert!(!stalls.has(application), "the pauses begin again");
    }

    #[test]
    fn a_collection_goes_on_after_few_of_them_and_those_that_ended_are_forgotten() {
        let mut stalls = Stalls::default();
        for collection in 0..40 {
            begun(15 * u64::try_from(collection).unwrap(), &mut stalls);
            stalls.answered();
            let goes_on = (0..4).map(|number| stalls.add(Guid::from_u128(collection * 4 + number)));
            let goes_on: Vec<bool> = goes_on.collect();
            assert!(!goes_on[3]);
            assert!(stalls.stalled.len() <= STALLED_MAX);
        }
        stalls.retain(|application| application == Guid::from_u128(3));
        assert_eq!(stalls.stalled.len(), 1);
    }

    #[test]
    fn a_host_that_answers_about_no_application_is_left_alone_as_a_whole() {
        let mut stalls = Stalls::default();
        begun(0, &mut stalls);
        assert_eq!([1, 2].map(|number| stalls.add(Guid::from_u128(number))), [true, false]);
        begun(59, &mut stalls);
        assert!(stalls.has(Guid::from_u128(77)));
        begun(60, &mut stalls);
        assert!(!stalls.has(Guid::from_u128(77)));
        stalls.add(Guid::from_u128(1));
        stalls.forget();
        assert!(!stalls.has(Guid::from_u128(1)));
    }
}
