//! Counts by a word.

use std::collections::BTreeMap;

/// How many there are of each status, reason or kind. What is known is counted from 0, so that its series stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tally(BTreeMap<&'static str, u64>);

impl Tally {
    /// Nothing counted yet.
    pub(super) fn new(names: impl IntoIterator<Item = &'static str>) -> Self {
        Self(names.into_iter().map(|name| (name, 0)).collect())
    }

    /// Counts an object. A status without a name was written by another version.
    pub(super) fn add(&mut self, name: Option<&'static str>) {
        self.add_many(name.unwrap_or("OTHER"), 1);
    }

    /// Counts several.
    pub(super) fn add_many(&mut self, name: &'static str, count: u64) {
        *self.0.entry(name).or_default() += count;
    }

    /// All that was counted.
    pub(super) fn sum(&self) -> u64 {
        self.0.values().sum()
    }

    /// Each as a label's value, and its number.
    pub(super) fn rows(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.0.iter().map(|(name, count)| (name.to_ascii_lowercase(), *count))
    }
}
