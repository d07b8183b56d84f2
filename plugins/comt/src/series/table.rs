//! The series of things of one kind, which come and go.

use std::collections::HashMap;
use std::hash::Hash;

use plugin_sdk::{FamilyDef, FamilyId, Output, SeriesDef, SeriesId};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Figure {
    /// Of a family of integers.
    Count(u64),
    /// Of a family of seconds.
    Seconds(f64),
}

/// What a row is about.
pub(super) trait Key: Clone + Eq + Hash {
    /// The labels of its series.
    fn labels(&self) -> Vec<(&'static str, String)>;
}

/// What is done with all tables alike.
pub(super) trait AnyTable {
    fn begin(&mut self);

    /// Ends the series of rows that were not there in this collection.
    fn end(&mut self, output: &mut Output);

    /// The families that were accepted.
    fn families(&self) -> Vec<FamilyId>;
}

/// `N` families, and a series of each for everything with a key.
#[derive(Debug)]
pub(super) struct Table<K, const N: usize> {
    declared: &'static [FamilyDef<'static>; N],
    /// Empty before there is a figure; `None` for those that the exporter dropped.
    families: Vec<Option<FamilyId>>,
    rows: HashMap<K, Row<N>>,
    collection: u64,
}

#[derive(Debug)]
struct Row<const N: usize> {
    slots: [Slot; N],
    /// In which collection it was there last.
    seen: u64,
}

/// A series of a row.
#[derive(Clone, Copy, Debug, Default)]
enum Slot {
    #[default]
    Unregistered,
    Dropped,
    Live(SeriesId),
}

impl<K: Key, const N: usize> Table<K, N> {
    pub(super) fn new(declared: &'static [FamilyDef<'static>; N]) -> Self {
        Self { declared, families: Vec::new(), rows: HashMap::new(), collection: 0 }
    }

    /// Sends the figures of a row; those that are `None` have no series.
    pub(super) fn push(&mut self, key: &K, figures: [Option<Figure>; N], output: &mut Output) {
        let Self { declared, families, rows, collection } = self;
        if families.is_empty() {
            *families = output.register_families(*declared);
        }
        let row = match rows.get_mut(key) {
            Some(row) => row,
            None => {
                rows.entry(key.clone()).or_insert_with(|| Row { slots: [Slot::Unregistered; N], seen: 0 })
            }
        };
        row.seen = *collection;
        let is_new =
            |(slot, figure): (&Slot, &Option<Figure>)| matches!(slot, Slot::Unregistered) && figure.is_some();
        if row.slots.iter().zip(&figures).any(is_new) {
            let labels = key.labels();
            let labels: Vec<(&str, &str)> = labels.iter().map(|(name, value)| (*name, &**value)).collect();
            row.register(families, &figures, &labels, output);
        }
        for (slot, figure) in row.slots.iter_mut().zip(figures) {
            match (*slot, figure) {
                (Slot::Live(id), Some(Figure::Count(value))) => output.push_u64(id, value),
                (Slot::Live(id), Some(Figure::Seconds(value))) => output.push_f64(id, value),
                (Slot::Live(id), None) => {
                    output.retire(&[id]);
                    *slot = Slot::Unregistered;
                }
                (Slot::Unregistered | Slot::Dropped, _) => {}
            }
        }
    }
}

impl<K: Key, const N: usize> Table<K, N> {
    /// Rows that were there in the last collection, and of which nobody knows in this one, are not ended.
    pub(super) fn keep(&mut self, is_it: impl Fn(&K) -> bool) {
        let collection = self.collection;
        let kept = self.rows.iter_mut().filter(|(key, _)| is_it(key));
        kept.for_each(|(_, row)| row.seen = collection);
    }
}

impl<K: Key, const N: usize> AnyTable for Table<K, N> {
    fn begin(&mut self) {
        self.collection += 1;
    }

    fn end(&mut self, output: &mut Output) {
        let collection = self.collection;
        let gone = self.rows.extract_if(|_, row| row.seen != collection);
        let ids: Vec<SeriesId> = gone.flat_map(|(_, row)| row.slots).filter_map(Slot::id).collect();
        output.retire(&ids);
    }

    fn families(&self) -> Vec<FamilyId> {
        self.families.iter().copied().flatten().collect()
    }
}

impl<const N: usize> Row<N> {
    fn register(
        &mut self,
        families: &[Option<FamilyId>],
        figures: &[Option<Figure>; N],
        labels: &[(&str, &str)],
        output: &mut Output,
    ) {
        let mut places = Vec::with_capacity(N);
        let mut offered = Vec::with_capacity(N);
        for (place, (slot, figure)) in self.slots.iter_mut().zip(figures).enumerate() {
            match (*slot, figure, families.get(place).copied().flatten()) {
                (Slot::Unregistered, Some(_), Some(family)) => {
                    places.push(place);
                    offered.push(SeriesDef { family, labels, start: None });
                }
                (Slot::Unregistered, Some(_), None) => *slot = Slot::Dropped,
                _ => {}
            }
        }
        for (place, id) in places.into_iter().zip(output.register_series(&offered)) {
            self.slots[place] = id.map_or(Slot::Dropped, Slot::Live);
        }
    }
}

impl Slot {
    const fn id(self) -> Option<SeriesId> {
        match self {
            Self::Live(id) => Some(id),
            Self::Unregistered | Self::Dropped => None,
        }
    }
}
