//! What the plugin instances of one target share.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::limits::Refusal;
use super::{Catalog, Limits, Profile, Store, StoreObserver};
use crate::model::Target;

/// One target: its identity, its limits, and which series it has over all its plugin instances.
///
/// A scope lives as long as the target's configuration. When that changes, make a new scope with new stores and
/// let go of the old ones: series of both would be told from each other by nothing.
#[derive(Debug)]
pub struct Scope {
    pub(super) catalog: Arc<Catalog>,
    pub(super) target: Arc<Target>,
    pub(super) limits: Limits,
    pub(super) profile: Profile,
    keys: RandomState,
    series: Mutex<SeriesSet>,
}

impl Scope {
    /// A target without series.
    #[must_use]
    pub fn new(catalog: Arc<Catalog>, target: Target, limits: Limits) -> Arc<Self> {
        Arc::new(Self {
            catalog,
            target: Arc::new(target),
            limits,
            profile: Profile::default(),
            keys: RandomState::new(),
            series: Mutex::default(),
        })
    }

    /// A store for one more plugin instance of this target.
    #[must_use]
    pub fn store(self: &Arc<Self>, observer: Arc<dyn StoreObserver>) -> Arc<Store> {
        Arc::new(Store::new(Arc::clone(self), observer))
    }

    /// The target.
    #[must_use]
    pub fn target(&self) -> &Arc<Target> {
        &self.target
    }

    /// How many series are registered, over all instances.
    #[must_use]
    pub fn series(&self) -> usize {
        self.lock().series.len()
    }

    /// The set of series, for as long as one call takes.
    pub(super) fn lock(&self) -> SeriesGuard<'_> {
        SeriesGuard {
            series: self.series.lock().unwrap_or_else(PoisonError::into_inner),
            keys: &self.keys,
            series_max: self.limits.series_max,
        }
    }
}

/// Each series by the hash of its rendered prefix. The hash has 64 bits and a secret key, so that two series of
/// one target share one with a chance of about 10⁻⁸ at a million series; the later one would be refused.
type SeriesSet = HashSet<u64, BuildHasherDefault<HashedAlready>>;

pub(super) struct SeriesGuard<'a> {
    series: MutexGuard<'a, SeriesSet>,
    keys: &'a RandomState,
    series_max: usize,
}

impl SeriesGuard<'_> {
    /// Takes a series in.
    pub(super) fn admit(&mut self, prefix: &[u8]) -> Result<(), Refusal> {
        let hash = self.keys.hash_one(prefix);
        if self.series.len() >= self.series_max && !self.series.contains(&hash) {
            Err(Refusal::SeriesLimit)
        } else if self.series.insert(hash) {
            Ok(())
        } else {
            Err(Refusal::DuplicateSeries)
        }
    }

    /// Lets a series go.
    pub(super) fn remove(&mut self, prefix: &[u8]) {
        self.series.remove(&self.keys.hash_one(prefix));
    }
}

#[derive(Default)]
struct HashedAlready(u64);

impl Hasher for HashedAlready {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
