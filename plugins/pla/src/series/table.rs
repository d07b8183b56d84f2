//! Series that are told apart by a set and further labels.

use std::collections::HashMap;

use plugin_sdk::{FamilyId, Output, SeriesId};

use super::{Labels, register};

/// The series that are there. A sample of the same series as the one before allocates nothing.
#[derive(Debug, Default)]
pub(super) struct SeriesTable {
    /// In the order in which they are shown. No id for those that the exporter dropped.
    series: Vec<(Key<String>, Option<SeriesId>)>,
    /// By series, the value of this sample.
    values: Vec<f64>,
}

/// What a series is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key<S> {
    /// The index of its family.
    family: usize,
    set: S,
    /// Names and values of further labels.
    labels: [Option<(&'static str, S)>; 2],
}

/// Takes a series with its value.
pub(super) type Take<'t, 'a> = &'t mut dyn FnMut(Key<&'a str>, f64);

impl SeriesTable {
    /// Sends the values of all series that `show` passes on. It is called again when they are others than before, and has to pass
    /// the same ones then.
    pub(super) fn send<'a>(
        &mut self,
        families: &[Option<FamilyId>],
        show: impl Fn(Take<'_, 'a>),
        output: &mut Output,
    ) {
        let Self { series, values } = self;
        values.clear();
        let mut are_same = true;
        show(&mut |key, value| {
            are_same &= series.get(values.len()).is_some_and(|(known, _)| known.borrowed() == key);
            values.push(value);
        });
        if !are_same || series.len() != values.len() {
            self.register(families, show, output);
        }
        for ((_, id), value) in self.series.iter().zip(&self.values) {
            if let Some(id) = id {
                output.push_f64(*id, *value);
            }
        }
    }

    /// Ends the series that are gone, and registers those that are new.
    fn register<'a>(
        &mut self,
        families: &[Option<FamilyId>],
        show: impl Fn(Take<'_, 'a>),
        output: &mut Output,
    ) {
        let mut before: HashMap<Key<String>, Option<SeriesId>> = self.series.drain(..).collect();
        let mut keys = Vec::new();
        show(&mut |key, _| keys.push(key.owned()));
        let known: Vec<Option<Option<SeriesId>>> = keys.iter().map(|key| before.remove(key)).collect();
        let gone: Vec<SeriesId> = before.into_values().flatten().collect();
        output.retire(&gone);
        let new = keys.iter().zip(&known).filter(|(_, known)| known.is_none());
        let new: Vec<(usize, Labels)> = new.map(|(key, _)| (key.family, key.labels())).collect();
        let ids = register(families, new.iter().map(|(family, labels)| (*family, labels)), output);
        let mut ids = ids.into_iter();
        let all = keys.into_iter().zip(known);
        self.series.extend(all.map(|(key, known)| (key, known.or_else(|| ids.next()).flatten())));
    }
}

impl Key<String> {
    fn borrowed(&self) -> Key<&str> {
        let labels =
            self.labels.each_ref().map(|label| label.as_ref().map(|(name, value)| (*name, &**value)));
        Key { family: self.family, set: &self.set, labels }
    }

    fn labels(&self) -> Labels {
        let further = self.labels.iter().flatten().map(|(name, value)| (*name, value.clone()));
        [("set", self.set.clone())].into_iter().chain(further).collect()
    }
}

impl<'a> Key<&'a str> {
    pub(super) const fn of(family: usize, set: &'a str) -> Self {
        Self { family, set, labels: [None; 2] }
    }

    /// With another label: at most two.
    pub(super) fn with(mut self, name: &'static str, value: &'a str) -> Self {
        if let Some(free) = self.labels.iter_mut().find(|label| label.is_none()) {
            *free = Some((name, value));
        }
        self
    }

    fn owned(self) -> Key<String> {
        let labels = self.labels.map(|label| label.map(|(name, value)| (name, value.to_owned())));
        Key { family: self.family, set: self.set.to_owned(), labels }
    }
}
