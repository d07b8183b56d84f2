//! The shared state of all plugin instances of one target.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::limits::Refusal;
use super::{Catalog, Limits, Profile};
use crate::model::{Escaping, Labels, Target};

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
    /// A target without series, its names by the native profile.
    #[must_use]
    pub fn new(catalog: Arc<Catalog>, target: Target, limits: Limits) -> Arc<Self> {
        Self::with_profile(catalog, target, limits, Profile::default())
    }

    /// The same with names by another profile.
    #[must_use]
    pub fn with_profile(
        catalog: Arc<Catalog>,
        target: Target,
        limits: Limits,
        profile: Profile,
    ) -> Arc<Self> {
        Arc::new(Self {
            catalog,
            target: Arc::new(target),
            limits,
            profile,
            keys: RandomState::new(),
            series: Mutex::default(),
        })
    }

    #[must_use]
    pub fn target(&self) -> &Arc<Target> {
        &self.target
    }

    /// How many series are registered, over all instances, as Prometheus counts them: see [`crate::model::Family::samples`].
    #[must_use]
    pub fn series(&self) -> usize {
        self.guard().series.live
    }

    /// The set of series, for as long as one call takes.
    pub(super) fn guard(&self) -> SeriesGuard<'_> {
        SeriesGuard {
            series: self.series.lock(),
            keys: &self.keys,
            series_max: self.limits.series_max,
            utf8: self.profile.is_utf8(),
        }
    }
}

/// Each series by the hash of its rendered prefix; where names may be any UTF-8, by those of all the ways in which a
/// reader may get it. A hash has 64 bits and a secret key, so that two series of one target share one with a chance
/// of about 10⁻⁸ at a million series; the later one would be refused.
#[derive(Debug, Default)]
struct SeriesSet {
    hashes: HashSet<u64, BuildHasherDefault<HashedAlready>>,
    live: usize,
}

pub(super) struct SeriesGuard<'a> {
    series: MutexGuard<'a, SeriesSet>,
    keys: &'a RandomState,
    series_max: usize,
    utf8: bool,
}

impl SeriesGuard<'_> {
    /// Takes a series in that counts as so many.
    pub(super) fn admit(&mut self, prefix: &[u8], samples: usize) -> Result<(), Refusal> {
        let (hashes, count) = self.hashes(prefix);
        let hashes = &hashes[..count];
        if hashes.iter().any(|hash| self.series.hashes.contains(hash)) {
            Err(Refusal::DuplicateSeries)
        } else if self.series.live.saturating_add(samples) > self.series_max {
            Err(Refusal::SeriesLimit)
        } else {
            self.series.hashes.extend(hashes);
            self.series.live += samples;
            Ok(())
        }
    }

    /// Lets a series go that was taken in.
    pub(super) fn remove(&mut self, prefix: &[u8], samples: usize) {
        let (hashes, count) = self.hashes(prefix);
        for hash in &hashes[..count] {
            self.series.hashes.remove(hash);
        }
        self.series.live = self.series.live.saturating_sub(samples);
    }

    /// The hashes of a prefix: so many of these.
    fn hashes(&self, prefix: &[u8]) -> ([u64; SCHEMES.len()], usize) {
        if !self.utf8 {
            return ([self.keys.hash_one(prefix); SCHEMES.len()], 1);
        }
        let prefix = std::str::from_utf8(prefix).unwrap_or_default();
        let name = sample_name(prefix);
        let hashes = SCHEMES.map(|escaping| {
            let mut labels: Vec<_> =
                Labels::of_prefix(prefix).map(|(name, value)| (escaping.label_name(name), value)).collect();
            labels.sort_unstable();
            self.keys.hash_one((escaping.metric_name(name), labels))
        });
        (hashes, SCHEMES.len())
    }
}

/// The name in `name{…} `, `name ` or `{"name",…} `.
fn sample_name(prefix: &str) -> &str {
    match prefix.strip_prefix("{\"") {
        Some(quoted) => quoted.split_once('"').map_or("", |(name, _)| name),
        None => prefix.split(['{', ' ']).next().unwrap_or_default(),
    }
}

/// The schemes under which two series may become one; as they are, they differ.
const SCHEMES: [Escaping; 3] = [Escaping::Underscores, Escaping::Dots, Escaping::Values];

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
